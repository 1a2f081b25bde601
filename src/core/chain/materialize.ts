import { type Cached, sha256Of } from '../artifacts/index.js';
import { type ArtifactNo, atOnce, badRequest, type ContextId, parseJson, StemmaError, textOf, timestampOf } from '../base/index.js';
import type { Stop, Tier } from '../contract/index.js';
import {
  countsOf,
  countTokens,
  describeRaw,
  type Format,
  findFormat,
  formatOf,
  isHidden,
  joinLosses,
  type Losses,
  lossesOf,
  narrative,
  noLosses,
  type ParsedEntry,
  readerOf,
  recordOfKey as recordOf,
  tierOf,
  type WritableEntry,
  type WriteOptions,
} from '../formats/index.js';
import { provedRows } from '../store/index.js';
import type { Chain, ContextRow, Materialized, Step } from './chain.js';
import { entriesAlong } from './entries.js';
import { commitAt, commitOf } from './find.js';
import { outlineOf } from './outline.js';
import { type Walk, walk } from './walk.js';

export interface MaterializeInput {
  readonly id: ContextId | null;
  readonly format?: string | undefined;
  readonly stop?: Stop | undefined;
  /** The most that an account (`narrative`) may take. */
  readonly maxTokens?: number | undefined;
}

/** The format of an empty conversation where none is asked for. */
const emptyFormat = 'claude-code-v1';

/** A kept result is taken at its word: a row that is not what was written is none, and the result is made again (S15). */
export const keptResults = provedRows('materialized', [
  'context',
  'stop',
  'format',
  'project',
  'artifact',
  'tier',
  'messageCount',
  'tokenCount',
  'losses',
]);

/**
 * Puts a conversation together again out of its chain and keeps it as an artifact (seed, "Materialize").
 * @throws BAD_REQUEST for an unknown format, or a stop that is no ancestor.
 */
export function materialize(chain: Chain, input: MaterializeInput): Materialized {
  if (input.id === null) return materializeNothing(chain, formatOf(input.format ?? emptyFormat));
  chain.artifacts.expire();
  const tip = commitOf(chain, input.id);
  const target = targetOf(tip, input);
  const way = walk(chain, tip, input.stop);
  const recipe = recipeOf(target, input);
  const kept = chain.db.one<Kept & { losses: string | null }>(
    `SELECT artifact, tier, messageCount, tokenCount, losses FROM ${keptResults} WHERE context = ? AND stop = ? AND format = ?`,
    tip.seq,
    way.stop,
    recipe,
  );
  const about = kept && aboutOf(kept);
  const result = about ? { ...kept, about } : keep(chain, way, target, recipe);
  return {
    artifactRef: chain.artifacts.stat(result.artifact).ref,
    format: target.id,
    contentType: target.contentType,
    tier: result.tier,
    messageCount: result.messageCount,
    tokenCount: result.tokenCount,
    cached: about !== undefined,
    commits: way.contributing.map((step) => step.id),
    ...result.about,
  };
}

/** What a kept result could not take along. Undefined where that does not read, or was kept before it was counted, unless it can be nothing. */
function aboutOf({ losses, tier }: Kept & { readonly losses: string | null }): About | undefined {
  if (losses === null) return tier === 'native' ? noLosses : undefined;
  return parseJson(losses) as About | undefined;
}

/** A format by name; without one, or by the commit's own, whatever that is. */
function targetOf(tip: ContextRow, { format = tip.format, maxTokens }: MaterializeInput): Format {
  const target = format === tip.format ? readerOf(format) : formatOf(format);
  if (maxTokens !== undefined && target.id !== narrative.id)
    throw badRequest('maxTokens', `only a ${narrative.id} fits a budget: ${target.id} holds every turn`);
  return target;
}

/** What a kept result is one of: a format, and the budget where there is one. */
const recipeOf = (target: Format, { maxTokens }: MaterializeInput): string => (maxTokens === undefined ? target.id : `${target.id}@${maxTokens}`);
const readRecipe = (recipe: string): { format: string; options: AssembleOptions } => {
  const [format = '', budget] = recipe.split('@');
  return { format, options: budget === undefined ? {} : { maxTokens: Number(budget) } };
};

