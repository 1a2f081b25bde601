// pi: the histories of the pi coding agent, JSONL files that hold a tree: each record has an id and names its parent.
// schema.ts says what a record is and how the project names it, parse.ts reads records, plan.ts builds the tree and makes commits,
// plan-progress.ts follows a growing file. write.ts writes records, resume.ts a file that the agent resumes.
import { byClass, factsWithout, type ImportableFormat } from '../format.js';
import { ofLines } from '../shared/jsonl.js';
import { formatId, parse, peek, planImport } from './plan.js';
import { progress } from './plan-progress.js';
import { writeSession } from './resume.js';
import { isHeader, scanLines } from './schema.js';
import { cutLines, writeEntries } from './write.js';

export { framed } from './schema.js';

export const pi: ImportableFormat = {
  id: formatId,
  ...ofLines,
  about: { name: 'pi session', what: 'A session file that pi resumes.', extension: 'jsonl' },
  seals: { thinkingSignature: { of: ['thinking'], broken: '' } },
  tier: 'translated',
  holds: factsWithout('linkedImage', 'block', 'event', 'serverTool', 'author'),
  tools: byClass({ read: ['read'], write: ['write'], edit: ['edit'], shell: ['bash'], search: ['grep', 'find', 'ls'] }),
  recognize,
  parse,
  write: writeEntries,
  cut: cutLines,
  session: writeSession,
  plan: planImport,
  peek,
  progress,
};

/** The first record is the session's header and names the working folder. Files of other agents begin differently. */
function recognize(head: Uint8Array): number {
  const first = scanLines(head).pieces.find(({ record }) => record !== undefined)?.record;
  if (!first || !isHeader(first) || typeof first.id !== 'string') return 0;
  return typeof first.cwd === 'string' && typeof first.timestamp === 'string' ? 1 : 0.4;
}
