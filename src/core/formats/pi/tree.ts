import type { JsonObject } from '../../base/index.js';
import type { Mutable, PlanContext, Problem } from '../format.js';
import { type Piece, timeOf } from '../jsonl.js';
import type { Grown, TreeRecord } from '../strands.js';
import { bytesIn, idOf, isChained, isHeader, isSent, nameOf, partOf } from './record.js';

/** More records than this for each of the file's are not repeated beside summaries: compactions that all keep everything cost their square. */
const mostRepeats = 16;

/**
 * Puts a session's records into their tree. As in the agent (1.5.2): of records with one id the last is read, one whose parent is not
 * there is a root, and without ids each record follows the one before it.
 */
export function growTree(
  file: Uint8Array,
  pieces: readonly Piece[],
  context: PlanContext,
): Grown & { readonly skipped: readonly Problem[]; readonly notes: readonly Problem[] } {
  const skipped: Problem[] = [];
  const notes: Problem[] = [];
  const aside = new Set<Piece>();
  const chosen = new Map<string, Piece>();
  for (const piece of pieces) {
    const id = piece.record && isPlaced(piece) ? idOf(piece.record) : undefined;
    if (id === undefined) continue;
    const other = chosen.get(id);
    const loser = other && (other.range.start < context.resumeAt ? piece : other);
    if (loser !== piece) chosen.set(id, piece);
    if (!loser) continue;
    aside.add(loser);
    const where = loser === piece ? 'before' : 'later';
    skipped.push({ line: loser.line, reason: `another record with the id ${id} stands ${where}: that one is read, this one is kept aside` });
  }
  /** By their number, as records of version 1 name each other: the header counts. */
  const numbered = pieces.filter(({ record, sort }) => sort === 'record' && record !== undefined);
  const placed = new Map<Piece, TreeRecord>();
  const records: TreeRecord[] = [];
  let repeats = pieces.length * mostRepeats;
  let previous: TreeRecord | undefined;

  for (const piece of pieces) {
    if (!isPlaced(piece) || aside.has(piece) || placed.has(piece)) continue;
    for (const one of wayTo(piece)) place(one);
  }
  return { pieces, records, aside, skipped, notes };

  /** The record and those before it on the way to the root that are not placed yet, root first. */
  function wayTo(piece: Piece): Piece[] {
    const way: Piece[] = [];
    const seen = new Set<Piece>();
    for (let at: Piece | undefined = piece; at && !placed.has(at) && !seen.has(at); at = parentPiece(at)) {
      seen.add(at);
      way.push(at);
    }
    return way.reverse();
  }

  function parentPiece({ record }: Piece): Piece | undefined {
    return typeof record?.parentId === 'string' ? chosen.get(record.parentId) : undefined;
  }

  function place(piece: Piece): void {
    const record = piece.record as JsonObject;
    const parent = parentOf(piece, record);
    const name = nameOf(record, bytesIn(file, piece));
    const stored = piece.range.start < context.resumeAt || ((parent === null || parent.stored) && context.known.has(name));
    const at = timeOf(record);
    const node: Mutable<TreeRecord> = { name, piece, part: partOf(record), parent, stored };
    if (at !== undefined) node.at = at;
    if (node.part === 'compaction') {
      const kept = keptBy(node, record);
      if (kept.length > 0) node.kept = kept;
    }
    placed.set(piece, node);
    records.push(node);
    previous = node;
  }

  function parentOf(piece: Piece, record: JsonObject): TreeRecord | null {
    if (idOf(record) === undefined) return previous ?? null;
    if (typeof record.parentId !== 'string') return null;
    const found = placed.get(chosen.get(record.parentId) as Piece);
    if (!found) notes.push({ line: piece.line, reason: `what it follows, ${record.parentId}, is not there: read as a beginning` });
    return found ?? null;
  }

  /** What the model still sees of the records before a compaction. */
  function keptBy(node: TreeRecord, record: JsonObject): readonly TreeRecord[] {
    const first = typeof record.firstKeptEntryIndex === 'number' ? numbered[record.firstKeptEntryIndex] : undefined;
    const firstId = record.firstKeptEntryId;
    const kept: TreeRecord[] = [];
    for (let at = node.parent; at && 'piece' in at; at = at.parent) {
      if (repeats-- <= 0) {
        notes.push({ line: node.piece.line, reason: 'compactions of this file keep more than can be repeated: what this one keeps is left out' });
        return [];
      }
      if (isSent(at.piece.record as JsonObject)) kept.push(at);
      const isFirst = first ? at.piece === first : typeof firstId === 'string' && idOf(at.piece.record as JsonObject) === firstId;
      if (isFirst) return kept.reverse();
    }
    if (typeof firstId === 'string' && firstId !== record.id)
      notes.push({ line: node.piece.line, reason: `the first record that it keeps, ${firstId}, is not before it: it keeps none` });
    return [];
  }
}

const isPlaced = ({ record, sort }: Piece): boolean => sort === 'record' && record !== undefined && isChained(record) && !isHeader(record);
