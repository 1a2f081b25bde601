import { ORPCError } from '@orpc/server';
import { corrupt, isObject, StemmaError } from '../base/index.js';
import { damageHeader, writeDamage } from '../contract/index.js';
import { damageIn, malformedIn, markDamage, markDamagedTexts, refuseDamaged } from '../integrity/index.js';
import type { DamageWatch, ReadableDb } from '../store/index.js';

/** Procedures whose answers are verified elsewhere, by commit or by object, or hold no rows of the project that a name belongs to. */
const verifiedElsewhere = new Set('context usage search request analysis export import artifact project projects provider'.split(' '));
/** The field that names the row that a call is about: in the first group for every call, because many change the row. */
const subjectOfAll: Readonly<Record<string, string>> = { ticket: 'ticketId', card: 'cardId', box: 'boxId', experiment: 'experimentId' };
const subjectOfGet: Readonly<Record<string, string>> = { space: 'spaceId', run: 'runId', agent: 'agentId', job: 'jobId' };
/** Calls that show texts of these tables without the ids of their rows. */
const textsShown: Readonly<Record<string, readonly string[]>> = {
  'context.graph': ['branchMark'],
  'context.instantiations': ['instantiation'],
  'context.versions': ['contextVersion', 'commits'],
  'session.place': ['branchMark'],
  'template.get': ['template'],
  'template.list': ['template'],
  'profile.find': ['profile'],
  'profile.list': ['profile'],
  'box.list': ['profile', 'agent', 'card'],
  'runner.list': ['agent'],
  'runner.log': ['agent'],
  'ticket.facets': ['ticket', 'ticketVersion'],
  'ticket.startFrom': ['commits'],
  'turn.following': ['commits'],
  'turn.list': ['commits'],
  'ticket.events': ['ticketEvent', 'ticketAnswer'],
  'ticket.preview': ['ticketEvent', 'ticketAnswer', 'ticket', 'ticketVersion'],
  'run.goals': ['goal'],
  'run.memories': ['memory'],
  'run.timeline': ['goal', 'memory', 'plan', 'run', 'entity', 'space'],
  'run.preview': ['goal', 'memory', 'plan', 'run', 'entity', 'space'],
  'card.history': ['cardVersion'],
  'experiment.export': ['experimentVerdict', 'experimentResult'],
  'compose.restoreState': ['blackboard'],
  'card.facets': ['card'],
  'turn.reproduce': ['cardCall', 'turnInput'],
};

/** @throws CORRUPT for a call about one row whose checksum fails. */
export function refuseDamagedRow(db: ReadableDb, [namespace = '', procedure = '']: readonly string[], input: unknown): void {
  const field = subjectOfAll[namespace] ?? (procedure === 'get' ? subjectOfGet[namespace] : undefined);
  const id = field !== undefined && isObject(input) ? input[field] : undefined;
  if (field !== undefined && typeof id === 'string') refuseDamaged(db, field, id);
}

/** Marks what an answer shows of rows whose checksum fails. @throws CORRUPT for a turn whose record was damaged: nothing can be compared with it */
export function withDamage<T>(db: ReadableDb, path: readonly string[], output: T): T {
  const named = verifiedElsewhere.has(path[0] ?? '') ? output : markDamage(db, output);
  const texts = textsShown[path.join('.')];
  const marked = texts ? markDamagedTexts(db, texts, named) : named;
  // A setting is a number or a switch, so nothing in the answer could be compared with a text of its row.
  if (path.join('.') === 'project.settings' && db.damage().look(['setting']).rows.has('setting')) return { ...marked, damaged: true };
  if (marked !== output && path.join('.') === 'turn.reproduce') throw damageIn(db) ?? corrupt('turn', 'The record of this turn was damaged.');
  return marked !== output && composed.has(path.join('.')) ? { ...marked, damaged: true } : marked;
}

/** What the calls of a procedure have read on a connection: a later call may answer from what an earlier one left in memory. */
interface Reads {
  readonly statements: Set<string>;
  readonly tables: Set<string>;
}
const readsBy = new WeakMap<DamageWatch, Map<string, Reads>>();
/** More statements of a procedure are not remembered. */
const mostRemembered = 256;

/** The tables that the calls of a procedure have read, with those that these statements read. */
function tablesRead(damage: DamageWatch, name: string, statements: ReadonlySet<string>): ReadonlySet<string> {
  const known = readsBy.get(damage) ?? new Map<string, Reads>();
  readsBy.set(damage, known);
  const reads = known.get(name) ?? { statements: new Set(), tables: new Set() };
  known.set(name, reads);
  const others = [...statements].filter((sql) => !reads.statements.has(sql));
  for (const sql of others) if (reads.statements.size < mostRemembered) reads.statements.add(sql);
  if (others.length > 0) for (const table of damage.readBy(others)) reads.tables.add(table);
  return reads.tables;
}

/**
 * Names the damaged rows of the tables that a call read, beside its answer or refusal. `all` stands for a call whose statements are not known, such
 * as a stream at its start.
 */
export function tellDamage(headers: Pick<Headers, 'set'>, db: ReadableDb, path: readonly string[], read: ReadonlySet<string> | 'all'): void {
  const name = path.join('.');
  // Its answer names each row.
  if (name === 'project.check') return;
  const damage = db.damage();
  const { rows } = damage.look(read === 'all' ? undefined : tablesRead(damage, name, read));
  if (rows.size > 0) headers.set(damageHeader, writeDamage(rows));
}

/** Calls that answer with one text made of everything in the answer. */
const composed = new Set(['run.timeline', 'run.preview', 'ticket.preview']);

/** The damaged row, or the row without valid JSON, because of which a call failed in a way that no rule foresees; otherwise the error itself. */
export function damageBehind(db: ReadableDb | undefined, error: unknown): unknown {
  // An answer that breaks the contract may come from a damaged row, too.
  if (error instanceof StemmaError || (error instanceof ORPCError && error.code !== 'INTERNAL_SERVER_ERROR')) return error;
  return (db && (damageIn(db) ?? malformedIn(db))) ?? error;
}
