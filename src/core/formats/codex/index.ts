// codex: the rollouts of Codex CLI, JSONL files of what the model saw and said, what the screen showed, and what was put in its place.
// record.ts says what a line is, facts.ts what a plan needs of it, plan.ts cuts a file into commits, entries.ts reads items, write.ts writes them,
// session.ts makes a file to resume, peek.ts looks at one, compressed.ts (expand.ts) into one put away; sent.ts: what went to the model.
import type { ImportableFormat, ParsedDelta } from '../format.js';
import { concatLines } from '../jsonl.js';
import { compressed } from './compressed.js';
import { entriesOf, placedLines } from './entries.js';
import { peek, recognize } from './peek.js';
import { formatId, planImport } from './plan.js';
import { progress } from './progress.js';
import { scanLines } from './record.js';
import { writeSession } from './session.js';
import { cutLines, writeEntries } from './write.js';

export { type PlacedLine, readLines, sentItem } from './sent.js';
export { writeItems } from './write.js';

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
  exports: compressed,
  progress,
} satisfies ImportableFormat;

function parse(delta: Uint8Array): ParsedDelta {
  const { pieces, skipped } = scanLines(delta);
  const entries = entriesOf(placedLines(pieces));
  return { entries, elisions: [], problems: skipped };
}
