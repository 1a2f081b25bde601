import { refOf, refOfHash } from '../artifacts/index.js';
import { type ArtifactNo, type ArtifactRef, atOnce, badRequest, type ContextId, decodeText, parseJson, StemmaError } from '../base/index.js';
import type { InputOf } from '../contract/index.js';
import { countOutline, countTokens, type Format, findFormat, findReader, narrative, noLosses, requireFormat } from '../formats/index.js';
import { matchingRows } from '../store/index.js';
import { type Assembled, type AssembleOptions, assemble } from './assemble.js';
import { type ContextRow, type Materialized, type NewResult, offer, type ReadChain, type Step, type WriteChain } from './chain.js';
import { commitAt, findCommit, rangesTowardsRoot, windowRanges } from './find.js';
import { readOutline } from './outline.js';
import { contributingIds, newestFirst, stepsUntil, type Walk, walk } from './walk.js';

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
  let walked = stop === 'compaction' || stop === 'root' ? undefined : walk(chain, tip, stop);
  const way = (): Walk => {
    walked ??= walk(chain, tip, stop);
    return walked;
  };
  const asked: Asked = { tip, stop: walked?.stop ?? stop, target, recipe, way };
  return keptResult(chain, asked) ?? found(asked, atOnce(inParts(chain, asked)) ?? whole(chain, asked));
}

/** What to materialize. */
interface Asked extends Pick<Walk, 'tip' | 'stop'> {
  readonly target: Format;
  readonly recipe: string;
  readonly way: () => Walk;
}

/** A stored result. While the content of an expired object is not removed, none is used: it may contain that content. */
function keptResult(chain: ReadChain, asked: Asked): Found | undefined {
  const { tip, stop, target, recipe, way } = asked;
  if (chain.artifacts.expiryIsDue()) return undefined;
  const sql = `SELECT artifact, tier, messageCount, tokenCount, losses FROM ${keptResults} WHERE context = ? AND stop = ? AND format = ?`;
  const kept = chain.db.one<Kept>(sql, tip.seq, stop, recipe);
  const about = kept && aboutOf(kept);
  if (!about) return undefined;
  const { artifact, tier, messageCount, tokenCount } = kept;
  const { ref } = chain.artifacts.stat(artifact);
  const commits = (): ContextId[] => contributingIds(chain, tip, stop, 'unverified') ?? idsOf(way());
  return { way, target, stored: artifact, fresh: undefined, ref, tier, messageCount, tokenCount, about, commits };
}

const idsOf = ({ contributing }: Walk): ContextId[] => contributing.map(({ id }) => id);

