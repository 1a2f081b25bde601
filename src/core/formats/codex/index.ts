// codex: the rollouts of Codex CLI, JSONL files of what the model saw and said, what the screen showed, and what was put in its place.
// record.ts says what a line is, facts.ts what a plan needs of it, plan.ts cuts a file into commits, entries.ts reads items and
// write.ts writes them; session.ts makes a file that the agent resumes, peek.ts looks at both ends of one; sent.ts: what went to the model.
import { isObject } from '../../base/index.js';
import type { ImportableFormat, ParsedDelta } from '../format.js';
import { concatLines } from '../jsonl.js';
import { entriesOf } from './entries.js';
import { peek } from './peek.js';
import { formatId, planImport } from './plan.js';
import { progress } from './progress.js';
import { lineOf, scanLines } from './record.js';
import { writeSession } from './session.js';
import { cutLines, writeEntries } from './write.js';

export { type PlacedLine, readLines, sentItem } from './sent.js';

export const codex = {
  id: formatId,
  contentType: 'application/jsonl',
  about: { name: 'Codex session', what: 'A rollout that Codex resumes.', extension: 'jsonl' },
  seals: { encrypted_content: { of: ['summary'], broken: null }, signature: { of: ['text'], broken: '' } },
  tier: 'translated',
  holds: [
    'thinking',
    'unsignedThinking',
    'sealedThinking',
    'signature',
    'image',
    'resultImage',
    'linkedImage',
    'error',
    'blank',
    'summary',
    'system',
    'injected',
    'time',
  ],
  recognize,
  parse,
  write: writeEntries,
  concat: concatLines,
  cut: cutLines,
  session: writeSession,
  plan: planImport,
  planParts: planImport,
  peek,
  progress,
} satisfies ImportableFormat;

function parse(delta: Uint8Array): ParsedDelta {
  const { pieces, skipped } = scanLines(delta);
  const entries = entriesOf(pieces.flatMap(({ record, range }) => (record ? [{ record, raw: range }] : [])));
  return { entries, elisions: [], problems: skipped };
}

const openings = /^\s*\{"timestamp":"[^"]*",("ordinal":\d+,)?"type":"(session_meta|response_item|event_msg|turn_context|compacted)","payload":\{/;

/** Certain when a line about the session, or lines of its kinds, open the file; the flat form of 2025 by its first line. */
function recognize(head: Uint8Array, _path: string): number {
  const { pieces } = scanLines(head);
  const records = pieces.flatMap(({ record }) => (record ? [record] : []));
  const lines = records.map(lineOf);
  if (lines.some(({ sort, flat }) => !flat && sort === 'meta') || openings.test(Buffer.from(head.subarray(0, 1_024)).toString('latin1'))) return 1;
  if (lines.filter(({ sort, flat }) => !flat && sort !== 'other').length > 1) return 0.9;
  const [first, ...others] = lines;
  const isFlat = first?.sort === 'meta' && first.flat && ('instructions' in first.payload || isObject(first.payload.git));
  return isFlat && others.every(({ flat }) => flat) ? 0.9 : 0;
}
