// claude-code: the histories of Claude Code, JSONL files in which each record names the one before it.
// lines.ts finds records in bytes, record.ts says what one is, line.ts what is kept of them, tree.ts how they hang together; plan.ts plans: segments.ts
// cuts the tree into runs, commits.ts makes commits of them, tail.ts knows what a file has grown by; entries.ts reads, write.ts and session.ts write.
import { facts, type ImportableFormat, type ParsedDelta } from '../format.js';
import { concatLineParts } from '../jsonl.js';
import { scanLines } from './lines.js';
import { peek } from './peek.js';
import { formatId, planImport } from './plan.js';
import { progress } from './progress.js';
import { readPieces } from './reading.js';
import { writeSession } from './session.js';
import { concatLines, cutLines, writeEntries } from './write.js';

export { type AgentMeta, agentIn } from './agents.js';

export const claudeCode = {
  id: formatId,
  contentType: 'application/jsonl',
  about: { name: 'Claude Code session', what: 'A session file that Claude Code resumes.', extension: 'jsonl' },
  seals: { signature: { of: ['thinking'], broken: '' } },
  tier: 'translated',
  holds: facts.filter((fact) => fact !== 'author'),
  recognize,
  parse,
  write: writeEntries,
  concat: concatLines,
  concatParts: concatLineParts,
  cut: cutLines,
  session: writeSession,
  plan: planImport,
  planParts: planImport,
  peek,
  progress,
} satisfies ImportableFormat;

function parse(delta: Uint8Array): ParsedDelta {
  const { pieces, skipped } = scanLines(delta);
  return { ...readPieces(pieces), problems: skipped };
}

/** Certain when records of this kind open the file; the name alone says little. */
function recognize(head: Uint8Array, path: string): number {
  const { pieces } = scanLines(head);
  const records = pieces.flatMap(({ record }) => (record ? [record] : []));
  const own = records.filter(
    (record) =>
      typeof record.type === 'string' &&
      (typeof record.sessionId === 'string' || typeof record.uuid === 'string' || 'leafUuid' in record || 'messageId' in record),
  );
  const tree = own.some((record) => 'parentUuid' in record || record.type === 'queue-operation' || record.type === 'file-history-snapshot');
  if (tree) return 1;
  if (own.length > 0) return 0.7;
  return path.endsWith('.jsonl') && /"parentUuid":/.test(Buffer.from(head).toString('latin1')) ? 0.5 : 0;
}
