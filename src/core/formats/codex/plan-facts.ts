import { type ByteRange, defined, inWords, isObject, type JsonObject, stringAt, type Timestamp } from '../../base/index.js';
import type { FileBytes, Mutable, Problem } from '../format.js';
import { identifyRecord } from '../shared/copies.js';
import { clip } from '../shared/headline.js';
import { eachPiece } from '../shared/jsonl.js';
import { startedWith } from '../shared/keys.js';
import { joinParts } from '../shared/result-parts.js';
import {
  dialect,
  endsSummary,
  folderOf,
  isAnswer,
  isPrompt,
  isUnknown,
  isVoid,
  type Names,
  nameInTurn,
  promptText,
  type RolloutLine,
  readLine,
  readTexts,
  type Sort,
  saidIn,
  startsTurn,
  turnOf,
} from './schema.js';
import { findOrigin, isReplayed, type Origin } from './schema-replay.js';

/** The facts of a line that a plan needs. The line is read again if its entries are needed. */
export interface LineFact {
  readonly line: number;
  readonly range: ByteRange;
  readonly sort: Sort | 'blank' | 'copy' | 'torn' | 'half';
  readonly at?: Timestamp;
  readonly ordinal?: number;
  readonly turn?: string;
  readonly startsTurn?: true;
  readonly item?: ItemFact;
  /** The number of turns of the user that are taken back. */
  readonly rolledBack?: number;
  readonly compaction?: { readonly isOwnAnswer: boolean };
  readonly meta?: RolloutSession;
  readonly cwd?: string;
  readonly title?: string;
  /** The subagents that started here, by the names under which they look for their call. */
  readonly starts?: readonly string[];
  /** The line itself, if the file is small. */
  readonly held?: RolloutLine;
}

export interface ItemFact {
  readonly name: Names;
  /** A person's text on one line; empty if the message is only an image. */
  readonly prompt?: string;
  readonly isAnswer?: true;
  /** The model's text on one line, for a turn without a prompt. */
  readonly said?: string;
  readonly isCompactionAnswer?: true;
  /** Nothing of the item is left but its place. */
  readonly isVoid?: true;
}

export interface RolloutSession {
  readonly id?: string;
  readonly startedAt?: Timestamp;
  /** The rollout that this one continues, and the position in it. Earlier lines are not in this file. */
  readonly base?: { readonly rollout: string; readonly end: number };
  /** The role of a subagent; empty if it has no role. */
  readonly subagent?: string;
  /** The session began as a copy of another one. */
  readonly isFork?: true;
  /** The session whose lines this file repeats. */
  readonly origin?: Origin;
}

/** Lines of files up to this size stay in memory. Larger files are read again, one commit at a time. */
const usuallyHeld = 12 * 1024 * 1024;

/** Reads a file once, a part at a time. `areHeld`: the facts contain the lines. */
export function gatherFacts(file: FileBytes) {
  const areHeld = file.length <= usuallyHeld;
  const facts: LineFact[] = [];
  const unknown = new Map<string, Problem>();
  let turn = '';
  let lastSaid = '';
  const seen = eachPiece(file, dialect, { mayGrow: true, identity: identityIn }, ({ line, range, sort, record }) => {
    if (!record) {
      facts.push({ line, range, sort: sort === 'request' || sort === 'record' ? 'other' : sort });
      return;
    }
    if (isUnknown(record) && !unknown.has(record.type)) {
      const reason = `lines of the type ${inWords(record.type)} are unknown: they are kept, and have no entries`;
      unknown.set(record.type, { line, reason });
    }
    const read = readLine(record);
    const fact = factOf({ line, range }, read, turn, lastSaid);
    turn = fact.turn ?? turn;
    if (read.sort === 'item') lastSaid = saidIn(read.payload);
    if (typeof record.ordinal === 'number') fact.ordinal = record.ordinal;
    if (areHeld) fact.held = read;
    facts.push(fact);
  });
  return { ...seen, facts, notes: [...seen.notes, ...unknown.values()], areHeld };
}

/** The agent writes several messages to the model at one time, so that two equal ones can be two. */
const identityIn = (record: JsonObject): string | undefined =>
  stringAt(record.payload, 'role') === 'developer' ? undefined : identifyRecord(record);

/** The facts of a single line. `running`: the turn before it. */
function factOf(place: Pick<LineFact, 'line' | 'range'>, line: RolloutLine, running: string, lastSaid: string): Mutable<LineFact> {
  const { sort, payload, at } = line;
  const fact: Mutable<LineFact> = { ...place, sort };
  if (at !== undefined) fact.at = at;
  const cwd = folderOf(line);
  if (cwd !== undefined) fact.cwd = cwd;
  const turn = turnOf(line);
  if (turn !== undefined) fact.turn = turn;
  if (sort === 'item') fact.item = itemFact(line, turn ?? running);
  else if (sort === 'event') Object.assign(fact, eventFact(payload));
  else if (sort === 'meta') fact.meta = readSession(payload, at);
  else if (sort === 'compacted') fact.compaction = { isOwnAnswer: endsSummary(lastSaid, stringAt(payload, 'message') ?? '') };
  return fact;
}

