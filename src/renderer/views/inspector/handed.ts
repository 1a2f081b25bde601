import type { CommitPlace } from '../../../core/contract/index.js';

/** What became of a fork in words. `isEnd`: nothing continues it yet. */
export function handedWords({ waiting, ends, fileGone }: NonNullable<CommitPlace['handed']>, isEnd: boolean): readonly string[] {
  const words: string[] = [];
  if (isEnd && ends === 'prompt')
    words.push(waiting > 0 ? 'An agent was asked to continue here and has not answered yet.' : 'Nobody has answered this prompt yet.');
  if (isEnd && ends === 'work') words.push('The agent is still at work, or it was stopped in the middle.');
  if (fileGone) words.push('The session file of the agent is gone. What was read from it stays here.');
  return words;
}
