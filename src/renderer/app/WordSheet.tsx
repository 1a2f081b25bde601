import { Sheet } from '../parts';
import { dismiss } from '../state';

/** The words of the window that need an explanation. */
export const words: readonly (readonly [word: string, meaning: string])[] = [
  ['Session', 'One conversation with an agent, however many files and branches it has.'],
  ['Turn', 'One prompt that a person typed, and everything the agent did until it answered.'],
  ['Branch', 'A way that a session took from some turn on, after a rewind or an edit. The original stays as it is.'],
  ['Peak context', 'The fullest state of the context window in a session, in percent of what the model can hold.'],
  ['Errors', 'Results that a tool or the agent reported as failed. An error can be harmless, such as a search that found nothing.'],
  ['Counted', 'The provider counted these tokens. A counted number is exact.'],
  ['≈ (estimate)', 'Stemma estimated this number, because no provider counted it.'],
  ['Not recorded', 'The agent did not write this down, so no number is shown.'],
  ['Cost', 'All calls at the prices of the provider’s list. A subscription does not pay them.'],
  ['Cache miss', 'A call that had to pay again for text that the provider could have read from its cache.'],
  ['Compaction', 'The agent replaced the conversation by a summary, because the window was full.'],
  ['Fork', 'A new branch that starts at a turn or an entry, with or without an edit.'],
];

/** The words of the window with their meanings. */
export function WordSheet() {
  return (
    <Sheet title="What the words mean" kind="side" onClose={dismiss}>
      <dl className="word-list">
        {words.map(([word, meaning]) => (
          <div key={word}>
            <dt>{word}</dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
    </Sheet>
  );
}
