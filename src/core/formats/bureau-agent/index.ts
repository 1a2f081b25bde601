// bureau-agent: the messages of Bureau's own agent loop, a CBOR array of {Role, Content: blocks} in the core deterministic encoding.
// Joining deltas merges the heads of the arrays and copies the messages byte for byte.
// parse.ts reads and writes a message. Field names are those of the Go structs, matched without case and underscores.
import type { EntryKey } from '../../base/index.js';
import type { Format, ParsedDelta } from '../format.js';
import { encodeCbor, readArray, spliceArrays } from '../shared/cbor.js';
import { entriesUpTo } from '../shared/keys.js';
import { isMessage, messageEntries, writeMessages } from './parse.js';

export const bureauAgent: Format = {
  id: 'bureau-agent-v1',
  contentType: 'application/cbor',
  about: { name: 'Bureau messages', what: 'The CBOR messages that Bureau’s own agents store.', extension: 'cbor' },
  tier: 'translated',
  holds: ['thinking', 'unsignedThinking', 'signature', 'error', 'blank', 'serverTool'],
  recognize: (head) => {
    const [first] = readArray(head).items;
    return first && isMessage(first.value) ? 0.9 : 0;
  },
  parse,
  write: (entries) => encodeCbor(writeMessages(entries)),
  concat: spliceArrays,
  cut: (delta, lastKept) => encodeCbor(writeMessages(entriesUpTo(parse(delta).entries, lastKept))),
};

function parse(delta: Uint8Array): ParsedDelta {
  const { items, problems } = readArray(delta);
  const odd = items.flatMap(({ value, number }) => (isMessage(value) ? [] : [{ line: number, reason: 'not a message: Role or Content is missing' }]));
  const entries = items.flatMap(({ value, start, end, number }) =>
    messageEntries(value, delta.subarray(start, end), number - 1).map((entry) => ({ ...entry, key: entry.key as EntryKey, raw: { start, end } })),
  );
  return { entries, elisions: [], problems: [...problems, ...odd] };
}
