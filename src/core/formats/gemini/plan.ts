import { defined, type JsonObject, parseInstant, stringAt, toTimestamp } from '../../base/index.js';
import type { ImportPlan, Peek, PlanContext } from '../format.js';
import { planBranches, type TreeRecord } from '../shared/branches.js';
import { identifyRecord } from '../shared/copies.js';
import { clip } from '../shared/headline.js';
import { type RecordPiece, recordsOf } from '../shared/jsonl.js';
import { firstIn, madeBy, maxNameLength, newProblems } from '../shared/plans.js';
import { inDelta } from '../shared/records.js';
import { parse, readEntries } from './parse.js';
import { scanDocument, scanLines } from './parse-values.js';
import { growTree } from './plan-history.js';
import { folderIn, historyIn, isContext, isHeader, isMessage, readCalls, roleInTurn, titleIn, writeHeadline } from './schema.js';

export const formatId = 'gemini-v1';

/** Plans the import of a session, of lines or of one document, from its bytes, its name and what the project knows. */
export function planImport(file: Uint8Array, context: PlanContext): ImportPlan {
  const document = scanDocument(file);
  const scan = document ? { ...document, notes: [], end: file.length } : scanLines(file, { mayGrow: true, identity: identifyRecord });
  const records = recordsOf(scan.pieces);
  const headers = document ? [document.header] : records.filter(isHeader);
  const sessionId = stringAt(headers[0], 'sessionId')?.slice(0, maxNameLength);
  const all = [...headers, ...records];
  const cwd = firstIn(all, folderIn);
  const about = { format: formatId, ...defined({ sessionId, title: firstIn(all.toReversed(), titleIn), cwd }) };
  const isSubagent = stringAt(headers[0], 'kind') === 'subagent';
  const tree = growTree(file, scan.pieces, context, isSubagent && sessionId !== undefined ? { sessionId } : undefined);
  // The bytes between the messages of a document are not lines of a session.
  const between = document ? scan.pieces.filter(({ sort }) => sort === 'blank') : [];
  const fresh = newProblems(scan.pieces, context.resumeAt);
  const problems = { skipped: fresh(scan.skipped), notes: fresh([...scan.notes, ...tree.notes]) };
  // Each start of the agent writes its context, sometimes in a file of its own. Such a file has no conversation yet.
  if (!records.some(isSaid)) return { ...about, ...problems, commits: [], side: [{ start: 0, end: file.length }], tips: [], end: 0 };
  // Records that do not depend on other records in the file are the same in a delta and need not be read again.
  const isPlain = scan.skipped.length === 0 && scan.notes.length === 0 && tree.pieces.length === scan.pieces.length;
  const planned = planBranches({ ...tree, aside: new Set([...tree.aside, ...between]) }, context, {
    ...madeBy('gemini', { role: isSubagent ? 'agent' : undefined, cwd, sessionId }),
    read: (pieces) => (isPlain ? { entries: readEntries(placed(pieces)), elisions: [] } : parse(joined(file, pieces))),
    summary: writeSummary,
  });
  const tips = planned.tips.length > 0 || tree.tip === null || 'piece' in tree.tip ? planned.tips : [tree.tip];
  return { ...about, ...problems, ...planned, tips, end: scan.end };
}

const isSaid = (record: JsonObject): boolean =>
  isMessage(record) ? record.type === 'user' || record.type === 'gemini' : historyIn(record)?.some((message) => !isContext(message)) === true;

const placed = (pieces: readonly RecordPiece[]): Pick<RecordPiece, 'record' | 'range'>[] =>
  [...inDelta(pieces)].map(([{ record }, raw]) => ({ range: raw, ...(record && { record }) }));

const joined = (file: Uint8Array, pieces: readonly RecordPiece[]): Uint8Array =>
  Buffer.concat(pieces.map(({ range }) => file.subarray(range.start, range.end)));

const messagesIn = ({ piece: { record } }: TreeRecord): readonly JsonObject[] => (record ? (historyIn(record) ?? [record]) : []);

function writeSummary(records: readonly TreeRecord[]): string | undefined {
  if (records[0]?.part === 'compaction') return 'Compaction';
  const asked = records.find(({ part }) => part === 'prompt');
  const prompts = asked ? messagesIn(asked).filter((message) => !isContext(message)) : [];
  const answers = records.flatMap((record) => messagesIn(record).filter(({ type }) => type === 'gemini'));
  const tools = answers.flatMap((answer) => readCalls(answer).flatMap((call) => stringAt(call, 'name') ?? []));
  return firstIn([...prompts, ...answers], writeHeadline) ?? clip([...new Set(tools)].join(', '));
}

/** Reads the first and the last bytes of a session. Lines cut in two are skipped. */
export function peek(head: Uint8Array, tail: Uint8Array): Peek {
  const document = scanDocument(head);
  const records = recordsOf(document ? document.pieces : [...scanLines(head).pieces, ...scanLines(tail).pieces]);
  const header = document?.header ?? records.find(isHeader);
  const startedAt = parseInstant(stringAt(header, 'startTime') ?? '');
  const all = header ? [header, ...records] : records;
  const messages = records.flatMap((record) => historyIn(record) ?? (isMessage(record) ? [record] : []));
  return defined({
    sessionId: stringAt(header, 'sessionId'),
    cwd: firstIn(all, folderIn),
    title: clip(firstIn(all.toReversed(), titleIn) ?? ''),
    firstPrompt: firstIn(messages, (message) => (roleInTurn(message) === 'prompt' ? writeHeadline(message) : undefined)),
    startedAt: startedAt === undefined ? undefined : toTimestamp(startedAt),
  });
}
