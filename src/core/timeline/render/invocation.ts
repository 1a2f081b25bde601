import type { Person, Trigger } from '../../contract/index.js';
import { quoted, quoteName } from './quote.js';
import { durationText } from './times.js';

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
