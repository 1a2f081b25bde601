import type { ContextId } from '../base/index.js';
import { commitOf, lineage, outlineOf, type ReadChain } from '../chain/index.js';
import { type PartKind, partKinds, type UsageSeries } from '../contract/index.js';
import { windowOf } from '../requests/index.js';
import { usageOfContext } from './context.js';
import { limitOf } from './limits.js';
import { placedCalls } from './placed.js';
import { type CallRow, isBeside, requestIds } from './rows.js';
import { partKindOf } from './window.js';

/** A call, the tokens before it by kind (in the order of `partKinds`), and the number of earlier compactions. */
interface Point {
  readonly call: CallRow;
  readonly sums: readonly number[];
  readonly cuts: number;
}

/**
 * Returns the content of the window at each call of a context's history: counted totals, divided by kind. @throws NOT_FOUND for an unknown commit.
 */
export function usageSeries(chain: ReadChain, id: ContextId): UsageSeries {
  const tip = commitOf(chain, id);
  const last = usageOfContext(chain, tip.id);
  const steps = lineage(chain, tip);
  const inOrder = placedCalls(chain, { id: tip.id }).filter((call) => !isBeside(call));
  // Reversed, so that the first of several calls with the same key counts.
  const byKey = new Map(inOrder.toReversed().map((call) => [call.key, call]));
  const sums = partKinds.map(() => 0);
  const found = new Map<number, Omit<Point, 'call'>>();
  let cuts = 0;
  for (const step of steps) {
    if (step.type === 'snapshot' && step.parent !== null) continue;
    if (step.type !== 'delta') {
      sums.fill(0);
      cuts += 1;
    }
    for (const entry of outlineOf(chain, step.artifact, step.format).entries) {
      const call = byKey.get(entry.key);
      if (call && !found.has(call.no)) found.set(call.no, { sums: [...sums], cuts });
      const kind = partKinds.indexOf(partKindOf(entry));
      if (!entry.hidden) sums[kind] = (sums[kind] ?? 0) + entry.tokens;
    }
  }
  const points = inOrder.flatMap((call): Point[] => {
    const at = found.get(call.no);
    return at ? [{ call, ...at }] : [];
  });
  const scales = scalesOf(last.parts, points.at(-1)?.sums);
  const { idOf } = requestIds(
    chain,
    points.map(({ call }) => call),
  );
  return {
    kinds: [...partKinds],
    basis: last.parts[0]?.basis ?? 'estimated',
    calls: points.map(({ call, sums: own }, at) => {
      const requestId = idOf(call);
      const counted = windowOf(call);
      // The last call has exactly the parts of its context.
      const isLast = at === points.length - 1 && requestId === last.requestId;
      const sizes = isLast
        ? partKinds.map((kind) => last.parts.find((part) => part.kind === kind)?.tokens ?? 0)
        : own.map((size, kind) => size * (scales[kind] ?? 1));
      const total = sizes.reduce((sum, size) => sum + size, 0);
      const scale = counted !== null && total > counted ? counted / total : 1;
      const parts = sizes.map((size) => Math.floor(size * scale));
      return {
        requestId,
        replyKey: call.key,
        counted,
        limit: call.windowLimit ?? limitOf(chain, call.model, counted),
        parts,
        notRecorded: counted === null ? null : counted - parts.reduce((sum, size) => sum + size, 0),
        ...(at > 0 && points[at]?.cuts !== points[at - 1]?.cuts && { cut: true as const }),
      };
    }),
  };
}

/** The ratio of the calibrated parts of the last window to its quick estimates, by kind. */
const scalesOf = (parts: readonly { readonly kind: PartKind; readonly tokens: number }[], sums: readonly number[] = []): readonly number[] =>
  partKinds.map((kind, at) => {
    const quick = sums[at] ?? 0;
    const part = quick > 200 ? parts.find((each) => each.kind === kind) : undefined;
    return part ? part.tokens / quick : 1;
  });
