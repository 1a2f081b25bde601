import type { CommitSeq, ContextId, EntryKey } from '../base/index.js';
import { commitOf, lineage, parsedAlong, parsedOf, type ReadChain, type Step } from '../chain/index.js';
import { type PartKind, partKinds, type UsageSeries } from '../contract/index.js';
import { isHidden } from '../formats/index.js';
import { windowOf } from '../requests/index.js';
import { factorsOf } from './calibrate.js';
import { usageOfContext } from './context.js';
import { type DeltaMeasure, measuresAlong } from './delta-measures.js';
import type { Factors } from './fit.js';
import { windowOfCall } from './limits.js';
import { type Measured, type MeasuredWindow, openWindow, partsOf, type Size, statedMeasures } from './parts.js';
import { placedCalls } from './placed.js';
import { type CallRow, isBeside, requestIds } from './rows.js';
import type { Measures } from './tokenizer.js';

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
        limit: windowOfCall(chain, call, counted),
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
  const found = new Map<number, Omit<Point, 'call'>>();
  const add = (key: EntryKey, window: MeasuredWindow, cuts: number, more: readonly Measured[] = []): void => {
    const call = byKey.get(key);
    if (!call || found.has(call.no)) return;
    found.set(call.no, { sizes: window.sizes(byModel.get(call.model), [...more, ...statedMeasures(chain, recordedId(call))]), cuts });
  };
  const steps = lineage(chain, tip).filter(({ type, parent }) => type !== 'snapshot' || parent === null);
  const measureOf = measuresAlong(chain, steps);
  if (steps.some((step) => measureOf(step).elides)) readAlong(chain, steps, add);
  else addAlong(chain, steps, { measureOf, callsIn: Map.groupBy(inOrder, ({ context }) => context), add });
  return inOrder.flatMap((call): Point[] => {
    const at = found.get(call.no);
    return at ? [{ call, ...at }] : [];
  });
}

type Add = (key: EntryKey, window: MeasuredWindow, cuts: number, more?: readonly Measured[]) => void;

interface Along {
  readonly measureOf: (step: Step) => DeltaMeasure;
  readonly callsIn: ReadonlyMap<CommitSeq, readonly CallRow[]>;
  readonly add: Add;
}

/** Adds up the stored measures of deltas. A delta is read only if a call begins where nothing was measured. */
function addAlong(chain: ReadChain, steps: readonly Step[], { measureOf, callsIn, add }: Along): void {
  const window = openWindow();
  let cuts = 0;
  for (const step of steps) {
    if (step.type !== 'delta') {
      window.clear();
      cuts += 1;
    }
    const measure = measureOf(step);
    const { before = [], said } = measure;
    const places = new Set(before.map(({ key }) => key));
    if (!(callsIn.get(step.seq) ?? []).every(({ key }) => places.has(key))) readOne(chain, step, openWindow(window.state()), cuts, add);
    for (const [number, { key, kinds }] of before.entries()) {
      const more = (Object.entries(kinds) as [PartKind, Measures][]).map(([kind, measures]): Measured => ({ kind, measures }));
      // The framing of the first reply counts once, also if it began in the delta before.
      const goesOn = number > 0 && said !== undefined && window.saysLast(said.first);
      add(key, window, cuts, goesOn ? [...more, { kind: said.kind, measures: { replies: -1 } }] : more);
    }
    window.addDelta(measure);
  }
}

function readOne(chain: ReadChain, { artifact, format }: Step, window: MeasuredWindow, cuts: number, add: Add): void {
  for (const entry of parsedOf(chain, artifact, format).entries) {
    add(entry.key, window, cuts);
    if (!isHidden(entry)) window.add(entry);
  }
}

/** Reads the entries of deltas, because results in them were replaced later. */
function readAlong(chain: ReadChain, steps: readonly Step[], add: Add): void {
  const window = openWindow();
  const elided = new Map<string, string>();
  let cuts = 0;
  for (const { step, parsed } of parsedAlong(chain, steps)) {
    if (step.type !== 'delta') {
      window.clear();
      elided.clear();
      cuts += 1;
    }
    for (const { toolCallIds, text } of parsed.elisions) {
      window.elide(toolCallIds, text);
      for (const toolCallId of toolCallIds) elided.set(toolCallId, text);
    }
    for (const entry of parsed.entries) {
      add(entry.key, window, cuts);
      if (isHidden(entry)) continue;
      const text = entry.kind === 'tool_result' ? elided.get(entry.toolCallId ?? '') : undefined;
      window.add(text === undefined ? entry : { ...entry, text });
    }
  }
}
