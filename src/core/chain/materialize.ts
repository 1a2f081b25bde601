import { type Cached, refOf, refOfHash } from '../artifacts/index.js';
import {
  type ArtifactNo,
  type ArtifactRef,
  atOnce,
  badRequest,
  type ContextId,
  decodeText,
  firstWhere,
  parseJson,
  StemmaError,
} from '../base/index.js';
import type { InputOf, Tier } from '../contract/index.js';
import { countOutline, countTokens, type Format, findFormat, findReader, narrative, noLosses, requireFormat } from '../formats/index.js';
import { matchingRows } from '../store/index.js';
import { type Assembled, type AssembleOptions, assemble } from './assemble.js';
import { type ContextRow, type Materialized, type NewResult, offer, type ReadChain, type Step, type WriteChain } from './chain.js';
import { commitAt, findCommit } from './find.js';
import { readOutline } from './outline.js';
import { contributingIds, type Walk, walk } from './walk.js';

export type MaterializeInput = InputOf<'context.materialize'>;

const emptyFormat = 'claude-code-v1';

/** Cached results whose checksum matches. A damaged row counts as missing, and the result is rebuilt (S15). */
export const keptResults = matchingRows('materialized', 'context stop format project artifact tier messageCount tokenCount losses'.split(' '));

/** A materialized conversation: a stored result, or one that is not stored yet. */
interface Found extends Pick<NewResult, 'tier' | 'messageCount' | 'tokenCount'> {
  readonly way: () => Walk;
  readonly target: Format;
  readonly stored: ArtifactNo | undefined;
  /** What the writer stores of a new result. */
  readonly fresh: NewResult | undefined;
  readonly ref: ArtifactRef;
  readonly about: About;
  /** The ids of the commits whose content it contains, root first. */
  readonly commits: () => readonly ContextId[];
}

/**
 * Assembles a conversation from its chain and caches it as an artifact.
 * @throws BAD_REQUEST for an unknown format, or a stop that is not an ancestor.
 */
export function materialize(chain: WriteChain, input: MaterializeInput): Materialized {
  chain.artifacts.expire();
  if (input.id === null) {
    const empty = emptyOf(input);
    chain.artifacts.transaction(() => chain.artifacts.putCache(empty.content, empty.contentType));
    return empty.result;
  }
  const found = findResult(chain, input.id, input);
  if (found.fresh) saveResult(chain, found.fresh);
  return describe(found);
}

/** The same for a reader: it offers a new result to the writer, which stores it before the answer. */
export function readMaterialized(chain: ReadChain, input: MaterializeInput): Materialized {
  if (input.id === null) {
    const { result, content, contentType } = emptyOf(input);
    offer(chain, { kind: 'object', content, contentType });
    return result;
  }
  return describe(offered(chain, findResult(chain, input.id, input)));
}

/** The bytes of a materialized conversation, from the cache if possible. */
export function materializedBytes(chain: ReadChain, input: MaterializeInput & { readonly id: ContextId }) {
  const found = offered(chain, findResult(chain, input.id, input));
  const { target, tier, stored, fresh, way } = found;
  const format = findReader(target.id);
  if (stored !== undefined) return { bytes: chain.artifacts.read(stored), tier, format };
  const content = fresh?.content;
  const bytes = content instanceof Uint8Array ? content : content && chain.artifacts.readCached(content);
  return { bytes: bytes ?? assemble(chain, way(), target, readRecipe(recipeOf(target, input)).options).bytes, tier, format };
}

function offered(chain: ReadChain, found: Found): Found {
  if (found.fresh) offer(chain, { kind: 'result', ...found.fresh });
  return found;
}

const describe = ({ ref, target, tier, messageCount, tokenCount, stored, commits, about }: Found): Materialized => ({
  artifactRef: ref,
  format: target.id,
  contentType: target.contentType,
  tier,
  messageCount,
  tokenCount,
  cached: stored !== undefined,
  commits: [...commits()],
  ...about,
});

function findResult(chain: ReadChain, id: ContextId, input: MaterializeInput): Found {
  const tip = findCommit(chain, id);
  const target = chooseTarget(tip, input);
  const recipe = recipeOf(target, input);
  const { stop = 'compaction' } = input;
  // The stop of a walk has its full id, and must be an ancestor.
  const walked = stop === 'compaction' || stop === 'root' ? undefined : walk(chain, tip, stop);
  const way = (): Walk => walked ?? walk(chain, tip, stop);
  return keptResult(chain, tip, walked?.stop ?? stop, target, recipe, way) ?? freshResult(chain, way(), target, recipe);
}

