import { sha256Of } from '../artifacts/index.js';
import { type ArtifactNo, type ContextId, StemmaError, timestampOf } from '../base/index.js';
import type { Stop, Tier } from '../contract/index.js';
import { type Format, formatOf, type WritableEntry } from '../formats/index.js';
import type { Chain, ContextRow, Materialized } from './chain.js';
import { contextEntries } from './entries.js';
import { commitAt, commitOf } from './find.js';
import { countsOf, outlineOf, parsedOf } from './outline.js';
import { type Step, type Walk, walk } from './walk.js';

export interface MaterializeInput {
  readonly id: ContextId | null;
  readonly format?: string | undefined;
  readonly stop?: Stop | undefined;
}

/** The format of an empty conversation where none is asked for. */
const emptyFormat = 'claude-code-v1';

/**
 * Puts a conversation together again out of its chain and keeps it as an artifact (seed, "Materialize").
 * @throws BAD_REQUEST for an unknown format, or a stop that is no ancestor.
 */
export function materialize(chain: Chain, input: MaterializeInput): Materialized {
  if (input.id === null) return materializeNothing(chain, formatOf(input.format ?? emptyFormat));
  chain.artifacts.expire();
  const tip = commitOf(chain, input.id);
  const target = formatOf(input.format ?? tip.format);
  const way = walk(chain, tip, input.stop);
  const kept = chain.db.one<{ artifact: ArtifactNo; tier: Tier; messageCount: number; tokenCount: number }>(
    'SELECT artifact, tier, messageCount, tokenCount FROM materialized WHERE context = ? AND stop = ? AND format = ?',
    tip.seq,
    way.stop,
    target.id,
  );
  const commits = way.contributing.map((step) => step.id);
  const result = kept ?? keep(chain, way, target);
  return {
    artifactRef: chain.artifacts.stat(result.artifact).ref,
    format: target.id,
    contentType: target.contentType,
    tier: result.tier,
    messageCount: result.messageCount,
    tokenCount: result.tokenCount,
    cached: kept !== undefined,
    commits,
  };
}

/** The bytes of a materialized conversation, from the cache where it is there and sound. */
export function materializedBytes(
  chain: Chain,
  input: MaterializeInput,
): { readonly bytes: Uint8Array; readonly tier: Tier; readonly format: Format } {
  const { artifactRef, tier, format } = materialize(chain, input);
  return { bytes: chain.artifacts.read(chain.artifacts.find(artifactRef)), tier, format: formatOf(format) };
}

/** Puts together without keeping: what a cache is compared with, and what an exporter reads once. */
export function assemble(chain: Chain, way: Walk, target: Format): { readonly bytes: Uint8Array; readonly tier: Tier } {
  const native = (step: Step): boolean => step.format === target.id;
  if (way.contributing.every(native))
    return { bytes: target.concat(chain.artifacts.readAll(way.contributing.map((step) => step.artifact))), tier: 'native' };
  const options = { newId: idsOf(way.tip.id), now: timestampOf(way.tip.createdAt) };
  if (!way.contributing.some(native)) {
    const all = contextEntries(chain, { id: way.tip.id, stop: way.stop }).map(({ entry }) => writable(entry));
    return { bytes: target.write(all, options), tier: target.tier };
  }
  // C7: in a mixed chain what is in the asked format already stays as it was written.
  const deltas = way.contributing.map((step) =>
    native(step) ? chain.artifacts.read(step.artifact) : target.write(parsedOf(chain, step.artifact, step.format).entries.map(writable), options),
  );
  return { bytes: target.concat(deltas), tier: target.tier };
}

/** A parsed entry as writers take it. */
export const writable = ({ tokens: _, raw: __, ...entry }: ReturnType<typeof parsedOf>['entries'][number]): WritableEntry => entry;

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
    'SELECT context, stop, format FROM materialized WHERE artifact = ?',
    artifact,
  );
  if (!recipe) return undefined;
  return assemble(chain, walk(chain, commitAt(chain, recipe.context), recipe.stop), formatOf(recipe.format)).bytes;
}

function keep(chain: Chain, way: Walk, target: Format): { artifact: ArtifactNo; tier: Tier; messageCount: number; tokenCount: number } {
  const { bytes, tier } = continued(chain, way, target) ?? assemble(chain, way, target);
  const counts = way.contributing.reduce(
    (sum, step) => ({ messageCount: sum.messageCount + messagesOf(chain, step), tokenCount: sum.tokenCount + step.tokenCount }),
    { messageCount: 0, tokenCount: 0 },
  );
  return chain.artifacts.transaction(() => {
    const { no } = chain.artifacts.putCache(bytes, target.contentType);
    chain.db.run(
      'INSERT OR REPLACE INTO materialized (context, stop, format, project, artifact, tier, messageCount, tokenCount) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
      way.tip.seq,
      way.stop,
      target.id,
      chain.project,
      no,
      tier,
      counts.messageCount,
      counts.tokenCount,
    );
    return { artifact: no, tier, ...counts };
  });
}

/** Walks that are shorter are put together faster than an earlier result is looked for and read. */
const longWalk = 64;
/** How far back an earlier result is looked for, in commits. */
const lookBack = 4_096;

/**
 * The result that an ancestor had with the same stop and format, and what came after it: the same bytes as the whole walk
 * gives, since a format's own deltas are set one after the other. Undefined where there is none, or it cannot be read.
 */
function continued(chain: Chain, way: Walk, target: Format): { readonly bytes: Uint8Array; readonly tier: Tier } | undefined {
  const steps = way.contributing;
  if (steps.length < longWalk || !steps.every((step) => step.format === target.id)) return undefined;
  const earlier = chain.db.one<{ context: ContextRow['seq']; artifact: ArtifactNo }>(
    `SELECT context, artifact FROM materialized
      WHERE context IN (SELECT value FROM json_each(?)) AND stop = ? AND format = ? AND tier = 'native' ORDER BY context DESC LIMIT 1`,
    JSON.stringify(steps.slice(-lookBack).map((step) => step.seq)),
    way.stop,
    target.id,
  );
  if (!earlier) return undefined;
  const rest = steps.slice(steps.findIndex((step) => step.seq === earlier.context) + 1);
  try {
    return {
      bytes: target.concat([chain.artifacts.read(earlier.artifact), ...chain.artifacts.readAll(rest.map((step) => step.artifact))]),
      tier: 'native',
    };
  } catch (error) {
    if (error instanceof StemmaError && error.code === 'NOT_FOUND') return undefined;
    throw error;
  }
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
  };
}

/** A compaction's own count is 0 (C9), but in a materialization its summary is a message like any other. */
const messagesOf = (chain: Chain, step: Step): number =>
  step.type === 'compaction' ? countsOf(outlineOf(chain, step.artifact, step.format)).messages : step.messageCount;