interface Kept {
  readonly artifact: ArtifactNo;
  readonly tier: Tier;
  readonly messageCount: number;
  readonly tokenCount: number;
}
type About = Omit<Assembled, 'bytes' | 'tier'>;

/** The bytes of a materialized conversation, from the cache where it is there and sound. */
export function materializedBytes(
  chain: Chain,
  input: MaterializeInput,
): { readonly bytes: Uint8Array; readonly tier: Tier; readonly format: Format } {
  const { artifactRef, tier, format } = materialize(chain, input);
  return { bytes: chain.artifacts.read(chain.artifacts.find(artifactRef)), tier, format: readerOf(format) };
}

/** A conversation put together: how well it could be had, and what it could not take along. */
export interface Assembled extends Losses {
  readonly bytes: Uint8Array;
  readonly tier: Tier;
  /** Of a raw result: what is known of its format. */
  readonly description?: string;
}

/**
 * Puts together without keeping: what a cache is compared with, and what an exporter reads once. Each delta is had as well as it can be
 * (C7): what is in the asked format stays as it was written, an older version of it is mapped field by field, all else is written anew.
 */
export function assemble(chain: Chain, way: Walk, target: Format, options: AssembleOptions = {}): Assembled {
  const { contributing } = way;
  const tier = tierAlong(contributing, target);
  if (tier === 'native') {
    const bytes = target.concat(chain.artifacts.readAll(contributing.map((step) => step.artifact)));
    const isUnknown = findFormat(target.id) === undefined;
    return { bytes, ...noLosses, ...(isUnknown ? { tier: 'raw', description: describeRaw(target.id, bytes) } : { tier }) };
  }
  const writing = { newId: idsOf(way.tip.id), now: timestampOf(way.tip.createdAt), ...options };
  const all = entriesAlong(chain, contributing);
  const pieces: Uint8Array[] = [];
  const lost: Losses[] = [];
  for (const { how, steps } of runsOf(contributing, target)) {
    if (how.kept) pieces.push(...chain.artifacts.readAll(steps.map((step) => step.artifact)).map(how.kept));
    else {
      const entries = steps.flatMap((step) => (all.get(step) ?? []).map((entry) => introduced(entry, step.format, target)));
      lost.push(lossesOf(entries, target));
      const parentRecord = endOf(pieces.at(-1), target);
      const shown = entries.filter((entry) => !isHidden(entry)).map(writable);
      pieces.push(target.write(shown, { ...writing, ...(parentRecord !== undefined && { parentRecord }) }));
    }
  }
  const [only] = pieces;
  return { bytes: pieces.length === 1 && only ? only : target.concat(pieces), tier, ...joinLosses(lost) };
}
export type AssembleOptions = Pick<WriteOptions, 'maxTokens'>;

/** From the best to the worst. */
const tierRanks: readonly Tier[] = ['native', 'translated', 'rendered', 'raw'];

/** How well all of these can be had in the format: as well as the worst of them. */
export function tierAlong(steps: readonly Pick<Step, 'format'>[], target: Format): Tier {
  const tiers = new Set(steps.map((step) => tierOf(step.format, target)));
  return tierRanks.findLast((tier) => tiers.has(tier)) ?? 'native';
}

interface Run {
  /** Kept as bytes, as they are or from an older version; else written from entries. */
  readonly how: { readonly kept?: (delta: Uint8Array) => Uint8Array };
  readonly steps: Step[];
}

/** Commits that are had in one way and follow each other: what is written anew is written together, so that calls find their results. */
function runsOf(contributing: readonly Step[], target: Format): readonly Run[] {
  const runs: Run[] = [];
  for (const step of contributing) {
    const upgrade = target.older?.find(({ id }) => id === step.format)?.upgrade;
    const kept = step.format === target.id ? asItIs : upgrade;
    const last = runs.at(-1);
    if (last && last.how.kept === kept) last.steps.push(step);
    else runs.push({ how: kept ? { kept } : {}, steps: [step] });
  }
  return runs;
}
const asItIs = (delta: Uint8Array): Uint8Array => delta;

