// events: what Bureau's drivers report of any agent, a CBOR array of {timestamp, type, <field of that name>} in the core deterministic encoding.
// The conversation consists of prompts, answers, thinking, calls and results; no model saw metrics, raw output and errors.
// parse.ts reads and writes an event. Deltas are joined without decoding.
import { badRequest } from '../../base/index.js';
import { type Format, factsWithout, type ParsedDelta, type ParsedEntry } from '../format.js';
import { encodeCbor, readArray, spliceArrays } from '../shared/cbor.js';
import { entryOf, eventOf, isEvent } from './parse.js';

export const events: Format = {
  id: 'events-v1',
  contentType: 'application/cbor',
  about: { name: 'Driver events', what: 'The events of a Bureau driver, in CBOR.', extension: 'cbor' },
  tier: 'translated',
  holds: factsWithout('resultData', 'model'),
  recognize: (head) => {
    const [first] = readArray(head).items;
    return first && isEvent(first.value) ? 0.9 : 0;
  },
  parse,
  write: (entries) => encodeCbor(entries.filter((entry) => !entry.marks?.includes('hidden')).map(eventOf)),
  concat: spliceArrays,
  cut: (delta, lastKept) => {
    const last = parse(delta).entries.find((entry) => entry.key === lastKept)?.raw;
    if (!last) throw badRequest('at', `at is ${lastKept}, but this delta has no such entry`);
    return encodeCbor(readArray(delta).items.flatMap(({ value, end }) => (end <= last.end ? [value] : [])));
  },
};

function parse(delta: Uint8Array): ParsedDelta {
  const { items, problems } = readArray(delta);
  const odd = items.flatMap(({ value, number }) =>
    isEvent(value) ? [] : [{ line: number, reason: 'not an event: its type is missing or unknown' }],
  );
  /** All output of the agent between two inputs is one answer. */
  let answer: string | undefined;
  const entries = items.flatMap(({ value, start, end, number }): ParsedEntry[] => {
    if (!isEvent(value)) return [];
    const entry = entryOf(value, delta.subarray(start, end), number - 1);
    const name = entry.key.replace(/\.\d+$/, '');
    if (entry.marks?.includes('hidden')) return [{ ...entry, messageId: name, raw: { start, end } }];
    answer = entry.role === 'assistant' ? (answer ?? name) : undefined;
    return [{ ...entry, messageId: answer ?? name, raw: { start, end } }];
  });
  return { entries, elisions: [], problems: [...problems, ...odd] };
}