function found({ tip, stop, target, recipe, way }: Asked, { content, about, commits, ...counted }: Made): Found {
  const losses = counted.tier === 'native' ? null : JSON.stringify(about);
  const { contentType } = target;
  return {
    target,
    ...counted,
    about,
    way,
    commits: () => commits,
    stored: undefined,
    fresh: { tip: tip.seq, stop, recipe, content, contentType, losses, ...counted },
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
export function* keepInSteps(chain: WriteChain, way: Walk): Generator<undefined, boolean> {
  const { tip, stop } = way;
  const asked = { tip, stop, target: findReader(tip.format), recipe: tip.format, way: () => way };
  const made = yield* inParts(chain, asked);
  const { fresh } = made ? found(asked, made) : {};
  if (fresh) saveResult(chain, fresh);
  return fresh !== undefined;
}

/** A result to cache. The token count of a rendered result is that of its text, which contains less than its commits. */
interface Made extends Pick<NewResult, 'content' | 'tier' | 'messageCount' | 'tokenCount'> {
  readonly about: About;
  readonly commits: readonly ContextId[];
}

function whole(chain: ReadChain, { way, target, recipe }: Asked): Made {
  const all = way();
  const { bytes, tier, ...about } = assemble(chain, all, target, readRecipe(recipe).options);
  const told = findFormat(target.id)?.tier === 'rendered' ? { tokenCount: countTokens(decodeText(bytes)) } : {};
  return { content: bytes, tier, about, commits: idsOf(all), ...countsOf(chain, all.contributing), ...told };
}

const countsOf = (
  chain: ReadChain,
  steps: readonly Step[],
  before = { messageCount: 0, tokenCount: 0 },
): Pick<Made, 'messageCount' | 'tokenCount'> => ({
  messageCount: steps.reduce((sum, step) => sum + countMessages(chain, step), before.messageCount),
  tokenCount: steps.reduce((sum, step) => sum + step.tokenCount, before.tokenCount),
});

/**
 * Streams the concatenation of deltas in formats that allow it, starting from an ancestor's cached result if one exists: then the rows before it are
 * only verified. Undefined if the format does not concatenate, because then only `assemble` gives the right bytes.
 */
function* inParts(chain: ReadChain, asked: Asked): Generator<undefined, Made | undefined> {
  const { tip, stop, way } = asked;
  const { id, concatParts } = asked.target;
  if (!concatParts || !findFormat(id)) return undefined;
  const { artifacts } = chain;
  const earlierAt = earlierResults(chain, asked);
  for (;;) {
    const isShort = stop === 'compaction' && earlierAt.size > 0;
    const { found: earlier, rest } = stepsUntil(isShort ? newestFirst(chain, tip) : way().contributing.toReversed(), ({ seq }) => earlierAt.get(seq));
    if (!rest.every(({ format }) => format === id)) return undefined;
    const commits = (isShort ? contributingIds(chain, tip, stop) : undefined) ?? idsOf(way());
    const deltas = Iterator.from(artifacts.readInTurn(rest.map(({ artifact }) => artifact))).map((delta): Iterable<Uint8Array> => [delta]);
    try {
      const parts = earlier ? oneThen(artifacts.readParts(earlier.artifact), deltas) : deltas;
      const content = yield* artifacts.writeCache(concatParts(parts));
      return { content, tier: 'native', about: noLosses, commits, ...countsOf(chain, rest, earlier) };
    } catch (error) {
      // The cache dropped this result. Try an earlier one, and finally build the whole walk.
      if (!earlier || !(error instanceof StemmaError && error.code === 'NOT_FOUND')) throw error;
      earlierAt.delete(earlier.context);
    }
  }
}

function* oneThen<T>(one: T, others: Iterable<T>): Generator<T> {
  yield one;
  yield* others;
}

/** Building a shorter walk is faster than finding an earlier result. */
const longWalk = 64;
/** Number of earlier results to try. After that, building the whole walk is faster. */
const maxTried = 4;

interface Earlier extends Pick<Kept, 'artifact' | 'messageCount' | 'tokenCount'> {
  readonly context: ContextRow['seq'];
}

/** The last cached results of ancestors with the same stop and format, by commit. */
function earlierResults(chain: ReadChain, { tip, stop, target }: Asked): Map<ContextRow['seq'], Earlier> {
  const results = new Map<ContextRow['seq'], Earlier>();
  if (tip.depth < longWalk || chain.artifacts.expiryIsDue()) return results;
  const window = windowRanges(chain, tip);
  const ranges = stop === 'compaction' ? window : rangesTowardsRoot(chain, tip);
  const oldest = ranges.at(-1);
  if (!oldest || ranges.reduce((sum, { from, to }) => sum + to - from + 1, 0) < longWalk) return results;
  const select = 'SELECT seq, type FROM commits WHERE run = ? AND depth = ?';
  const first = chain.db.one<Pick<Step, 'seq' | 'type'>>(select, oldest.run, oldest.from);
  if (!first) return results;
  // Without compactions and snapshots, both stops give the same walk.
  const isAll = window.at(-1)?.from === 0 && first.type !== 'compaction';
  const stops = isAll && (stop === 'root' || stop === 'compaction') ? ['root', 'compaction'] : [stop];
  const rows = chain.db.each<Earlier & Pick<Step, 'run' | 'depth'>>(
    `SELECT k.context, k.artifact, k.messageCount, k.tokenCount, c.run, c.depth FROM ${keptResults} k JOIN commits c ON c.seq = k.context
      WHERE k.context BETWEEN ? AND ? AND k.project = ? AND k.stop IN (SELECT value FROM json_each(?)) AND k.format = ? AND k.tier = 'native'
        AND c.type = 'delta' ORDER BY k.context DESC`,
    [first.seq, tip.seq, chain.project, JSON.stringify(stops), target.id],
  );
  for (const row of rows) {
    if (ranges.some(({ run, from, to }) => run === row.run && from <= row.depth && row.depth <= to)) results.set(row.context, row);
    if (results.size === maxTried) break;
  }
  return results;
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