function eventFact(event: JsonObject): Partial<LineFact> {
  if (startsTurn(event)) return { startsTurn: true };
  if (event.type === 'thread_rolled_back' && typeof event.num_turns === 'number') return { rolledBack: event.num_turns };
  const starts = startsIn(event);
  if (starts.length > 0) return { starts };
  const name = event.type === 'thread_name_updated' ? clip(stringAt(event, 'thread_name') ?? '') : undefined;
  return name === undefined ? {} : { title: name };
}

/** The subagents that a call started, as reported when the call is complete. Older versions use a separate event. */
function startsIn(event: JsonObject): readonly string[] {
  const { item } = event;
  if (event.type === 'item_completed' && isObject(item) && item.type === 'CollabAgentToolCall') {
    const threads = item.tool === 'spawn_agent' && Array.isArray(item.receiver_thread_ids) ? item.receiver_thread_ids : [];
    return threads.flatMap((thread) => (typeof thread === 'string' && typeof item.id === 'string' ? [startedWith(thread, item.id)] : []));
  }
  const [thread, call] = [stringAt(event, 'new_thread_id'), stringAt(event, 'call_id')];
  return event.type === 'collab_agent_spawn_end' && thread !== undefined && call !== undefined ? [startedWith(thread, call)] : [];
}

function itemFact({ payload: item, metadata, at }: RolloutLine, turn: string): ItemFact {
  const fact: Mutable<ItemFact> = { name: nameInTurn(item, turn, at) };
  if (isVoid(item)) fact.isVoid = true;
  if (isPrompt(item)) fact.prompt = clip(promptText(item)) ?? '';
  if (isAnswer(item)) fact.isAnswer = true;
  const said = fact.isAnswer && item.type === 'message' ? clip(joinParts(readTexts(item.content))) : undefined;
  if (said !== undefined) fact.said = said;
  if (metadata?.compaction_output === true) fact.isCompactionAnswer = true;
  return fact;
}

/** The session that a session line describes. */
export function readSession(meta: JsonObject, at: Timestamp | undefined): RolloutSession {
  const id = stringAt(meta, 'id');
  const { history_base: base } = meta;
  const rollout = stringAt(base, 'thread_id');
  const end = isObject(base) && typeof base.end_ordinal_exclusive === 'number' ? base.end_ordinal_exclusive : undefined;
  const subagent = subagentOf(meta);
  const origin = findOrigin({ payload: meta, at });
  return defined({
    id: id?.slice(0, maxNameLength) || undefined,
    startedAt: at,
    base: rollout === undefined || end === undefined ? undefined : { rollout, end },
    subagent,
    isFork: subagent !== undefined || origin !== undefined ? (true as const) : undefined,
    origin: origin?.session === id ? undefined : origin,
  });
}
const maxNameLength = 200;

/** The role of the session's subagent; undefined if a person started the session. */
function subagentOf(meta: JsonObject): string | undefined {
  const source = isObject(meta.source) ? meta.source.subagent : undefined;
  if (source === undefined && stringAt(meta, 'parent_thread_id') === undefined) return undefined;
  const spawned = isObject(source) ? source.thread_spawn : undefined;
  return stringAt(meta, 'agent_role') ?? stringAt(spawned, 'agent_role') ?? (typeof source === 'string' ? source : '');
}

/** The number of leading lines up to the last one that was copied from another session. */
export function copiedPrefix(facts: readonly LineFact[], { origin }: RolloutSession): number {
  let turn: string | undefined;
  let turnAt: Timestamp | undefined;
  let end = 0;
  for (const [at, fact] of facts.entries()) {
    if (fact.turn !== undefined && fact.turn !== turn) [turn, turnAt] = [fact.turn, fact.at];
    if (isReplayed(origin, turn, turnAt)) end = at + 1;
  }
  return end;
}

export type Ref = { readonly plan: number } | { readonly record: string };

/** Takes back the last `count` turns of the user. The tip moves to the start of the first of these turns. */
export function goBack(turns: (Ref | null)[], count: number, tip: Ref | null): { readonly tip: Ref | null; readonly isWhole: boolean } {
  const wanted = Math.max(0, Math.floor(count));
  if (wanted === 0) return { tip, isWhole: true };
  const taken = turns.splice(Math.max(0, turns.length - wanted));
  const [first] = taken;
  return { tip: first === undefined ? tip : first, isWhole: taken.length === wanted };
}

/** The prompts at which a rollback starts again. Each begins a turn, and the lines before it stay in the context. */
export function promptsTakenBack(facts: readonly LineFact[]): ReadonlySet<number> {
  const found = new Set<number>();
  const prompts: number[] = [];
  for (const [at, { item, rolledBack, compaction }] of facts.entries()) {
    if (item?.prompt !== undefined) prompts.push(at);
    if (compaction) prompts.length = 0;
    if (rolledBack === undefined || rolledBack < 1) continue;
    const [first] = prompts.splice(Math.max(0, prompts.length - Math.floor(rolledBack)));
    if (first !== undefined) found.add(first);
  }
  return found;
}
