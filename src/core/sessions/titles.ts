import { type Chain, commitAt, parsedOf } from '../chain/index.js';
import type { Node } from './forest.js';

/** What a person did not write as a request: slash commands, shell commands, interrupted turns and what an agent puts in their place. */
const isNoPrompt =
  /^(\/[\w:-]+(\s|$)|!\s|\[(image|Request interrupted)|Caveat:|<(local-command|command)|This session is being continued|Compaction\b)/;
const isPlan = /^Implement the following plan:?\s*$/i;

/** The title that an agent wrote. What an import put in place of a missing title is the first prompt, and counts as none. */
export const writtenTitle = (titles: readonly string[], own: readonly Node[]): string | undefined => {
  const prompts = new Set(own.map(({ summary }) => summary));
  return titles.find((title) => title.trim() !== '' && !prompts.has(title));
};

/** The first prompt that a person typed, on one line. A plan to implement is named by its heading. */
export function firstPrompt(chain: Chain, own: readonly Node[]): string | undefined {
  for (const node of own) {
    const { summary } = node;
    if (node.type !== 'delta' || node.forked === 1 || summary === null || isNoPrompt.test(summary)) continue;
    return isPlan.test(summary) ? (planHeading(chain, node) ?? summary) : summary;
  }
  return undefined;
}

/** The heading of the plan in a prompt; undefined if it has none. */
function planHeading(chain: Chain, { seq }: Node): string | undefined {
  const { artifact, format } = commitAt(chain, seq);
  const prompt = parsedOf(chain, artifact, format).entries.find(({ role, kind, text }) => role === 'user' && kind === 'text' && text?.trim());
  const lines = (prompt?.text ?? '').split('\n').map((line) => line.trim());
  const heading = lines.find((line) => /^#{1,6}\s+\S/.test(line)) ?? lines.slice(1).find((line) => line !== '');
  return heading?.replace(/^#{1,6}\s+/, '').replace(/^Plan:\s*/i, '');
}
