import { commitAt, type ReadChain, readParsed } from '../chain/index.js';
import { planHeading } from '../formats/index.js';
import type { ForestNode } from './forest.js';

/** Texts that are no requests of a person: slash commands, shell commands, interrupted turns and their replacements by an agent. */
const notAPrompt = new RegExp(
  `^(?:${[
    '/[\\w:-]+(?:\\s|$)|!\\s|\\[(?:image|Request interrupted)|Caveat:|<(?:local-command|command)|Compaction\\b',
    // What agents and Stemma write so that work continues.
    'This session is being continued|Your work was interrupted\\.|(?:Please )?continue(?: the conversation)? from where (?:you|we) left',
  ].join('|')})`,
  'i',
);

/** The words of the first commit that has some; a command or a continuation is no title. */
export const firstWords = (own: readonly ForestNode[]): string | undefined =>
  own.find(({ type, summary }) => type === 'delta' && summary !== null && !notAPrompt.test(summary))?.summary ?? undefined;

/** The title that an agent wrote. The first prompt, which an import stores if there is no title, does not count. */
export const writtenTitle = (titles: readonly string[], own: readonly ForestNode[]): string | undefined =>
  titles.find((title) => title.trim() !== '' && !notAPrompt.test(title) && !own.some(({ summary }) => summary === title));

/** The first prompt that a person typed, on one line. A plan to implement is named by its heading. */
export function firstPrompt(chain: ReadChain, own: readonly ForestNode[]): string | undefined {
  for (const node of own) {
    const { summary } = node;
    if (node.type !== 'delta' || node.forked || summary === null || notAPrompt.test(summary)) continue;
    return beginsPlan(summary) ? (planOf(chain, node) ?? summary) : summary;
  }
  return undefined;
}

const beginsPlan = (summary: string): boolean => /^Implement the following plan\b/i.test(summary);

/** The heading of the plan in a prompt; undefined if it has none. */
function planOf(chain: ReadChain, { seq }: ForestNode): string | undefined {
  const { entries } = readParsed(chain, commitAt(chain, seq));
  const prompt = entries.find(({ role, kind, text }) => role === 'user' && kind === 'text' && text?.trim());
  return planHeading(prompt?.text ?? '');
}
