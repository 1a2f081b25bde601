import type { History, RoleMessage, TimelineMessage } from '../../contract/index.js';
import { resumeWords, summaryWords } from './history.js';
import { nameOf } from './quote.js';

/** Stands where a model wants a user's message and the timeline has none. */
const placeholder = '[timeline continues]';

export interface Conversion {
  readonly system: string;
  readonly selfEntityId: string;
  /** In the order in which they were written. */
  readonly messages: readonly Pick<TimelineMessage, 'sender' | 'text'>[];
  readonly summary?: History['summary'];
  readonly resume?: History['resume'];
}

/**
 * The timeline as messages with roles (decisions, rule 42): the agent's own as the assistant's, all others as the
 * user's with their sender before them. Neighbors of one role are joined, so that roles alternate.
 */
export function roleMessages({ system, selfEntityId, messages, summary, resume }: Conversion): RoleMessage[] {
  const turns: RoleMessage[] = [];
  const add = (role: 'user' | 'assistant', content: string): void => {
    const last = turns.at(-1);
    if (last?.role === role) last.content += `\n${content}`;
    else turns.push({ role, content });
  };
  if (summary) add('user', summaryWords(summary));
  for (const { sender, text } of messages) {
    if (sender?.id === selfEntityId) add('assistant', text ?? '');
    else add('user', `[${sender ? `${nameOf(sender.name)} (${sender.type})` : 'Unknown (unknown)'}] ${withoutForgedLines(text ?? '')}`);
  }
  if (resume) add('user', resumeWords(resume));

  // Rule 42 closes a list that ends with the agent's own words; vector T37 (the seed's) leaves one open that began with
  // somebody else's. Both hold: the placeholders come as a pair.
  if (turns[0]?.role === 'assistant') {
    turns.unshift({ role: 'user', content: placeholder });
    if (turns.at(-1)?.role === 'assistant') turns.push({ role: 'user', content: placeholder });
  }
  return [{ role: 'system', content: system }, ...turns];
}

/** What a line of ours looks like. Within somebody's text such a line gets a backslash before it, and one more where it has some. */
const ourLine = /^(?=\\*(?:\[.* \((?:human|agent|service|unknown)\)\]|\[timeline continues\]|\[summary of |← ))/gm;

const withoutForgedLines = (text: string): string => {
  const [first = '', ...rest] = text.split('\n');
  return rest.length === 0 ? text : [first, ...rest.map((line) => line.replace(ourLine, '\\'))].join('\n');
};