/** A stored result. While the content of an expired object is not removed, none is used: it may contain that content. */
function keptResult(chain: ReadChain, tip: ContextRow, stop: Walk['stop'], target: Format, recipe: string, way: () => Walk): Found | undefined {
  if (chain.artifacts.expiryIsDue()) return undefined;
  const sql = `SELECT artifact, tier, messageCount, tokenCount, losses FROM ${keptResults} WHERE context = ? AND stop = ? AND format = ?`;
  const kept = chain.db.one<Kept>(sql, tip.seq, stop, recipe);
  const about = kept && aboutOf(kept);
  if (!about) return undefined;
  const { artifact, tier, messageCount, tokenCount } = kept;
  const commits = (): ContextId[] => contributingIds(chain, tip, stop) ?? idsOf(way());
  return { way, target, stored: artifact, fresh: undefined, ref: chain.artifacts.stat(artifact).ref, tier, messageCount, tokenCount, about, commits };
}

const idsOf = ({ contributing }: Walk): ContextId[] => contributing.map(({ id }) => id);

function freshResult(chain: ReadChain, way: Walk, target: Format, recipe: string): Found {
  const steps = inParts(chain, way, target);
  return found(chain, way, target, recipe, steps ? atOnce(steps) : whole(chain, way, target, recipe));
}

function found(chain: ReadChain, way: Walk, target: Format, recipe: string, { content, tier, told, about }: Made): Found {
  const messageCount = way.contributing.reduce((sum, step) => sum + countMessages(chain, step), 0);
  const tokenCount = told ?? way.contributing.reduce((sum, step) => sum + step.tokenCount, 0);
  const losses = tier === 'native' ? null : JSON.stringify(about);
  const { contentType } = target;
  const counted = { tier, messageCount, tokenCount };
  return {
    target,
    ...counted,
    about,
    way: () => way,
    commits: () => idsOf(way),
    stored: undefined,
    fresh: { tip: way.tip.seq, stop: way.stop, recipe, content, contentType, losses, ...counted },
    ref: content instanceof Uint8Array ? refOf(content) : refOfHash(content.hash),
  };
}