/** Documents and what nobody here can read become no turns: they are told as what a previous session knew. */
function introduced(entry: ParsedEntry, stored: string, target: Format): ParsedEntry {
  const reader = findFormat(stored);
  if (reader?.tier !== 'rendered' || target.tier === 'rendered' || entry.text === undefined) return entry;
  return { ...entry, text: `What the previous session knew:\n\n${entry.text}`, marks: [...(entry.marks ?? []), 'meta'] };
}

/** The record that what is written next goes on from. */
function endOf(piece: Uint8Array | undefined, target: Format): string | undefined {
  const last = piece && target.parse(piece).entries.at(-1);
  return last && recordOf(last.key);
}

/** A parsed entry as writers take it. */
export const writable = ({ tokens: _, raw: __, ...entry }: ParsedEntry): WritableEntry => entry;

/** UUIDs that are a function of a name, so that a materialization is one of its chain alone. */
export function idsOf(name: string): () => string {
  let number = 0;
  return () => {
    const hex = sha256Of(`${name}\0${number++}`).toString('hex');
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
  };
}

/** Makes the bytes of a dropped snapshot again, for the artifact store. */
export function remakeSnapshot(chain: Chain, artifact: ArtifactNo): Uint8Array | undefined {
  const recipe = chain.db.one<{ context: ContextRow['seq']; stop: Walk['stop']; format: string }>(
    `SELECT context, stop, format FROM ${keptResults} WHERE artifact = ?`,
    artifact,
  );
  if (!recipe) return undefined;
  const { format, options } = readRecipe(recipe.format);
  return assemble(chain, walk(chain, commitAt(chain, recipe.context), recipe.stop), readerOf(format), options).bytes;
}

type KeptAnew = Kept & { readonly about: About };

function keep(chain: Chain, way: Walk, target: Format, recipe: string): KeptAnew {
  const steps = inParts(chain, way, target);
  return note(chain, way, target, recipe, steps ? atOnce(steps) : whole(chain, way, target, recipe));
}

/**
 * Keeps what a walk gives, in steps between which others may work, where it is put together delta by delta; else it does nothing.
 * True where it is kept now.
 */
export function* keepInSteps(chain: Chain, way: Walk, target: Format): Generator<undefined, boolean> {
  const steps = inParts(chain, way, target);
  if (!steps) return false;
  note(chain, way, target, target.id, yield* steps);
  return true;
}

