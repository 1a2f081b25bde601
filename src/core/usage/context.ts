import type { ContextId } from '../base/index.js';
import { commitOf, contextEntriesInPieces, type ReadChain } from '../chain/index.js';
import type { UsageContext } from '../contract/index.js';
import { windowOf } from '../requests/index.js';
import { requireContents } from './backfill.js';
import { factorsOf } from './calibrate.js';
import { limitOf } from './limits.js';
import { emptyWindow, type MeasuredWindow, partsOf, statedMeasures } from './parts.js';
import { type CallRow, requestIds } from './rows.js';
import { hasTokenizer } from './tokenizer.js';
import { lastCallOf } from './window.js';

/** Returns the tokens of a context: the provider's count, and the tokens by kind of content. @throws NOT_FOUND for an unknown commit. */
export function usageOfContext(chain: ReadChain, id: ContextId): UsageContext {
  requireContents(chain, id);
  const tip = commitOf(chain, id);
  const call = lastCallOf(chain, tip);
  const counted = call ? windowOf(call) : null;
  const factors = factorsOf(chain, call?.model ?? null);
  const ids = call && requestIds(chain, [call]);
  const parts = measuredWindow(chain, call, tip.id).sizes(factors, call && ids ? statedMeasures(chain, ids.recordedId(call)) : []);
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

/** The latest windows of each project. Commits never change, so a measured window is valid until the tokenizer is loaded. */
const kept = new WeakMap<ReadChain, Map<string, MeasuredWindow>>();
const maxKept = 64;
/** The number of entries whose content is in memory at the same time. */
const pieceSize = 100;

/** The measured entries that the call was sent, or all entries of the context if there is no call. */
function measuredWindow(chain: ReadChain, call: CallRow | undefined, tip: ContextId): MeasuredWindow {
  const name = JSON.stringify([call?.commitId ?? tip, call?.key ?? null, hasTokenizer()]);
  const known = kept.get(chain) ?? new Map<string, MeasuredWindow>();
  const before = known.get(name);
  if (before) return before;
  const window = emptyWindow();
  measure: for (const piece of contextEntriesInPieces(chain, { id: call?.commitId ?? tip }, pieceSize))
    for (const { key, entry } of piece) {
      if (key === call?.key) break measure;
      window.add(entry);
    }
  if (known.size >= maxKept) known.clear();
  known.set(name, window);
  kept.set(chain, known);
  return window;
}
