import type { CommitSeq, ContextId, EntryKey } from '../base/index.js';
import {
  backwards,
  type ContextRow,
  commitAt,
  factsAlong,
  findCommit,
  lineage,
  parsedAlong,
  type ReadChain,
  readParsed,
  type Step,
  stepsUntil,
} from '../chain/index.js';
import { partKinds, type UsageSeries } from '../contract/index.js';
import { isHidden } from '../formats/index.js';
import { sentSize } from '../requests/index.js';
import { factorsOf } from './calibrate.js';
import { shortened, usageOfContext } from './context.js';
import { isTurn, windowBefore } from './context-sums.js';
import { type DeltaMeasure, type Kinds, measureFacts } from './delta-measures.js';
import type { Factors } from './fit.js';
import { type MeasuredWindow, openWindow, partsOf, type Size, statedMeasures } from './parts.js';
import { placedAlong, placedCalls } from './placed.js';
import { windowOfCall } from './price-table.js';
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
export function usageSeries(chain: ReadChain, id: ContextId, last?: number): UsageSeries {
  const tip = findCommit(chain, id);
  const points = (last === undefined ? undefined : lastPoints(chain, tip, last)) ?? allPoints(chain, tip);
  const calls = points.map(({ call }) => call);
  const { idOf } = requestIds(chain, calls);
  const [part] = usageOfContext(chain, tip.id).parts;
  const shown = points.map(({ call, sizes, cuts }, at) => {
    const counted = sentSize(call);
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
  });
  return { kinds: [...partKinds], basis: part?.basis ?? 'estimated', calls: last === undefined ? shown : shown.slice(-last) };
}

function allPoints(chain: ReadChain, tip: ContextRow): readonly Point[] {
  const calls = placedCalls(chain, { id: tip.id }).filter((call) => !isBeside(call));
  return pointsOf(chain, lineage(chain, tip).filter(isTurn), calls, openWindow()) as Point[];
}

/**
 * The last calls, with the one before them, from the sums that are stored before them. Undefined if they cannot be told from the others: then all calls are
 * read.
 */
function lastPoints(chain: ReadChain, tip: ContextRow, last: number): readonly Point[] | undefined {
  const found = placedAlong(chain, tip.id, -last - 1, last + 1);
  const [first] = found?.calls ?? [];
  if (!found || !first || found.calls.some(isBeside)) return undefined;
  const start = commitAt(chain, first.context);
  const { window, rest } = windowBefore(chain, start, { isApart: true });
  if (!window) return undefined;
  const since = stepsUntil(backwards(chain, tip), ({ seq }) => seq === start.seq || undefined).rest;
  const points = pointsOf(chain, [...rest, ...since].filter(isTurn), found.calls, openWindow(window.measured));
  return points?.length === found.calls.length ? points : undefined;
}

/** The calls in order, each with the window that it was sent. `before`: the window before the steps. Undefined if later steps change that window. */
function pointsOf(chain: ReadChain, steps: readonly Step[], inOrder: readonly CallRow[], before: MeasuredWindow): Point[] | undefined {
  const { recordedId } = requestIds(chain, inOrder);
  // Reversed, so that the first of several calls with the same key counts.
  const byKey = new Map(inOrder.toReversed().map((call) => [call.key, call]));
  const byModel = new Map<string | null, Factors | undefined>();
  for (const { model } of inOrder) if (!byModel.has(model)) byModel.set(model, factorsOf(chain, model));
  const found = new Map<number, Omit<Point, 'call'>>();
  const add: Add = (key, window, cuts, more = {}) => {
    const call = byKey.get(key);
    if (!call || found.has(call.no)) return;
    found.set(call.no, { sizes: window.sizes(byModel.get(call.model), more, statedMeasures(chain, recordedId(call))), cuts });
  };
  const measureOf = factsAlong(chain, measureFacts, steps);
  if (steps.some((step) => measureOf(step).elides)) {
    if (before.sizes(undefined).length > 0) return undefined;
    readAlong(chain, steps, add);
  } else addAlong(chain, steps, { measureOf, callsIn: Map.groupBy(inOrder, ({ context }) => context), add }, before);
  return inOrder.flatMap((call): Point[] => {
    const at = found.get(call.no);
    return at ? [{ call, ...at }] : [];
  });
}

type Add = (key: EntryKey, window: MeasuredWindow, cuts: number, more?: Kinds) => void;

interface Along {
  readonly measureOf: (step: Step) => DeltaMeasure;
  readonly callsIn: ReadonlyMap<CommitSeq, readonly CallRow[]>;
  readonly add: Add;
}

/** Adds up the stored measures of deltas. A delta is read only if a call begins where nothing was measured. */
function addAlong(chain: ReadChain, steps: readonly Step[], { measureOf, callsIn, add }: Along, window: MeasuredWindow): void {
  let cuts = 0;
  for (const step of steps) {
    if (step.type !== 'delta') {
      window.clear();
      cuts += 1;
    }
    const measure = measureOf(step);
    const { before = [] } = measure;
    const places = new Set(before.map(({ key }) => key));
    if (!(callsIn.get(step.seq) ?? []).every(({ key }) => places.has(key))) readOne(chain, step, openWindow(window.state()), cuts, add);
    for (const { key } of before) add(key, window, cuts, window.measuredBefore(measure, key));
    window.addDelta(measure);
  }
}

function readOne(chain: ReadChain, step: Step, window: MeasuredWindow, cuts: number, add: Add): void {
  for (const entry of readParsed(chain, step).entries) {
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
      if (!isHidden(entry)) window.add(shortened(entry, elided));
    }
  }
}
