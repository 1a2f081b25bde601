import { FolderInput } from 'lucide-react';
import type { ReactNode } from 'react';
import { Button, Empty, type Icon } from '../parts';
import { go, useProject } from '../state';

/** A button to the chain, or to the sessions if the project has no commits. */
export function ToCommit({ children }: { children?: ReactNode }) {
  const none = useProject(({ state }) => state.phase === 'open' && state.info.counts.commits === 0);
  return none ? (
    <Button look="primary" icon={FolderInput} onClick={() => go({ view: 'sessions' })}>
      Import a history
    </Button>
  ) : (
    <Button look="primary" onClick={() => go({ view: 'chain' })}>
      {children ?? 'Select a commit in the chain'}
    </Button>
  );
}

/** The empty state of a view of a commit. Shown after a moment, because the newest commit is usually about to be selected. */
export function NoCommit({ title, icon: Glyph, children }: { title: string; icon: Icon; children: ReactNode }) {
  return (
    <div className="no-commit">
      <Empty title={title} picture={Glyph} actions={<ToCommit />}>
        {children}
      </Empty>
    </div>
  );
}
