import { defined } from '../base/index.js';
import type { ComposedMessage, ComposedRow } from '../contract/index.js';
import type { Preview } from './preview.js';

/** A message of two lists: in both (same), only in the first (gone), or only in the second (new). */
export interface Compared {
  readonly change: ComposedRow['change'];
  readonly message: ComposedMessage;
  /** Its place in the second list; undefined if it is gone. */
  readonly place: number | undefined;
}

const identifyMessage = ({ layer, role, id, content }: ComposedMessage): string => `${layer}\n${role}\n${id ?? ''}\n${content}`;

/** Merges two lists. Composing has one fixed order, so one walk along both lists finds every difference. */
export function compareMessages(before: readonly ComposedMessage[], after: readonly ComposedMessage[]): readonly Compared[] {
  if (before === after) return after.map((message, place) => ({ change: 'same', message, place }));
  const counts = new Map<string, number>();
  for (const message of after) counts.set(identifyMessage(message), (counts.get(identifyMessage(message)) ?? 0) + 1);
  const rows: Compared[] = [];
  let place = 0;
  const takeNew = (until: string | undefined): void => {
    for (;;) {
      const message = after[place];
      if (!message || identifyMessage(message) === until) return;
      counts.set(identifyMessage(message), (counts.get(identifyMessage(message)) ?? 1) - 1);
      rows.push({ change: 'new', message, place });
      place += 1;
    }
  };
  for (const message of before) {
    const key = identifyMessage(message);
    if ((counts.get(key) ?? 0) === 0) {
      rows.push({ change: 'gone', message, place: undefined });
      continue;
    }
    takeNew(key);
    counts.set(key, (counts.get(key) ?? 1) - 1);
    rows.push({ change: 'same', message: after[place] ?? message, place });
    place += 1;
  }
  takeNew(undefined);
  return rows;
}

const maxArgumentsLength = 400;

/** A compared message as a window shows it, with its text cut to `longest` characters. */
export function shownRow({ change, message, place }: Compared, now: Preview, longest: number): ComposedRow {
  const given = Array.isArray(message.tool_calls) ? (message.tool_calls as { name?: unknown; args?: unknown }[]) : [];
  const calls = given.map((call) => ({ name: String(call.name ?? 'tool'), arguments: JSON.stringify(call.args ?? {}).slice(0, maxArgumentsLength) }));
  const { role, layer, tokens, name, content } = message;
  const entryKey = place === undefined ? undefined : now.messageOrigins[place]?.[0];
  const text = content.slice(0, longest);
  return { change, role, layer, tokens, ...defined({ name }), text, length: content.length, calls, ...defined({ entryKey }) };
}
