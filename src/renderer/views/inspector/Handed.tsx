import type { CommitPlace } from '../../../core/contract/index.js';
import { type ShownCommit, usePlace } from '../../state';

/** What became of a fork, or of a context that an agent was asked to continue. */
export function Handed({ project, commit }: { project: string; commit: ShownCommit }) {
  const handed = usePlace(project, commit.id).data?.handed;
  const words = handed ? handedWords(handed, commit.children.length === 0) : [];
  if (words.length === 0) return null;
  return (
    <section className="small" aria-label="What happened">
      {words.map((text) => (
        <p key={text} className="muted">
          {text}
        </p>
      ))}
    </section>
  );
}

/** What became of a fork in words. `isEnd`: nothing continues it yet. */
export function handedWords({ waiting, ends, fileGone }: NonNullable<CommitPlace['handed']>, isEnd: boolean): readonly string[] {
  const words: string[] = [];
  if (isEnd && ends === 'prompt')
    words.push(waiting > 0 ? 'An agent was asked to continue here and has not answered yet.' : 'Nobody has answered this prompt yet.');
  if (isEnd && ends === 'work') words.push('The agent is still at work, or it was stopped in the middle.');
  if (fileGone) words.push('The session file of the agent is gone. What was read from it stays here.');
  return words;
}
