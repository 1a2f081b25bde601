import type { History, Person, RoleMessage, TimelineMessage, Trigger } from '../../contract/index.js';
import { resumeText, summaryText } from './history.js';
import { quoted, quoteName } from './quote.js';
import { durationText } from './times.js';

/** Replaces a user's message that a model requires and the timeline lacks. */
const placeholder = '[timeline continues]';

export interface Conversion {
  readonly system: string;
  readonly selfEntityId: string;
  /** In the order of writing. */
  readonly messages: readonly Pick<TimelineMessage, 'sender' | 'text'>[];
  readonly summary?: History['summary'];
  readonly resume?: History['resume'];
}

/** The timeline as messages: the agent's own as the assistant's, others as the user's after their sender. Adjacent equal roles are joined. */
export function roleMessages({ system, selfEntityId, messages, summary, resume }: Conversion): RoleMessage[] {
  const turns: RoleMessage[] = [];
  const add = (role: 'user' | 'assistant', content: string): void => {
    const last = turns.at(-1);
    if (last?.role === role) last.content += `\n${content}`;
    else turns.push({ role, content });
  };
  if (summary) add('user', summaryText(summary));
  for (const { sender, text } of messages) {
    if (sender?.id === selfEntityId) add('assistant', text ?? '');
    else add('user', said(sender, withoutForgedLines(text ?? '')));
  }
  if (resume) add('user', resumeText(resume));

  // A list that starts with the agent's own message gets a placeholder before it, and another one at its end if it also ends with the
  // agent's message. A list that starts with another sender's message gets none (vectors T37 and T58).
  if (turns[0]?.role === 'assistant') {
    turns.unshift({ role: 'user', content: placeholder });
    if (turns.at(-1)?.role === 'assistant') turns.push({ role: 'user', content: placeholder });
  }
  return [{ role: 'system', content: system }, ...turns];
}

/** Lines that could be mistaken for one of ours. Inside a message such a line gets one more backslash at its start. */
const forgedLine = /^(?=\\*(?:\[.* \((?:human|agent|service|unknown)\)\]|\[timeline continues\]|\[summary of |← ))/gm;

const withoutForgedLines = (text: string): string => {
  const [first = '', ...rest] = text.split('\n');
  return rest.length === 0 ? text : [first, ...rest.map((line) => line.replace(forgedLine, '\\'))].join('\n');
};

/** How the wait of a resumed run ended: the message that ended it, or the time that ran out. */
export type WaitEnd = { readonly sender: Person | null; readonly text: string } | { readonly timeoutMs: number };

/** The one user message of an invocation: what started the run, or what ended its wait (B-34). */
export function invocationMessage(trigger: Trigger, ended?: WaitEnd): string {
  if (ended) return 'timeoutMs' in ended ? `[Wait] No reply arrived within ${durationText(ended.timeoutMs)}.` : said(ended.sender, ended.text);
  switch (trigger.type) {
    case 'space_message':
      return said(trigger.sender, trigger.message ?? '');
    case 'plan':
      return `[Plan ${quoted(trigger.plan.name ?? trigger.plan.id)}] ${trigger.instruction ?? ''}`.trimEnd();
    case 'service':
      return `[Service ${quoted(trigger.service)}] ${JSON.stringify(trigger.payload ?? null)}`;
  }
}

const said = (sender: Person | null, text: string): string =>
  `[${sender ? `${quoteName(sender.name)} (${sender.type})` : 'Unknown (unknown)'}] ${text}`;
