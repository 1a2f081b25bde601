import { defined, isObject, type JsonObject, stringAt } from '../../base/index.js';
import type { ImportPlan, Mutable, ParsedDelta, ParsedEntry, Peek, PlanContext, Problem } from '../format.js';
import { type Content, maxRepeats, planBranches, recordsBefore, type TreeRecord } from '../shared/branches.js';
import { identifyRecord } from '../shared/copies.js';
import { objectsIn } from '../shared/drafts.js';
import { clip } from '../shared/headline.js';
import { type RecordPiece, readTime, recordsOf } from '../shared/jsonl.js';
import { chooseById, firstIn, madeBy, maxNameLength, newProblems, pathTo } from '../shared/plans.js';
import { inDelta } from '../shared/records.js';
import { type ContentEdit, readEntries } from './parse.js';
import { isChained, isHeader, isSent, nameRecord, readId, readMessage, readRole, roleInTurn, scanLines, writeHeadline } from './schema.js';

export const formatId = 'pi-v1';

/** Plans the import of a session from its bytes, its name and what the project knows. */
export function planImport(file: Uint8Array, context: PlanContext): ImportPlan {
  const scan = scanLines(file, { mayGrow: true, identity: identifyRecord });
  const header = scan.pieces.find(({ record, sort }) => sort === 'record' && record && isHeader(record))?.record;
  const cwd = stringAt(header, 'cwd');
  const sessionId = stringAt(header, 'id')?.slice(0, maxNameLength);
  const tree = growTree(file, scan.pieces, context);
  const made = madeBy('pi', { cwd: cwd || undefined, sessionId });
  const fresh = newProblems(scan.pieces, context.resumeAt);
  const startedAt = header && readTime(header);
  const isUnknown = ({ at, stored }: TreeRecord): boolean => !stored && at !== undefined && startedAt !== undefined && at < startedAt;
  const origin = context.resumeAt === 0 && tree.records.some(isUnknown) ? originOf(header) : undefined;
  return {
    format: formatId,
    ...defined({ sessionId, title: titleIn(scan.pieces), cwd }),
    ...planBranches(tree, context, { ...made, read: (pieces) => readPieces(file, pieces), summary: writeSummary }),
    skipped: fresh([...scan.skipped, ...tree.skipped]),
    notes: fresh([...scan.notes, ...tree.notes]),
    end: scan.end,
    ...defined({ awaits: origin }),
  };
}

/** The id in the name of the file whose records, all older than the header, a fork repeats. */
const originOf = (header: JsonObject | undefined): string | undefined =>
  /_([\w-]+)\.jsonl$/.exec(stringAt(header, 'parentSession') ?? stringAt(header, 'branchedFrom') ?? '')?.[1];

const newGrowth = (file: Uint8Array, pieces: readonly RecordPiece[], context: PlanContext, chosen: ReadonlyMap<string, RecordPiece>) => ({
  file,
  context,
  chosen,
  /** All records by number, as records of version 1 name each other. The header counts. */
  numbered: pieces.filter(({ record }) => record !== undefined),
  placed: new Map<RecordPiece, TreeRecord>(),
  records: [] as TreeRecord[],
  notes: [] as Problem[],
  /** The number of kept records that compactions can still repeat. */
  repeats: pieces.length * maxRepeats,
});
type Growth = ReturnType<typeof newGrowth>;

/** Places records in their tree as the agent does (1.5.2): the last of an id counts, unknown parents make roots, no ids make a chain. */
function growTree(file: Uint8Array, pieces: readonly RecordPiece[], context: PlanContext) {
  const idOf = (piece: RecordPiece): string | undefined => (piece.record && isPlaced(piece) ? readId(piece.record) : undefined);
  const { chosen, repeated: aside, skipped } = chooseById(pieces, idOf, ({ range }) => range.start < context.resumeAt);
  const growth = newGrowth(file, pieces, context, chosen);
  const { placed, records, notes } = growth;
  const parentOf = ({ record }: RecordPiece): RecordPiece | undefined =>
    typeof record?.parentId === 'string' ? chosen.get(record.parentId) : undefined;
  for (const piece of pieces) {
    if (!isPlaced(piece) || aside.has(piece)) continue;
    for (const one of pathTo(piece, (other) => placed.has(other), parentOf)) place(growth, one);
  }
  return { pieces, records, aside, skipped, notes };
}

function place(growth: Growth, piece: RecordPiece): void {
  const { file, context, placed, records } = growth;
  const record = piece.record as JsonObject;
  const parent = findParent(growth, piece, record);
  const name = nameRecord(record, file, piece.range);
  const stored = piece.range.start < context.resumeAt || ((parent === null || parent.stored) && context.known.has(name));
  const node: Mutable<TreeRecord> = { name, piece, part: roleInTurn(record), parent, stored, at: readTime(record) };
  if (node.part === 'compaction') {
    const kept = keptBy(growth, node, record);
    if (kept.length > 0) node.kept = kept;
  }
  placed.set(piece, node);
  records.push(node);
}

