import { Split } from 'lucide-react';
import { useState } from 'react';
import type { ContextId } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Answer, Empty } from '../../parts';
import { go, startWhatIf, useProjectQuery, useWhatIfs } from '../../state';
import type { ReplySource } from './providers';
import { WhatIfForm } from './WhatIfForm';
import { WhatIfRun } from './WhatIfRun';

interface WhatIfProps {
  readonly project: string;
  /** The tip of the branch that the new turns are appended to. */
  readonly id: ContextId;
  readonly model: string | null;
  readonly providers: readonly ReplySource[];
}

/** What if: sends the prompts of the original's later turns on this branch, one by one. */
export function WhatIf({ project, id, model, providers }: WhatIfProps) {
  const [original, setOriginal] = useState<ContextId>();
  const query = useProjectQuery('', `${project} ${id} ${original} following`, (signal) =>
    api.turn.following({ id, ...(original && { original }) }, { signal }),
  );
  const jobs = useWhatIfs(({ jobs: all }) => all).filter((job) => job.project === project && job.branch === id);
  return (
    <div className="run-body rest">
      <Answer
        query={query}
        what="Cannot load the later turns"
        loading="Loading the later turns"
        stillWorks="You can still run this turn again."
        lines={8}
      >
        {(following) =>
          following.original === null ? (
            <Empty
              title="No original to follow"
              picture={Split}
              acts={[{ name: 'Select a fork in the chain', look: 'primary', act: () => go({ view: 'chain' }) }]}
            >
              The later turns of the original appear here when the selected branch is a fork. Fork an earlier turn to send its later prompts again.
            </Empty>
          ) : (
            <WhatIfForm
              following={following}
              original={following.original}
              defaultModel={model}
              providers={providers}
              isRunning={jobs.some((job) => job.state === 'running')}
              onOriginal={setOriginal}
              onRun={(input) => void startWhatIf(project, id, { ...input, id })}
            />
          )
        }
      </Answer>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keys */}
      <div className="run-replies" tabIndex={0} role="log" aria-label="Replies">
        {jobs.length === 0 ? (
          <p className="muted reply-hint">
            New turns appear here and become commits on this branch. A run stops where a reply differs from the original; you can continue from there.
          </p>
        ) : (
          jobs.toReversed().map((job) => <WhatIfRun key={job.id} job={job} isLast={job === jobs[0]} />)
        )}
      </div>
    </div>
  );
}
