import { FolderInput } from 'lucide-react';
import type { ReactNode } from 'react';
import { Button, Empty, type Icon } from '../parts';
import { go, useProject } from '../state';

/** The way to a commit: the chain, or, where the project has none yet, the library. */
export function ToCommit({ children }: { children?: ReactNode }) {
  const none = useProject(({ state }) => state.phase === 'open' && state.info.counts.commits === 0);
  return none ? (
    <Button look="primary" icon={FolderInput} onClick={() => go({ view: 'library' })}>
      Import a history
    </Button>
  ) : (
    <Button look="primary" onClick={() => go({ view: 'chain' })}>
      {children ?? 'Choose a commit in the chain'}
    </Button>
  );
}

/** What a view of a commit shows while none is chosen. It waits a moment: where the project has commits, the newest is on its way. */
export function NoCommit({ title, icon: Glyph, children }: { title: string; icon: Icon; children: ReactNode }) {
  return (
    <div className="no-commit">
      <Empty title={title} picture={<Glyph size={48} strokeWidth={1} />} actions={<ToCommit />}>
        {children}
      </Empty>
    </div>
  );
}