function findParent({ chosen, placed, records, notes }: Growth, piece: RecordPiece, record: JsonObject): TreeRecord | null {
  if (readId(record) === undefined) return records.at(-1) ?? null;
  if (typeof record.parentId !== 'string') return null;
  const found = placed.get(chosen.get(record.parentId) as RecordPiece);
  if (!found) notes.push({ line: piece.line, reason: `the parent ${record.parentId} does not exist: read as a root` });
  return found ?? null;
}

/** The records before a compaction that the model still sees. */
function keptBy(growth: Growth, node: TreeRecord, record: JsonObject): readonly TreeRecord[] {
  const { numbered, notes } = growth;
  const first = typeof record.firstKeptEntryIndex === 'number' ? numbered[record.firstKeptEntryIndex] : undefined;
  const firstId = record.firstKeptEntryId;
  const recordOf = ({ piece }: TreeRecord): JsonObject => piece.record as JsonObject;
  const isFirst = (one: TreeRecord): boolean => (first ? one.piece === first : typeof firstId === 'string' && readId(recordOf(one)) === firstId);
  const before = recordsBefore(growth, node, isFirst);
  if (!before) return [];
  if (before[0] && isFirst(before[0])) return before.filter((one) => isSent(recordOf(one)));
  if (typeof firstId === 'string' && firstId !== record.id)
    notes.push({ line: node.piece.line, reason: `the first record that the compaction keeps, ${firstId}, does not come before it: it keeps none` });
  return [];
}

const isPlaced = ({ record }: RecordPiece): boolean => record !== undefined && isChained(record);

/** The entries of records that follow each other in a delta, with context edits applied. */
function readPieces(file: Uint8Array, pieces: readonly RecordPiece[]): Content {
  const edits = new Map<string, ContentEdit | null>();
  for (const { record } of pieces) {
    const target = record?.type === 'context_edit' ? stringAt(record, 'targetId') : undefined;
    if (target === undefined) continue;
    const replacement = record?.replacement;
    edits.set(target, isObject(replacement) ? { content: replacement.content ?? [] } : null);
  }
  const entries: ParsedEntry[] = [];
  for (const [piece, raw] of inDelta(pieces)) {
    const { record } = piece;
    if (!record || !isChained(record)) continue;
    const edit = edits.get(readId(record) ?? '');
    for (const entry of readEntries(record, nameRecord(record, file, piece.range), raw, edit)) entries.push(entry);
  }
  return { entries, elisions: [] };
}

/** Reads a delta. Never throws for its content. */
export function parse(delta: Uint8Array): ParsedDelta {
  const { pieces, skipped } = scanLines(delta);
  return { ...readPieces(delta, pieces), problems: skipped };
}

function writeSummary(records: readonly TreeRecord[]): string | undefined {
  if (records[0]?.part === 'compaction') return 'Compaction';
  const recordOf = ({ piece }: TreeRecord): JsonObject => piece.record as JsonObject;
  const asked = records.find(({ part }) => part === 'prompt');
  const answers = records.map(recordOf).filter((record) => readRole(record) === 'assistant');
  const headline = (asked && writeHeadline(recordOf(asked))) ?? firstIn(answers, writeHeadline);
  return headline ?? clip([...new Set(answers.flatMap(callNames))].join(', '));
}

const callNames = (record: JsonObject): readonly string[] =>
  objectsIn(readMessage(record).content).flatMap((block) => (block.type === 'toolCall' ? (stringAt(block, 'name') ?? []) : []));

/** The last name that the session was given. An empty name removes it. */
function titleIn(pieces: readonly RecordPiece[]): string | undefined {
  const named = pieces.findLast(({ record }) => record?.type === 'session_info')?.record;
  return clip(stringAt(named, 'name') ?? '');
}

/** Reads the first and the last bytes of a session. Lines cut in two are skipped. */
export function peek(head: Uint8Array, tail: Uint8Array): Peek {
  const beginning = scanLines(head).pieces;
  const records = recordsOf(beginning);
  const header = records.find(isHeader);
  return defined({
    sessionId: stringAt(header, 'id'),
    cwd: stringAt(header, 'cwd'),
    title: titleIn([...beginning, ...scanLines(tail).pieces]),
    firstPrompt: firstIn(records, (record) => (roleInTurn(record) === 'prompt' ? writeHeadline(record) : undefined)),
    startedAt: header && readTime(header),
  });
}
