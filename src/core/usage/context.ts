import { type ArtifactNo, type ContextId, textOf } from '../base/index.js';
import { type Chain, commitOf, contextEntries } from '../chain/index.js';
import { type PartKind, partKinds, type UsageContext, type UsagePart } from '../contract/index.js';
import type { ParsedEntry } from '../formats/index.js';
import { readPending } from './backfill.js';
import { factorsOf } from './calibrate.js';
import { type Factors, sizeBy } from './fit.js';
import { limitOf } from './limits.js';
import { type CallRow, requestIds, windowOf } from './rows.js';
import { type Measures, measuresOf } from './tokenizer.js';
import { lastCallOf, partKindOf } from './window.js';

/** How many tokens a context takes: as its provider counted them, and by kind of content. @throws NOT_FOUND for an unknown commit. */
export function usageOfContext(chain: Chain, id: ContextId): UsageContext {
  readPending(chain, { of: id });
  const tip = commitOf(chain, id);
  const call = lastCallOf(chain, tip);
  const counted = call ? windowOf(call) : null;
  const factors = factorsOf(chain, call?.model ?? null);
  const ids = call && requestIds(chain, [call]);
  const sizes = [...sizesOf(entriesIn(chain, call, tip.id), factors), ...(call && ids ? statedSizes(chain, ids.recordedId(call), factors) : [])];
  const parts = ordered(sizes);
  return {
    counted,
    ...(call && ids && { requestId: ids.idOf(call) }),
    estimated: parts.reduce((sum, { tokens }) => sum + Math.round(tokens), 0),
    limit: limitOf(chain, call?.model ?? null, counted),
    model: call?.model ?? null,
    ...partsOf(parts, counted, factors ? 'calibrated' : 'estimated'),
    ...(call?.flaw != null && { flaw: call.flaw }),
  };
}

/** The input of the last call of a context, as its provider counted it; null where no call has seen the context. @throws NOT_FOUND */
export function countedInput(chain: Chain, id: ContextId): number | null {
  readPending(chain, { patient: false, priced: false });
  const call = lastCallOf(chain, commitOf(chain, id));
  return call ? windowOf(call) : null;
}

/** The entries that the call was sent; without a call, all entries of the context. */
function entriesIn(chain: Chain, call: CallRow | undefined, tip: ContextId): readonly ParsedEntry[] {
  const all = contextEntries(chain, { id: call?.commitId ?? tip });
  const end = call ? all.findIndex(({ key }) => key === call.key) : -1;
  return (end < 0 ? all : all.slice(0, end)).map(({ entry }) => entry);
}

interface Size {
  readonly kind: PartKind;
  readonly tokens: number;
}

/** Without calibration, every measure counts as the tokenizer says. */
const plainSize = (sizes: Measures): number =>
  Object.entries(sizes).reduce((sum, [name, size]) => sum + (name === 'calls' || name === 'results' || name === 'replies' ? 0 : size), 0);

/** The tokens of entries by kind. The framing of a reply belongs to the assistant. */
function sizesOf(entries: readonly ParsedEntry[], factors: Factors | undefined): Size[] {
  let message: string | undefined;
  return entries.map((entry) => {
    const begins = entry.role === 'assistant' && entry.messageId !== message;
    if (begins) message = entry.messageId;
    const sizes = { ...measuresOf(entry), ...(begins && { replies: 1 }) };
    return { kind: partKindOf(entry), tokens: factors ? sizeBy(factors, sizes) : plainSize(sizes) };
  });
}

/** The system prompt and tools that a recorded request contains. */
function statedSizes(chain: Chain, requestId: string | undefined, factors: Factors | undefined): Size[] {
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

/** Divides a counted total into parts. Estimates above the total are scaled down to it; what they leave is not recorded. */
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
