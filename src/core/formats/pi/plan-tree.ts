import type { JsonObject } from '../../base/index.js';
import type { Mutable, PlanContext, Problem } from '../format.js';
import type { RecordTree, TreeRecord } from '../shared/branches.js';
import { type RecordPiece, readTime } from '../shared/jsonl.js';
import { chooseById, pathTo } from '../shared/plans.js';
import { bytesIn, isChained, isSent, nameRecord, readId, roleInTurn } from './schema.js';

/** The most kept records per record. Otherwise, a file whose compactions all keep everything would cost quadratic time and space. */
const maxRepeats = 16;

interface Given {
  readonly file: Uint8Array;
  readonly context: PlanContext;
  readonly chosen: ReadonlyMap<string, RecordPiece>;
}

const newGrowth = (given: Given, pieces: readonly RecordPiece[]) => ({
  ...given,
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
export function growTree(
  file: Uint8Array,
  pieces: readonly RecordPiece[],
  context: PlanContext,
): RecordTree & { readonly skipped: readonly Problem[]; readonly notes: readonly Problem[] } {
  const idOf = (piece: RecordPiece): string | undefined => (piece.record && isPlaced(piece) ? readId(piece.record) : undefined);
  const { chosen, repeated: aside, skipped } = chooseById(pieces, idOf, ({ range }) => range.start < context.resumeAt);
  const growth = newGrowth({ file, context, chosen }, pieces);
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
  const name = nameRecord(record, bytesIn(file, piece));
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

const isPlaced = ({ record }: RecordPiece): boolean => record !== undefined && isChained(record);
