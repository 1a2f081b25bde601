import { type ArtifactNo, type ContextId, textOf } from '../base/index.js';
import { commitOf, contextEntriesInPieces, type ReadChain } from '../chain/index.js';
import { type PartKind, partKinds, type UsageContext, type UsagePart } from '../contract/index.js';
import type { ParsedEntry } from '../formats/index.js';
import { windowOf } from '../requests/index.js';
import { requireContents } from './backfill.js';
import { factorsOf } from './calibrate.js';
import { type Factors, sizeBy } from './fit.js';
import { limitOf } from './limits.js';
import { type CallRow, requestIds } from './rows.js';
import { hasTokenizer, type Measures, measuresOf } from './tokenizer.js';
import { lastCallOf, partKindOf } from './window.js';

/** Returns the tokens of a context: the provider's count, and the tokens by kind of content. @throws NOT_FOUND for an unknown commit. */
export function usageOfContext(chain: ReadChain, id: ContextId): UsageContext {
  requireContents(chain, id);
  const tip = commitOf(chain, id);
  const call = lastCallOf(chain, tip);
  const counted = call ? windowOf(call) : null;
  const factors = factorsOf(chain, call?.model ?? null);
  const ids = call && requestIds(chain, [call]);
  const sizes = [...entrySizes(chain, { call, tip: tip.id, factors }), ...(call && ids ? statedSizes(chain, ids.recordedId(call), factors) : [])];
  const parts = ordered(sizes);
  return {
    counted,
    ...(call && ids && { requestId: ids.idOf(call) }),
    estimated: parts.reduce((sum, { tokens }) => sum + Math.round(tokens), 0),
    limit: call?.windowLimit ?? limitOf(chain, call?.model ?? null, counted),
    model: call?.model ?? null,
    ...partsOf(parts, counted, factors ? 'calibrated' : 'estimated'),
    ...(call?.flaw != null && { flaw: call.flaw }),
  };
}

/** The provider's count of the input of a context's last call; null if no call has seen the context. @throws NOT_FOUND */
export function countedInput(chain: ReadChain, id: ContextId): number | null {
  const call = lastCallOf(chain, commitOf(chain, id));
  return call ? windowOf(call) : null;
}

/** The measured entries: the entries that the call was sent, or all entries of the context if there is no call. */
interface Measured {
  readonly call: CallRow | undefined;
  readonly tip: ContextId;
  readonly factors: Factors | undefined;
}

/** The latest sums of each project. Commits never change, so a sum is valid as long as its factors. */
const kept = new WeakMap<ReadChain, Map<string, readonly Size[]>>();
const maxKept = 64;
/** The number of entries whose content is in memory at the same time. */
const pieceSize = 100;

const nameOf = ({ call, tip, factors }: Measured): string =>
  JSON.stringify([call?.commitId ?? tip, call?.key ?? null, factors ?? null, hasTokenizer()]);

/** Measures entries, and keeps the sums by kind. */
function entrySizes(chain: ReadChain, measured: Measured): readonly Size[] {
  const name = nameOf(measured);
  const known = kept.get(chain) ?? new Map<string, readonly Size[]>();
  const before = known.get(name);
  if (before) return before;
  const { call, tip, factors } = measured;
  const sums = new Map<PartKind, number>();
  const sizeOf = sizerOf(factors);
  measure: for (const piece of contextEntriesInPieces(chain, { id: call?.commitId ?? tip }, pieceSize))
    for (const { key, entry } of piece) {
      if (key === call?.key) break measure;
      const { kind, tokens } = sizeOf(entry);
      sums.set(kind, (sums.get(kind) ?? 0) + tokens);
    }
  const sizes = [...sums].map(([kind, tokens]) => ({ kind, tokens }));
  if (known.size >= maxKept) known.clear();
  known.set(name, sizes);
  kept.set(chain, known);
  return sizes;
}

interface Size {
  readonly kind: PartKind;
  readonly tokens: number;
}

/** Without calibration, every measure counts with the factor of the tokenizer. */
const plainSize = (sizes: Measures): number =>
  Object.entries(sizes).reduce((sum, [name, size]) => sum + (name === 'calls' || name === 'results' || name === 'replies' ? 0 : size), 0);

/** Measures entries one after another. The framing of a reply belongs to the assistant. */
function sizerOf(factors: Factors | undefined): (entry: ParsedEntry) => Size {
  let message: string | undefined;
  return (entry) => {
    const begins = entry.role === 'assistant' && entry.messageId !== message;
    if (begins) message = entry.messageId;
    const sizes = { ...measuresOf(entry), ...(begins && { replies: 1 }) };
    return { kind: partKindOf(entry), tokens: factors ? sizeBy(factors, sizes) : plainSize(sizes) };
  };
}

/** The system prompt and tools that a recorded request contains. */
function statedSizes(chain: ReadChain, requestId: string | undefined, factors: Factors | undefined): Size[] {
  if (requestId === undefined) return [];
  const row = chain.db.one<{ system: ArtifactNo | null; tools: ArtifactNo | null }>(
    'SELECT s.system, s.tools FROM request r JOIN requestShape s ON s.no = r.shape WHERE r.project = ? AND r.requestId = ?',
    chain.project,
    requestId,
  );
  return (['system', 'tools'] as const).flatMap((kind) => {
    const artifact = row?.[kind];
    if (artifact == null) return [];
    const sizes = measuresOf({ role: 'system', kind: 'text', text: textOf(chain.artifacts.read(artifact)) } as ParsedEntry);
    return [{ kind, tokens: factors ? sizeBy(factors, sizes) : plainSize(sizes) }];
  });
}

/** The sums of kinds, in the order in which bars draw them. */
function ordered(sizes: readonly Size[]): Size[] {
  const sums = new Map<PartKind, number>();
  for (const { kind, tokens } of sizes) sums.set(kind, (sums.get(kind) ?? 0) + tokens);
  return partKinds.flatMap((kind) => ((sums.get(kind) ?? 0) > 0 ? [{ kind, tokens: sums.get(kind) as number }] : []));
}

/** Divides a counted total into parts. Estimates above the total are scaled down; below it, the rest counts as not recorded. */
function partsOf(sizes: readonly Size[], counted: number | null, basis: UsagePart['basis']): Pick<UsageContext, 'parts' | 'notRecorded'> {
  const estimated = sizes.reduce((sum, { tokens }) => sum + tokens, 0);
  const scale = counted !== null && estimated > counted ? counted / estimated : 1;
  let before = 0;
  let exact = 0;
  // Rounding the running sums keeps the total exact.
  const parts = sizes.map(({ kind, tokens }): UsagePart => {
    exact += tokens * scale;
    const upTo = Math.round(exact);
    const part = { kind, tokens: upTo - before, basis };
    before = upTo;
    return part;
  });
  return { parts, notRecorded: counted === null ? null : counted - before };
}