/** Names a result, so that it is found by what it is a function of. */
function note(chain: Chain, way: Walk, target: Format, recipe: string, { content, tier, told, about }: Made): KeptAnew {
  const messageCount = way.contributing.reduce((sum, step) => sum + messagesOf(chain, step), 0);
  const tokenCount = told ?? way.contributing.reduce((sum, step) => sum + step.tokenCount, 0);
  return chain.artifacts.transaction(() => {
    const { no } = chain.artifacts.putCache(content, target.contentType);
    chain.db.run(
      `INSERT OR REPLACE INTO materialized (context, stop, format, project, artifact, tier, messageCount, tokenCount, losses)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      way.tip.seq,
      way.stop,
      recipe,
      chain.project,
      no,
      tier,
      messageCount,
      tokenCount,
      tier === 'native' ? null : JSON.stringify(about),
    );
    return { artifact: no, tier, messageCount, tokenCount, about };
  });
}

/** A result that is to be kept; `told` are the tokens of one that says less than its commits do. */
interface Made {
  readonly content: Uint8Array | Cached;
  readonly tier: Tier;
  readonly told?: number;
  readonly about: About;
}

function whole(chain: Chain, way: Walk, target: Format, recipe: string): Made {
  const { bytes, tier, ...about } = assemble(chain, way, target, readRecipe(recipe).options);
  return { content: bytes, tier, about, ...(findFormat(target.id)?.tier === 'rendered' ? { told: countTokens(textOf(bytes)) } : {}) };
}

/**
 * Deltas of a format in which one is appended to the other are put together one by one, and never held whole: from a result that an
 * ancestor had, if there is one, else from all of them. Undefined where that is no way to the bytes that `assemble` gives.
 */
function inParts(chain: Chain, way: Walk, { id, concatParts }: Format): Generator<undefined, Made> | undefined {
  const steps = way.contributing;
  if (!concatParts || !findFormat(id) || !steps.every((step) => step.format === id)) return undefined;
  return writtenFrom(chain, way, id, concatParts);
}

function* writtenFrom(chain: Chain, way: Walk, format: string, concatParts: NonNullable<Format['concatParts']>): Generator<undefined, Made> {
  const { artifacts } = chain;
  const wholeDeltas = (some: readonly Step[]) => eachWhole(artifacts.readInTurn(some.map((step) => step.artifact)));
  const made = function* (deltas: Iterable<Iterable<Uint8Array>>): Generator<undefined, Made> {
    return { content: yield* artifacts.writeCache(concatParts(deltas)), tier: 'native', about: noLosses };
  };
  for (const earlier of earlierResults(chain, way, format))
    try {
      return yield* made(oneThen(artifacts.readParts(earlier.artifact), wholeDeltas(earlier.rest)));
    } catch (error) {
      // It was dropped from the cache: an earlier one may be there, and all of the walk is.
      if (!(error instanceof StemmaError && error.code === 'NOT_FOUND')) throw error;
    }
  return yield* made(wholeDeltas(way.contributing));
}

function* eachWhole(deltas: Iterable<Uint8Array>): Generator<Iterable<Uint8Array>> {
  for (const delta of deltas) yield [delta];
}

function* oneThen<T>(one: T, others: Iterable<T>): Generator<T> {
  yield one;
  yield* others;
}

/** Walks that are shorter are put together faster than an earlier result is looked for and read. */
const longWalk = 64;
/** Results that were dropped from the cache are passed over; after so many of them the walk itself is faster. */
const mostTried = 4;

interface Earlier {
  readonly artifact: ArtifactNo;
  /** What came after it. */
  readonly rest: readonly Step[];
}

/** Results that ancestors had with the same stop and format, the nearest first. */
function earlierResults(chain: Chain, way: Walk, format: string): Earlier[] {
  const steps = way.contributing;
  const [first] = steps;
  const last = steps.at(-1);
  if (!first || !last || steps.length < longWalk) return [];
  // A walk of deltas alone from the root is the same by either stop.
  const isAll = way.stop !== 'compaction' ? steps.length === way.tip.depth + 1 : first.parent === null && first.type !== 'compaction';
  const stops = isAll && (way.stop === 'root' || way.stop === 'compaction') ? ['root', 'compaction'] : [way.stop];
  const found: Earlier[] = [];
  for (const { context, artifact } of chain.db.each<{ context: ContextRow['seq']; artifact: ArtifactNo }>(
    `SELECT context, artifact FROM ${keptResults}
      WHERE context BETWEEN ? AND ? AND project = ? AND stop IN (SELECT value FROM json_each(?)) AND format = ? AND tier = 'native'
      ORDER BY context DESC`,
    first.seq,
    last.seq,
    chain.project,
    JSON.stringify(stops),
    format,
  )) {
    const place = placeIn(steps, context);
    if (place !== undefined && found.push({ artifact, rest: steps.slice(place + 1) }) === mostTried) break;
  }
  return found;
}

/** Where a commit stands in a walk: each is numbered after those before it. */
function placeIn(steps: readonly Step[], seq: ContextRow['seq']): number | undefined {
  let [from, to] = [0, steps.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((steps[middle]?.seq ?? 0) < seq) from = middle + 1;
    else to = middle;
  }
  return steps[from]?.seq === seq ? from : undefined;
}

/** C6: no commit at all is the empty conversation. */
function materializeNothing(chain: Chain, target: Format): Materialized {
  const { ref } = chain.artifacts.transaction(() => chain.artifacts.putCache(target.concat([]), target.contentType));
  return {
    artifactRef: ref,
    format: target.id,
    contentType: target.contentType,
    tier: 'native',
    messageCount: 0,
    tokenCount: 0,
    cached: false,
    commits: [],
    ...noLosses,
  };
}

/** A compaction's own count is 0 (C9), but in a materialization its summary is a message like any other. */
const messagesOf = (chain: Chain, step: Step): number =>
  step.type === 'compaction' ? countsOf(outlineOf(chain, step.artifact, step.format)).messages : step.messageCount;
