import type { OutputOf } from '../../core/contract/index.js';
import type { ContractClient } from '../launch/index.js';
import { endProgress, isWatched, line, say, showProgress } from '../terminal/index.js';
import { connectThread } from './client.js';

const lookMs = 300;

/** Converts a project of an earlier format on another thread, where `open` opens it, and says so on standard error. */
export async function convertFirst(open: (client: ContractClient) => Promise<unknown>, dir: string): Promise<void> {
  const begun = line`Converting ${dir} from an earlier format. A copy of it stays until the first check.`;
  if (isWatched()) showProgress(begun);
  else say(begun);
  const { conversionOf } = await import('../../core/project/index.js');
  const timer = setInterval(() => {
    const step = conversionOf(dir);
    if (step) showProgress(describeStep(step));
  }, lookMs);
  const thread = await connectThread();
  try {
    await open(thread.client);
  } finally {
    clearInterval(timer);
    endProgress();
    await thread.close();
  }
}

const describeStep = ({ from, to, isCopied, copied, bytes }: NonNullable<OutputOf<'project.conversion'>>) =>
  isCopied
    ? line`Converting the rows from format ${from} to ${to}.`
    : line`Copying the project before its conversion to format ${to}: ${Math.round((100 * copied) / Math.max(1, bytes))} %`;
