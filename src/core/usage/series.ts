import type { ContextId } from '../base/index.js';
import { type Chain, commitAt, commitOf, lineage, outlineOf } from '../chain/index.js';
import { type PartKind, partKinds, type UsageSeries } from '../contract/index.js';
import { usageOfContext } from './context.js';
import { limitOf } from './limits.js';
import { placedCalls } from './placed.js';
import { type CallRow, isBeside, requestIds, windowOf } from './rows.js';
import { partKindOf } from './window.js';

/** A call, the tokens before it by kind, and the number of earlier compactions. */
interface Point {
  readonly call: CallRow;
  readonly sums: ReadonlyMap<PartKind, number>;
  readonly cuts: number;
}

/**
 * Returns the content of the window at each call of a context's history: counted totals, divided by kind. @throws NOT_FOUND for an unknown commit.
 */
export function usageSeries(chain: Chain, id: ContextId): UsageSeries {
  const tip = commitOf(chain, id);
  const last = usageOfContext(chain, tip.id);
  const steps = lineage(chain, tip);
  const inOrder = placedCalls(chain, { id: tip.id }).filter((call) => !isBeside(call));
  // Reversed, so that the first of several calls with the same key counts.
  const byKey = new Map(inOrder.toReversed().map((call) => [call.key, call]));
  const sums = new Map<PartKind, number>();
  const found = new Map<number, Omit<Point, 'call'>>();
  let cuts = 0;
  for (const step of steps) {
    const row = commitAt(chain, step.seq);
    if (row.type === 'snapshot' && row.parent !== null) continue;
    if (row.type !== 'delta') {
      sums.clear();
      cuts += 1;
    }
    for (const entry of outlineOf(chain, row.artifact, row.format).entries) {
      const call = byKey.get(entry.key);
      if (call && !found.has(call.no)) found.set(call.no, { sums: new Map(sums), cuts });
      if (!entry.hidden) sums.set(partKindOf(entry), (sums.get(partKindOf(entry)) ?? 0) + entry.tokens);
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
      const counted = windowOf(call);
      // The last call has exactly the parts of its context.
      const isLast = at === points.length - 1 && idOf(call) === last.requestId;
      const sizes = partKinds.map((kind) =>
        isLast ? (last.parts.find((part) => part.kind === kind)?.tokens ?? 0) : (own.get(kind) ?? 0) * (scales.get(kind) ?? 1),
      );
      const total = sizes.reduce((sum, size) => sum + size, 0);
      const scale = counted !== null && total > counted ? counted / total : 1;
      const parts = sizes.map((size) => Math.floor(size * scale));
      return {
        requestId: idOf(call),
        replyKey: call.key,
        counted,
        limit: limitOf(chain, call.model, counted),
        parts,
        notRecorded: counted === null ? null : counted - parts.reduce((sum, size) => sum + size, 0),
        ...(at > 0 && points[at]?.cuts !== points[at - 1]?.cuts && { cut: true as const }),
      };
    }),
  };
}

/** The ratio of the calibrated parts of the last window to its quick estimates, by kind. */
function scalesOf(
  parts: readonly { readonly kind: PartKind; readonly tokens: number }[],
  sums: ReadonlyMap<PartKind, number> | undefined,
): Map<PartKind, number> {
  return new Map(
    parts.flatMap(({ kind, tokens }): [PartKind, number][] => {
      const quick = sums?.get(kind) ?? 0;
      return quick > 200 ? [[kind, tokens / quick]] : [];
    }),
  );
}
