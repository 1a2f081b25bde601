import { type ContextId, orUndefined } from '../base/index.js';
import type { WriteChain } from '../chain/index.js';
import { GivenBack, noteTip } from './jobs.js';
import type { Performing } from './parts.js';
import type { OwnWork, Start, WorkEnd, WorkOutcome } from './work-kind.js';

/** Work that was started, with its newest commit. `moved` stores a newer one, in the transaction that makes it. */
export interface StartedWork extends Start {
  tip(): ContextId;
  moved(commit: ContextId): void;
}

/**
 * Carries out work in the name of an agent, and ends it with what `perform` returns. Failed and stopped work is ended too, so that its chain is
 * complete; work that ended elsewhere stays as it is. @throws the error that ended it
 */
export async function workAs(
  chain: WriteChain,
  { jobId, diary, signal }: Performing,
  own: OwnWork | undefined,
  perform: (started: StartedWork) => Promise<Pick<WorkEnd, 'text' | 'pauses'>>,
  failedAs: (error: unknown) => WorkEnd['status'] = () => (signal.aborted ? 'canceled' : 'failed'),
): Promise<WorkOutcome> {
  const start = own?.start();
  if (!(own && start)) {
    diary.tell({ kind: 'notice', text: 'Nothing is left to do: this work has ended meanwhile.' });
    return 'success';
  }
  let tip = start.from;
  const moved = (commit: ContextId): void => {
    tip = commit;
    noteTip(chain, jobId, commit);
    start.moved?.(commit);
    diary.made(commit);
  };
  try {
    const done = await perform({ ...start, tip: () => tip, moved });
    own.end({ ...done, status: 'completed', tip });
    return 'success';
  } catch (error) {
    const status = failedAs(error);
    if (!(diary.isClosed() || error instanceof GivenBack)) orUndefined(() => own.end({ status, text: '', tip, pauses: false }));
    throw error;
  }
}
