// gemini: the sessions of Gemini CLI, JSONL files of what it did to its one history, and the documents of its older versions.
// record.ts says what a line is, values.ts finds records, history.ts puts them into a tree (addition.ts: a line that was half known), plan.ts makes
// commits, entries.ts reads messages, write.ts writes and cut.ts cuts them, session.ts makes a file to resume, peek.ts and progress.ts look at one.
import { textOf } from '../../base/index.js';
import type { ImportableFormat } from '../format.js';
import { concatLines } from '../jsonl.js';
import { cutLines } from './cut.js';
import { parse } from './entries.js';
import { peek } from './peek.js';
import { formatId, planImport } from './plan.js';
import { progress } from './progress.js';
import { writeSession } from './session.js';
import { scanLines } from './values.js';
import { writeEntries } from './write.js';

export { answerNoted, contentsSent } from './sent.js';

export const gemini: ImportableFormat = {
  id: formatId,
  contentType: 'application/jsonl',
  about: { name: 'Gemini CLI session', what: 'A session file that Gemini CLI resumes.', extension: 'jsonl' },
  seals: { signature: { of: ['description'], broken: '' }, thoughtSignature: { of: ['text', 'functionCall'], broken: '' } },
  tier: 'translated',
  holds: ['thinking', 'unsignedThinking', 'signature', 'image', 'resultImage', 'error', 'summary', 'model', 'time'],
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

const opening = /^(?:\ufeff)?\s*\{\s*"sessionId"\s*:\s*"[^"]*"\s*,\s*"projectHash"\s*:\s*"/;

/** Its first record says which session of which project it is; lines of a file whose beginning is lost are known by their kinds. */
function recognize(head: Uint8Array): number {
  if (opening.test(textOf(head.subarray(0, 4_096)))) return 1;
  const records = scanLines(head).pieces.flatMap(({ record }) => (record ? [record] : []));
  if (records.some(({ sessionId, projectHash }) => typeof sessionId === 'string' && typeof projectHash === 'string')) return 0.9;
  return records.filter(({ type, id, content }) => type === 'gemini' && typeof id === 'string' && content !== undefined).length > 0 ? 0.5 : 0;
}
