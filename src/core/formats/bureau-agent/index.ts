// bureau-agent: the messages of Bureau's own agent loop, a CBOR array of {Role, Content: blocks}, in the core deterministic encoding.
// Deltas are merged on concatenation: the heads of the arrays become one, the messages stay byte for byte.
// message.ts reads and writes one message; field names are those of the Go structs, read without regard to case and underscores.
import { badRequest, type EntryKey } from '../../base/index.js';
import { encodeCbor, readArray, spliceArrays } from '../cbor.js';
import type { Format, ParsedDelta } from '../format.js';
import { isMessage, messageEntries, messagesOf } from './message.js';

export const bureauAgent: Format = {
  id: 'bureau-agent-v1',
  contentType: 'application/cbor',
  about: { name: 'Bureau messages', what: 'Messages in CBOR, as Bureau’s own agents keep them.', extension: 'cbor' },
  tier: 'translated',
  holds: ['thinking', 'unsignedThinking', 'signature', 'error', 'blank', 'serverTool'],
  recognize: (head) => {
    const [first] = readArray(head).items;
    return first && isMessage(first.value) ? 0.9 : 0;
  },
  parse,
  write: (entries) => encodeCbor(messagesOf(entries)),
  concat: spliceArrays,
  cut: (delta, lastKept) => {
    const { entries } = parse(delta);
    const at = entries.findIndex((entry) => entry.key === lastKept);
    if (at < 0) throw badRequest('at', `at is ${lastKept}, which is no entry of this delta`);
    return encodeCbor(messagesOf(entries.slice(0, at + 1)));
  },
};

function parse(delta: Uint8Array): ParsedDelta {
  const { items, problems } = readArray(delta);
  const odd = items.flatMap(({ value, number }) => (isMessage(value) ? [] : [{ line: number, reason: 'no message: it has no Role and Content' }]));
  const entries = items.flatMap(({ value, start, end, number }) =>
    messageEntries(value, delta.subarray(start, end), number - 1).map((entry) => ({ ...entry, key: entry.key as EntryKey, raw: { start, end } })),
  );
  return { entries, elisions: [], problems: [...problems, ...odd] };
}
