import type { ContextId } from '../base/index.js';
import { commitOf, lineage, parsedAlong, type ReadChain } from '../chain/index.js';
import { partKinds, type UsageSeries } from '../contract/index.js';
import { isHidden } from '../formats/index.js';
import { windowOf } from '../requests/index.js';
import { factorsOf } from './calibrate.js';
import { usageOfContext } from './context.js';
import type { Factors } from './fit.js';
import { limitOf } from './limits.js';
import { emptyWindow, partsOf, type Size, statedMeasures } from './parts.js';
import { placedCalls } from './placed.js';
import { type CallRow, isBeside, requestIds } from './rows.js';

/** A call, the tokens before it by kind, and the number of earlier compactions. */
interface Point {
  readonly call: CallRow;
  readonly sizes: readonly Size[];
  readonly cuts: number;
}

/**
 * Returns the content of the window at each call of a context's history: counted totals, divided by kind. A call has the same parts as the
 * context that ends with it. @throws NOT_FOUND for an unknown commit.
 */
export function usageSeries(chain: ReadChain, id: ContextId): UsageSeries {
  const tip = commitOf(chain, id);
  const inOrder = placedCalls(chain, { id: tip.id }).filter((call) => !isBeside(call));
  const { idOf, recordedId } = requestIds(chain, inOrder);
  const points = pointsOf(chain, tip, inOrder, recordedId);
  const [last] = usageOfContext(chain, tip.id).parts;
  return {
    kinds: [...partKinds],
    basis: last?.basis ?? 'estimated',
    calls: points.map(({ call, sizes, cuts }, at) => {
      const counted = windowOf(call);
      const { parts, notRecorded } = partsOf(sizes, counted, 'estimated');
      return {
        requestId: idOf(call),
        replyKey: call.key,
        counted,
        limit: call.windowLimit ?? limitOf(chain, call.model, counted),
        parts: partKinds.map((kind) => parts.find((part) => part.kind === kind)?.tokens ?? 0),
        notRecorded,
        ...(at > 0 && cuts !== points[at - 1]?.cuts && { cut: true as const }),
      };
    }),
  };
}

/** The calls in order, each with the window that it was sent. */
function pointsOf(
  chain: ReadChain,
  tip: Parameters<typeof lineage>[1],
  inOrder: readonly CallRow[],
  recordedId: (call: CallRow) => string | undefined,
): Point[] {
  // Reversed, so that the first of several calls with the same key counts.
  const byKey = new Map(inOrder.toReversed().map((call) => [call.key, call]));
  const byModel = new Map<string | null, Factors | undefined>();
  for (const { model } of inOrder) if (!byModel.has(model)) byModel.set(model, factorsOf(chain, model));
  const window = emptyWindow();
  const elided = new Map<string, string>();
  const found = new Map<number, Omit<Point, 'call'>>();
  let cuts = 0;
  const steps = lineage(chain, tip).filter(({ type, parent }) => type !== 'snapshot' || parent === null);
  for (const { step, parsed } of parsedAlong(chain, steps)) {
    if (step.type !== 'delta') {
      window.clear();
      elided.clear();
      cuts += 1;
    }
    const { entries, elisions } = parsed;
    for (const { toolCallIds, text } of elisions) {
      window.elide(toolCallIds, text);
      for (const toolCallId of toolCallIds) elided.set(toolCallId, text);
    }
    for (const entry of entries) {
      const call = byKey.get(entry.key);
      if (call && !found.has(call.no))
        found.set(call.no, { sizes: window.sizes(byModel.get(call.model), statedMeasures(chain, recordedId(call))), cuts });
      if (isHidden(entry)) continue;
      const text = entry.kind === 'tool_result' ? elided.get(entry.toolCallId ?? '') : undefined;
      window.add(text === undefined ? entry : { ...entry, text });
    }
  }
  return inOrder.flatMap((call): Point[] => {
    const at = found.get(call.no);
    return at ? [{ call, ...at }] : [];
  });
}
