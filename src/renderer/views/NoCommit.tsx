import { FolderInput } from 'lucide-react';
import type { ComponentProps, ReactNode } from 'react';
import { Answer, Button, Empty, type Icon } from '../parts';
import { go, useProject } from '../state';

/** A button to the chain, or to the sessions if the project has no commits. */
export function ToCommit({ children }: { children?: ReactNode }) {
  const none = useProject(({ state }) => state.phase === 'open' && state.info.counts.commits === 0);
  return none ? (
    <Button look="primary" icon={FolderInput} label="Import a history" onClick={() => go({ view: 'sessions' })} />
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

/** The result of a query about a commit. After a failure, another commit can be selected. */
export const CommitAnswer = <T,>(props: Omit<ComponentProps<typeof Answer<T>>, 'stillWorks'>) => (
  <Answer<T> stillWorks="The chain and other commits still work." actions={<ToCommit />} lines={14} {...props} />
);
