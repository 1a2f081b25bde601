import type { JsonObject, Timestamp } from '../../base/index.js';
import type { Mutable, PlanContext, PlannedCommit, Problem } from '../format.js';
import { maxRepeats, recordsBefore, type TreeRecord } from './branches.js';
import { saidBefore } from './copies.js';
import { entryIn, isEntryLine } from './entry-lines.js';
import { type RecordPiece, readTime } from './jsonl.js';
import { pathTo } from './plans.js';
import type { RecordPlace, RecordRules } from './record-rules.js';

type Rules = Pick<RecordRules<never>, 'place' | 'olderName' | 'keeps' | 'at' | 'continues' | 'oddities'>;

interface Placed {
  readonly piece: RecordPiece;
  readonly place: RecordPlace;
  readonly at: Timestamp | undefined;
}

interface Given {
  readonly rules: Rules;
  readonly context: PlanContext;
  readonly startedBy: PlannedCommit['startedBy'];
  readonly chosen: ReadonlyMap<string, Placed>;
  readonly notes: Problem[];
}

const newGrowth = (given: Given, repeats: number) => ({
  ...given,
  placed: new Map<RecordPiece, TreeRecord>(),
  records: [] as TreeRecord[],
  ends: new Map<string | undefined, TreeRecord>(),
  repeats,
});
type Growth = ReturnType<typeof newGrowth>;

/** Places the records of a file in their tree. Of records with the same name, the first is read. A cycle is cut. */
export function growRecords(rules: Rules, pieces: readonly RecordPiece[], context: PlanContext, startedBy: PlannedCommit['startedBy']) {
  const { chosen, order, aside, skipped, notes } = chooseRecords(rules, pieces);
  const growth = newGrowth({ rules, context, startedBy, chosen, notes }, pieces.length * maxRepeats);
  const isPlaced = ({ piece }: Placed): boolean => growth.placed.has(piece);
  const parentOf = ({ place: { parent } }: Placed): Placed | undefined => (typeof parent === 'string' ? chosen.get(parent) : undefined);
  for (const one of order) for (const step of pathTo(one, isPlaced, parentOf)) put(growth, step);
  return { records: growth.records, aside, skipped, notes: growth.notes };
}

function chooseRecords(rules: Rules, pieces: readonly RecordPiece[]) {
  const chosen = new Map<string, Placed>();
  const times = new Map<string, number>();
  const aside = new Set<RecordPiece>();
  const skipped: Problem[] = [];
  const notes: Problem[] = [];
  const order: Placed[] = [];
  /** The records of each name that several have. */
  const said = new Map<string, Set<string>>();
  const isSaid = (name: string, record: JsonObject | undefined): boolean => {
    const texts = said.get(name) ?? new Set([JSON.stringify(chosen.get(name)?.piece.record)]);
    const { size } = texts;
    said.set(name, texts.add(JSON.stringify(record)));
    return texts.size === size;
  };
  for (const piece of pieces) {
    const { record, sort } = piece;
    const place = record && sort === 'record' ? (isEntryLine(record) ? entryPlace(record) : rules.place(record)) : undefined;
    if (!place) continue;
    const { name } = place;
    const before = times.get(name) ?? 0;
    if (before > 0 && rules.continues && isSaid(name, record)) {
      aside.add(piece);
      notes.push({ line: piece.line, reason: saidBefore });
      continue;
    }
    if (before > 0 && !rules.continues) {
      aside.add(piece);
      skipped.push({ line: piece.line, reason: `Skipped: another record with the id ${name.slice(0, 100)} comes earlier and is read instead.` });
      continue;
    }
    times.set(name, before + 1);
    if (record && rules.oddities && !isEntryLine(record)) for (const reason of rules.oddities(record)) notes.push({ line: piece.line, reason });
    // The record's children come after the last of its name.
    if (before > 0) chosen.set(nth(name, before), chosen.get(name) as Placed);
    const at = record && (isEntryLine(record) ? readTime(record) : (rules.at ?? readTime)(record));
    const one = { piece, at, place: before === 0 ? place : { ...place, name: nth(name, before + 1), parent: nth(name, before) } };
    chosen.set(name, one);
    order.push(one);
  }
  return { chosen, order, aside, skipped, notes };
}

const nth = (name: string, number: number): string => `${name}~${number}`;

function entryPlace(record: JsonObject): RecordPlace {
  const { key, role, kind } = entryIn(record);
  if (kind === 'summary') return { name: key, part: 'compaction' };
  return { name: key, part: role === 'user' ? 'prompt' : role === 'assistant' ? 'answer' : role === 'tool' ? 'result' : 'lead' };
}

function put(growth: Growth, one: Placed): void {
  const { rules, context, placed, records, ends } = growth;
  const { piece, place, at } = one;
  const { part, others } = place;
  const parent = findParent(growth, one);
  const older = piece.record && isStored(parent) ? rules.olderName?.(piece.record, place.name) : undefined;
  const name = older !== undefined && context.known.has(older) ? older : place.name;
  // Looks up only the first record of a chain that the project does not contain.
  const stored = piece.range.start < context.resumeAt || (isStored(parent) && context.known.has(name));
  // Plain fields: a file has many records.
  const node: Mutable<TreeRecord> = { name, piece, part, parent, stored, at };
  if (others) node.others = others;
  const startedBy = place.startedBy ?? growth.startedBy;
  if (parent === null && startedBy) node.startedBy = startedBy;
  if (part === 'compaction' && rules.keeps) {
    const kept = keptBy(growth, node, piece.record as JsonObject);
    if (kept.length > 0) node.kept = kept;
  }
  placed.set(piece, node);
  records.push(node);
  ends.set(place.lane, node);
}

const isStored = (parent: TreeRecord['parent']): boolean => parent === null || !('piece' in parent) || parent.stored;

function findParent({ chosen, placed, ends, context, notes }: Growth, { piece, place }: Placed): TreeRecord['parent'] {
  const { parent, lane } = place;
  if (parent === undefined) return ends.get(lane) ?? null;
  if (parent === null) return null;
  const found = placed.get(chosen.get(parent)?.piece as RecordPiece);
  if (found) return found;
  if (context.known.has(parent)) return { record: parent };
  // A first record whose parent is nowhere does no harm: a fork or a cut file begins so.
  if (ends.size > 0) notes.push({ line: piece.line, reason: `the parent ${parent.slice(0, 100)} does not exist: read as a root` });
  return null;
}

function keptBy(growth: Growth, node: TreeRecord, record: JsonObject): readonly TreeRecord[] {
  const before = recordsBefore(growth, node);
  return (before && growth.rules.keeps?.(record, before)) ?? [];
}
