import { type ByteRange, defined, type JsonObject, stringAt } from '../../base/index.js';
import type { ImportPlan, PlanContext, Problem } from '../format.js';
import { planBranches, type TreeRecord } from '../shared/branches.js';
import { identifyRecord } from '../shared/copies.js';
import { clip } from '../shared/headline.js';
import { firstNewLine, type RecordPiece } from '../shared/jsonl.js';
import { inDelta } from '../shared/records.js';
import { parse, readEntries } from './parse.js';
import { scanDocument, scanLines } from './parse-values.js';
import { growTree } from './plan-history.js';
import { folderIn, historyIn, isContext, isHeader, isMessage, readCalls, titleIn, writeHeadline } from './schema.js';

export const formatId = 'gemini-v1';
const template = 'gemini';
const maxNameLength = 400;

/** Plans the import of a session, of lines or of one document, from its bytes, its name and what the project knows. */
export function planImport(file: Uint8Array, context: PlanContext): ImportPlan {
  const document = scanDocument(file);
  const scan = document ? { ...document, notes: [], end: file.length } : scanLines(file, { mayGrow: true, identity: identifyRecord });
  const records = scan.pieces.flatMap(({ record, sort }) => (record && sort === 'record' ? [record] : []));
  const headers = document ? [document.header] : records.filter(isHeader);
  const sessionId = stringAt(headers[0], 'sessionId')?.slice(0, maxNameLength);
  const all = [...headers, ...records];
  const cwd = firstIn(all, folderIn);
  const title = firstIn(all.reverse(), titleIn);
  const about = {
    format: formatId,
    ...defined({ sessionId, title, cwd }),
  };
  const isSubagent = stringAt(headers[0], 'kind') === 'subagent';
  const tree = growTree(file, scan.pieces, context, isSubagent && sessionId !== undefined ? { sessionId } : undefined);
  // The bytes between the messages of a document are not lines of a session.
  const between = document ? scan.pieces.filter(({ sort }) => sort === 'blank') : [];
  const freshFrom = firstNewLine(scan.pieces, context.resumeAt);
  const fresh = (problems: readonly Problem[]): Problem[] => problems.filter(({ line }) => line >= freshFrom).sort((a, b) => a.line - b.line);
  const problems = { skipped: fresh(scan.skipped), notes: fresh([...scan.notes, ...tree.notes]) };
  // Each start of the agent writes its context, sometimes in a file of its own. Such a file has no conversation yet.
  if (!records.some(isSaid)) return { ...about, ...problems, commits: [], side: [{ start: 0, end: file.length }], tips: [], end: 0 };
  // Records that do not depend on other records in the file are the same in a delta and need not be read again.
  const isPlain = scan.skipped.length === 0 && scan.notes.length === 0 && tree.pieces.length === scan.pieces.length;
  const planned = planBranches({ ...tree, aside: new Set([...tree.aside, ...between]) }, context, {
    template: isSubagent ? `${template}/agent` : template,
    ...(cwd === undefined ? {} : { principal: `${template}@${cwd}`.slice(0, maxNameLength) }),
    ...(sessionId === undefined ? {} : { sessionId }),
    read: (pieces) => (isPlain ? { entries: readEntries(placed(pieces)), elisions: [] } : parse(joined(file, pieces))),
    summary: writeSummary,
  });
  const tips = planned.tips.length > 0 || tree.tip === null || 'piece' in tree.tip ? planned.tips : [tree.tip];
  return { ...about, ...problems, ...planned, tips, end: scan.end };
}

const isSaid = (record: JsonObject): boolean =>
  isMessage(record) ? record.type === 'user' || record.type === 'gemini' : historyIn(record)?.some((message) => !isContext(message)) === true;

function firstIn<T>(records: readonly JsonObject[], read: (record: JsonObject) => T | undefined): T | undefined {
  for (const record of records) {
    const found = read(record);
    if (found !== undefined) return found;
  }
  return undefined;
}

const placed = (pieces: readonly RecordPiece[]): Pick<RecordPiece, 'record' | 'range'>[] =>
  [...inDelta(pieces)].map(([{ record }, raw]) => ({ range: raw, ...(record && { record }) }));

function joined(file: Uint8Array, pieces: readonly RecordPiece[]): Uint8Array {
  const ranges = pieces.map(({ range }) => range);
  return Buffer.concat(ranges.map(({ start, end }: ByteRange) => file.subarray(start, end)));
}

const messagesIn = ({ piece: { record } }: TreeRecord): readonly JsonObject[] => (record ? (historyIn(record) ?? [record]) : []);

function writeSummary(records: readonly TreeRecord[]): string | undefined {
  if (records[0]?.part === 'compaction') return 'Compaction';
  const asked = records.find(({ part }) => part === 'prompt');
  const headline =
    asked &&
    messagesIn(asked)
      .filter((message) => !isContext(message))
      .map(writeHeadline)
      .find((text) => text !== undefined);
  if (headline !== undefined) return headline;
  const answers = records.flatMap((record) => messagesIn(record).filter(({ type }) => type === 'gemini'));
  const said = answers.map(writeHeadline).find((text) => text !== undefined);
  if (said !== undefined) return said;
  const tools = new Set(answers.flatMap((answer) => readCalls(answer).flatMap((call) => stringAt(call, 'name') ?? [])));
  return tools.size > 0 ? clip([...tools].join(', ')) : undefined;
}
