// pi: the histories of the pi coding agent, JSONL files that hold a tree: each record has an id and names the one before it.
// record.ts says what a record is and what the project calls it, tree.ts puts them together, plan.ts makes commits of them,
// entries.ts reads records and write.ts writes them; session.ts makes a file that the agent resumes, peek.ts looks at both ends of one.
import type { ImportableFormat } from '../format.js';
import { concatLines } from '../jsonl.js';
import { peek } from './peek.js';
import { formatId, parse, planImport } from './plan.js';
import { progress } from './progress.js';
import { isHeader, scanLines } from './record.js';
import { writeSession } from './session.js';
import { cutLines, writeEntries } from './write.js';

export { framed } from './texts.js';

export const pi: ImportableFormat = {
  id: formatId,
  contentType: 'application/jsonl',
  about: { name: 'pi session', what: 'A session file that pi resumes.', extension: 'jsonl' },
  seals: { thinkingSignature: { of: ['thinking'], broken: '' } },
  tier: 'translated',
  holds: [
    'thinking',
    'unsignedThinking',
    'sealedThinking',
    'signature',
    'image',
    'resultImage',
    'error',
    'blank',
    'summary',
    'system',
    'injected',
    'resultData',
    'model',
    'time',
  ],
  recognize,
  parse,
  write: writeEntries,
  concat: concatLines,
  cut: cutLines,
  session: writeSession,
  plan: planImport,
  peek,
  progress,
};

/** The first record is the session's header, and says where the session worked; other agents' files begin otherwise. */
function recognize(head: Uint8Array): number {
  const first = scanLines(head).pieces.find(({ record }) => record !== undefined)?.record;
  if (!first || !isHeader(first) || typeof first.id !== 'string') return 0;
  return typeof first.cwd === 'string' && typeof first.timestamp === 'string' ? 1 : 0.4;
}