/** Stores a result under its commit, stop and format. */
export function saveResult(chain: WriteChain, { tip, stop, recipe, content, contentType, tier, messageCount, tokenCount, losses }: NewResult): void {
  chain.artifacts.transaction(() => {
    const { no } = chain.artifacts.putCache(content, contentType);
    chain.db.run(
      `INSERT OR REPLACE INTO materialized (context, stop, format, project, artifact, tier, messageCount, tokenCount, losses)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      [tip, stop, recipe, chain.project, no, tier, messageCount, tokenCount, losses],
    );
  });
}

/** The stored losses of a cached result; undefined if they are missing or unreadable. A native result has none. */
function aboutOf({ losses, tier }: Kept): About | undefined {
  if (losses === null) return tier === 'native' ? noLosses : undefined;
  return parseJson(losses) as About | undefined;
}

/** The requested format, or the commit's own, which may be unknown. */
function chooseTarget(tip: ContextRow, { format = tip.format, maxTokens }: MaterializeInput): Format {
  const target = format === tip.format ? findReader(format) : requireFormat(format);
  if (maxTokens !== undefined && target.id !== narrative.id)
    throw badRequest('maxTokens', `Only ${narrative.id} has a token budget; ${target.id} contains every turn.`);
  return target;
}

/** The cache key of a result: the format, and the budget if one is given. */
const recipeOf = (target: Format, { maxTokens }: MaterializeInput): string => (maxTokens === undefined ? target.id : `${target.id}@${maxTokens}`);
const readRecipe = (recipe: string): { format: string; options: AssembleOptions } => {
  const [format = '', budget] = recipe.split('@');
  return { format, options: budget === undefined ? {} : { maxTokens: Number(budget) } };
};

type Kept = Pick<NewResult, 'tier' | 'messageCount' | 'tokenCount' | 'losses'> & { readonly artifact: ArtifactNo };
type About = Omit<Assembled, 'bytes' | 'tier'>;

/** Rebuilds the bytes of a dropped cached result for the artifact store. */
export function remakeSnapshot(chain: ReadChain, artifact: ArtifactNo): Uint8Array | undefined {
  const sql = `SELECT context, stop, format FROM ${keptResults} WHERE artifact = ?`;
  const [kept] = chain.db.rows<[ContextRow['seq'], Walk['stop'], recipe: string]>(sql, artifact);
  if (!kept) return undefined;
  const [context, stop, recipe] = kept;
  const { format, options } = readRecipe(recipe);
  return assemble(chain, walk(chain, commitAt(chain, context), stop), findReader(format), options).bytes;
}

/**
 * Caches the result of a walk if it can be built delta by delta. It yields between steps, so that other work can run.
 * Returns whether the result is cached now.
 */
export function* keepInSteps(chain: WriteChain, way: Walk, target: Format): Generator<undefined, boolean> {
  const steps = inParts(chain, way, target);
  const { fresh } = steps ? found(chain, way, target, target.id, yield* steps) : { fresh: undefined };
  if (fresh) saveResult(chain, fresh);
  return fresh !== undefined;
}

/** A result to cache. `told` is the token count of a rendered result, which contains less than its commits. */
interface Made {
  readonly content: Uint8Array | Cached;
  readonly tier: Tier;
  readonly told?: number;
  readonly about: About;
}

function whole(chain: ReadChain, way: Walk, target: Format, recipe: string): Made {
  const { bytes, tier, ...about } = assemble(chain, way, target, readRecipe(recipe).options);
  return { content: bytes, tier, about, ...(findFormat(target.id)?.tier === 'rendered' ? { told: countTokens(decodeText(bytes)) } : {}) };
}

/**
 * Streams the concatenation of deltas in formats that allow it, starting from an ancestor's cached result if one exists.
 * Undefined if the format does not concatenate, because then only `assemble` gives the right bytes.
 */
function inParts(chain: ReadChain, way: Walk, { id, concatParts }: Format): Generator<undefined, Made> | undefined {
  const steps = way.contributing;
  if (!concatParts || !findFormat(id) || !steps.every((step) => step.format === id)) return undefined;
  return writtenFrom(chain, way, id, concatParts);
}

function* writtenFrom(chain: ReadChain, way: Walk, format: string, concatParts: NonNullable<Format['concatParts']>): Generator<undefined, Made> {
  const { artifacts } = chain;
  const wholeDeltas = (some: readonly Step[]): Iterable<Iterable<Uint8Array>> =>
    Iterator.from(artifacts.readInTurn(some.map((step) => step.artifact))).map((delta) => [delta]);
  const made = function* (deltas: Iterable<Iterable<Uint8Array>>): Generator<undefined, Made> {
    return { content: yield* artifacts.writeCache(concatParts(deltas)), tier: 'native', about: noLosses };
  };
  for (const earlier of earlierResults(chain, way, format))
    try {
      return yield* made(oneThen(artifacts.readParts(earlier.artifact), wholeDeltas(earlier.rest)));
    } catch (error) {
      // The cache dropped this result. Try an earlier one, and finally build the whole walk.
      if (!(error instanceof StemmaError && error.code === 'NOT_FOUND')) throw error;
    }
  return yield* made(wholeDeltas(way.contributing));
}

function* oneThen<T>(one: T, others: Iterable<T>): Generator<T> {
  yield one;
  yield* others;
}

/** Building a shorter walk is faster than finding an earlier result. */
const longWalk = 64;
/** Number of earlier results to try. After that, building the whole walk is faster. */
const maxTried = 4;

/** Cached results of ancestors with the same stop and format, and the commits after them, nearest first. */
function earlierResults(chain: ReadChain, way: Walk, format: string): { readonly artifact: ArtifactNo; readonly rest: readonly Step[] }[] {
  const steps = way.contributing;
  const [first] = steps;
  const last = steps.at(-1);
  if (!first || !last || steps.length < longWalk || chain.artifacts.expiryIsDue()) return [];
  // Without compactions and snapshots, both stops give the same walk.
  const isAll = way.stop !== 'compaction' ? steps.length === way.tip.depth + 1 : first.parent === null && first.type !== 'compaction';
  const stops = isAll && (way.stop === 'root' || way.stop === 'compaction') ? ['root', 'compaction'] : [way.stop];
  const found: ReturnType<typeof earlierResults> = [];
  for (const { context, artifact } of chain.db.each<{ context: ContextRow['seq']; artifact: ArtifactNo }>(
    `SELECT context, artifact FROM ${keptResults}
      WHERE context BETWEEN ? AND ? AND project = ? AND stop IN (SELECT value FROM json_each(?)) AND format = ? AND tier = 'native'
      ORDER BY context DESC`,
    [first.seq, last.seq, chain.project, JSON.stringify(stops), format],
  )) {
    const place = placeIn(steps, context);
    if (place !== undefined && found.push({ artifact, rest: steps.slice(place + 1) }) === maxTried) break;
  }
  return found;
}

/** Finds a commit in a walk; row numbers ascend along a walk. */
function placeIn(steps: readonly Step[], seq: ContextRow['seq']): number | undefined {
  const place = firstWhere(0, steps.length, (at) => (steps[at] as Step).seq >= seq);
  return steps[place]?.seq === seq ? place : undefined;
}

/** C6: without a commit, the result is the empty conversation. */
function emptyOf({ format = emptyFormat }: MaterializeInput) {
  const { id, contentType, concat } = requireFormat(format);
  const content = concat([]);
  const nothing = { messageCount: 0, tokenCount: 0, cached: false, commits: [], ...noLosses };
  const result: Materialized = { artifactRef: refOf(content), format: id, contentType, tier: 'native', ...nothing };
  return { result, content, contentType };
}

/** A compaction has a message count of 0 (C9), but in a materialization its summary counts as a message. */
const countMessages = (chain: ReadChain, step: Step): number =>
  step.type === 'compaction' ? countOutline(readOutline(chain, step)).messages : step.messageCount;
