// claude-code: the histories of Claude Code, JSONL files in which each record names its parent.
// schema*.ts says what records mean, parse*.ts reads them and logs. plan.ts plans an import: plan-tree.ts places records, plan-segments.ts
// cuts the tree, plan-commits.ts makes commits. write.ts writes deltas, resume.ts a whole file.
import { defined, isObject, type JsonObject, stringAt } from '../../base/index.js';
import { byClass, factsWithout, type ImportableFormat, type ParsedDelta, type Peek } from '../format.js';
import { durationOf } from '../shared/durations.js';
import { concatLineParts, ofLines } from '../shared/jsonl.js';
import { planHeading } from '../shared/plan-heading.js';
import { firstIn } from '../shared/plans.js';
import { callsIn } from './calls.js';
import { scanLines } from './parse-lines.js';
import { log } from './parse-log.js';
import { formatId, planImport } from './plan.js';
import { progress } from './plan-progress.js';
import { readPieces } from './plan-reader.js';
import { writeSession } from './resume.js';
import { firstTextOf, isChained, readContent, readTime, roleInTree, titleIn, writeHeadline } from './schema.js';
import { cutLines, writeEntries } from './write.js';

export { countsOfUsage } from './calls.js';
export { agentIn } from './parse-agents.js';

export const claudeCode = {
  id: formatId,
  ...ofLines,
  about: { name: 'Claude Code session', what: 'A session file that Claude Code resumes.', extension: 'jsonl' },
  seals: { signature: { of: ['thinking'], broken: '' } },
  tier: 'translated',
  holds: factsWithout('author'),
  tools: byClass({
    read: ['Read', 'NotebookRead'],
    write: ['Write'],
    edit: ['Edit', 'MultiEdit', 'NotebookEdit'],
    shell: ['Bash'],
    search: ['Glob', 'Grep', 'LS', 'WebSearch'],
    fetch: ['WebFetch'],
    task: ['Task', 'Agent'],
    plan: ['TodoWrite', 'TaskCreate', 'TaskUpdate'],
  }),
  recognize,
  parse,
  calls: callsIn,
  write: writeEntries,
  concatParts: concatLineParts,
  cut: cutLines,
  session: writeSession,
  plan: planImport,
  planParts: planImport,
  peek,
  progress,
  exports: log,
} satisfies ImportableFormat;

function parse(delta: Uint8Array): ParsedDelta {
  const { pieces, skipped } = scanLines(delta);
  const lasted = durationOf(pieces, ({ record }) => (record?.subtype === 'turn_duration' ? record.durationMs : undefined));
  const branch = pieces.findLast(({ record }) => stringAt(record, 'gitBranch'))?.record;
  return { ...readPieces(pieces), ...lasted, ...defined({ branch: stringAt(branch, 'gitBranch') }), problems: skipped };
}

/** Certain if the file begins with a record of this format; the name alone proves little. */
function recognize(head: Uint8Array, path: string): number {
  const records = recordsIn(head);
  const own = records.filter(
    (record) =>
      typeof record.type === 'string' &&
      !isOfQwen(record) &&
      (typeof record.sessionId === 'string' || typeof record.uuid === 'string' || 'leafUuid' in record || 'messageId' in record),
  );
  const tree = own.some((record) => 'parentUuid' in record || record.type === 'queue-operation' || record.type === 'file-history-snapshot');
  if (tree) return 1;
  if (own.length > 0) return 0.7;
  return path.endsWith('.jsonl') && own.length === records.length && /"parentUuid":/.test(Buffer.from(head).toString('latin1')) ? 0.5 : 0;
}

/** Qwen Code uses the same envelope, but its messages have `parts`. */
const isOfQwen = ({ message, systemPayload }: JsonObject): boolean =>
  systemPayload !== undefined || (isObject(message) && Array.isArray(message.parts));

const recordsIn = (bytes: Uint8Array): JsonObject[] => scanLines(bytes).pieces.flatMap(({ record }) => (record ? [record] : []));

/** Reads the first and the last bytes of a session file; they may overlap. Lines cut in two are skipped. */
function peek(head: Uint8Array, tail: Uint8Array): Peek {
  const beginning = recordsIn(head);
  const chained = beginning.filter(isChained);
  const prompt =
    chained.find((record) => roleInTree(record) === 'prompt') ?? chained.find((record) => roleInTree(record) === 'command' && record.isMeta !== true);
  return defined({
    sessionId: firstIn(beginning, (record) => stringAt(record, 'sessionId')),
    cwd: firstIn(chained, (record) => stringAt(record, 'cwd')),
    title: titleIn([...beginning, ...recordsIn(tail)]),
    firstPrompt: prompt && (planHeading(firstTextOf(readContent(prompt))) ?? writeHeadline(prompt)),
    startedAt: firstIn(chained, readTime),
  });
}
