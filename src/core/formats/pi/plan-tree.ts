import type { JsonObject } from '../../base/index.js';
import type { Mutable, PlanContext, Problem } from '../format.js';
import type { RecordTree, TreeRecord } from '../shared/branches.js';
import { type RecordPiece, readTime } from '../shared/jsonl.js';
import { bytesIn, isChained, isHeader, isSent, nameRecord, readId, roleInTurn } from './schema.js';

/** The most kept records per record. Otherwise, a file whose compactions all keep everything would cost quadratic time and space. */
const maxRepeats = 16;

interface Growth {
  readonly file: Uint8Array;
  readonly context: PlanContext;
  readonly chosen: ReadonlyMap<string, RecordPiece>;
  /** All records by number, as records of version 1 name each other. The header counts. */
  readonly numbered: readonly RecordPiece[];
  readonly placed: Map<RecordPiece, TreeRecord>;
  readonly records: TreeRecord[];
  readonly notes: Problem[];
  /** The number of kept records that compactions can still repeat. */
  repeats: number;
}

/** Places records in their tree as the agent does (1.5.2): the last of an id counts, unknown parents make roots, no ids make a chain. */
export function growTree(
  file: Uint8Array,
  pieces: readonly RecordPiece[],
  context: PlanContext,
): RecordTree & { readonly skipped: readonly Problem[]; readonly notes: readonly Problem[] } {
  const { chosen, aside, skipped } = chooseRecords(pieces, context);
  const growth: Growth = {
    file,
    context,
    chosen,
    numbered: pieces.filter(({ record, sort }) => sort === 'record' && record !== undefined),
    placed: new Map(),
    records: [],
    notes: [],
    repeats: pieces.length * maxRepeats,
  };
  for (const piece of pieces) {
    if (!isPlaced(piece) || aside.has(piece) || growth.placed.has(piece)) continue;
    for (const one of pathTo(growth, piece)) place(growth, one);
  }
  return { pieces, records: growth.records, aside, skipped, notes: growth.notes };
}

/** Of several records with the same id, reads the last record or the stored record. */
function chooseRecords(pieces: readonly RecordPiece[], { resumeAt }: PlanContext) {
  const chosen = new Map<string, RecordPiece>();
  const aside = new Set<RecordPiece>();
  const skipped: Problem[] = [];
  for (const piece of pieces) {
    const id = piece.record && isPlaced(piece) ? readId(piece.record) : undefined;
    if (id === undefined) continue;
    const other = chosen.get(id);
    const unread = other && (other.range.start < resumeAt ? piece : other);
    if (unread !== piece) chosen.set(id, piece);
    if (!unread) continue;
    aside.add(unread);
    const where = unread === piece ? 'earlier' : 'later';
    skipped.push({ line: unread.line, reason: `Another record with the id ${id} comes ${where} and is read instead.` });
  }
  return { chosen, aside, skipped };
}

/** The record and its ancestors that are not placed yet, root first. */
function pathTo({ chosen, placed }: Growth, piece: RecordPiece): RecordPiece[] {
  const path: RecordPiece[] = [];
  const seen = new Set<RecordPiece>();
  for (let at: RecordPiece | undefined = piece; at && !placed.has(at) && !seen.has(at); ) {
    seen.add(at);
    path.push(at);
    at = typeof at.record?.parentId === 'string' ? chosen.get(at.record.parentId) : undefined;
  }
  return path.reverse();
}

function place(growth: Growth, piece: RecordPiece): void {
  const { file, context, placed, records } = growth;
  const record = piece.record as JsonObject;
  const parent = findParent(growth, piece, record);
  const name = nameRecord(record, bytesIn(file, piece));
  const stored = piece.range.start < context.resumeAt || ((parent === null || parent.stored) && context.known.has(name));
  const at = readTime(record);
  const node: Mutable<TreeRecord> = { name, piece, part: roleInTurn(record), parent, stored };
  if (at !== undefined) node.at = at;
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
  const kept: TreeRecord[] = [];
  for (let at = node.parent; at && 'piece' in at; at = at.parent) {
    if (growth.repeats-- <= 0) {
      notes.push({ line: node.piece.line, reason: 'the compactions of this file keep too many messages: those of this one are dropped' });
      return [];
    }
    if (isSent(at.piece.record as JsonObject)) kept.push(at);
    const isFirst = first ? at.piece === first : typeof firstId === 'string' && readId(at.piece.record as JsonObject) === firstId;
    if (isFirst) return kept.reverse();
  }
  if (typeof firstId === 'string' && firstId !== record.id)
    notes.push({ line: node.piece.line, reason: `the first record that the compaction keeps, ${firstId}, does not come before it: it keeps none` });
  return [];
}

const isPlaced = ({ record, sort }: RecordPiece): boolean => sort === 'record' && record !== undefined && isChained(record) && !isHeader(record);
