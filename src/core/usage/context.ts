import { type CommitSeq, type ContextId, type EntryKey, inWords, notFound } from '../base/index.js';
import {
  backwards,
  type ContextRow,
  commitAt,
  elisionsOf,
  factsAlong,
  findCommit,
  kept,
  lineage,
  outlineRows,
  outlinesOf,
  parsedAlong,
  type ReadChain,
  readOutline,
  readParsed,
  type Step,
  stepsUntil,
  walk,
} from '../chain/index.js';
import { type PartKind, partKinds, type UsageContext, type UsageFork, type UsageSeries } from '../contract/index.js';
import { countTokens, isHidden, type OutlineEntry, type ParsedEntry } from '../formats/index.js';
import { sentSize } from '../requests/index.js';
import { requireContents } from './backfill.js';
import { factorsOf } from './calibrate.js';
import { isTurn, windowBefore } from './context-sums.js';
import { type Continued, continuedFrom, continuedWith } from './continued.js';
import { type DeltaMeasure, type Kinds, measureFacts } from './delta-measures.js';
import type { Factors } from './fit.js';
import { type MeasuredWindow, openWindow, partsOf, type Size, statedMeasures, type WindowState } from './parts.js';
import { placedAlong, placedCalls } from './placed.js';
import { windowOfCall } from './price-table.js';
import { type CallRow, isBeside, requestIds } from './rows.js';
import { hasTokenizer } from './tokenizer.js';
import { callAfter, lastCallOf } from './window.js';

/** Returns the tokens of a context: the provider's count, and the tokens by kind of content. @throws NOT_FOUND for an unknown commit. */
export function usageOfContext(chain: ReadChain, id: ContextId): UsageContext {
  requireContents(chain, id);
  const tip = findCommit(chain, id);
  const call = lastCallOf(chain, tip);
  const continued = call ? undefined : continuedFrom(chain, tip);
  if (continued) return afterEdit(chain, continued);
  const next = !call && tip.type === 'compaction' ? callAfter(chain, tip.seq) : undefined;
  return next ? { ...usageAt(chain, tip, undefined), ...sentNext(chain, next) } : usageAt(chain, tip, call);
}

/** The tokens of a context that a call has seen, or of one about which nothing was counted. */
function usageAt(chain: ReadChain, tip: Pick<ContextRow, 'id'>, call: CallRow | undefined): UsageContext {
  const counted = call ? sentSize(call) : null;
  const factors = factorsOf(chain, call?.model ?? null);
  const ids = call && requestIds(chain, [call]);
  const parts = measuredWindow(chain, call, tip.id).sizes(factors, call && ids ? statedMeasures(chain, ids.recordedId(call)) : {});
  return {
    counted,
    ...(call && ids && { requestId: ids.idOf(call) }),
    estimated: parts.reduce((sum, { tokens }) => sum + Math.round(tokens), 0),
    limit: call ? windowOfCall(chain, call, counted) : null,
    model: call?.model ?? null,
    ...partsOf(parts, counted, factors ? 'calibrated' : 'estimated'),
    ...(call?.flaw != null && { flaw: call.flaw }),
  };
}

/** What was counted for the first call after a compaction, which is the figure of that compaction. */
function sentNext(chain: ReadChain, call: CallRow): Pick<UsageContext, 'next' | 'limit' | 'model'> {
  const counted = sentSize(call) as number;
  const requestId = requestIds(chain, [call]).idOf(call);
  return { next: { counted, requestId }, limit: windowOfCall(chain, call, counted), model: call.model };
}

/** The tokens of a context that no call has seen: what was counted before the edit, and the estimate of what changed since. */
function afterEdit(chain: ReadChain, { call, counted, changes, edited }: Continued): UsageContext {
  const { flaw: _, requestId, parts, notRecorded, estimated: __, ...base } = usageAt(chain, { id: call.commitId }, call);
  const before = new Map<PartKind, number>(parts.map(({ kind, tokens }) => [kind, tokens]));
  const sizes = partKinds.map((kind) => ({ kind, tokens: (before.get(kind) ?? 0) + (changes.get(kind) ?? 0) })).filter(({ tokens }) => tokens > 0);
  const total = Math.max(0, Math.round(counted + edited));
  const divided = partsOf(sizes, total, parts[0]?.basis ?? 'estimated');
  return {
    ...base,
    counted: null,
    estimated: total,
    ...divided,
    notRecorded: divided.notRecorded ?? notRecorded,
    since: { counted: Math.round(counted), edited: Math.round(edited), ...(requestId !== undefined && { requestId }) },
  };
}

/** The tokens of a fork before it is made: of the context up to and including an entry, with another text in that entry. @throws NOT_FOUND */
export function usageOfFork(chain: ReadChain, { id, at, text }: { id: ContextId; at: EntryKey; text?: string | undefined }): UsageFork {
  requireContents(chain, id);
  const tip = findCommit(chain, id);
  const { rows } = outlineRows(chain, { id: tip.id });
  const place = rows.findIndex(({ key }) => key === at);
  const prompt = rows[place];
  if (!prompt) throw notFound(at, `The context of ${tip.id} has no entry ${inWords(at)}.`, { field: 'at' });
  const kept = rows.slice(0, place).filter(({ hidden }) => !hidden);
  const edited = text === undefined ? prompt : { ...prompt, key: '' as EntryKey, tokens: countTokens(text) };
  const continued = continuedWith(chain, tip, [...kept, edited]);
  if (!continued) return { estimated: [...kept, edited].reduce((total, { tokens }) => total + tokens, 0), since: null, limit: null };
  return {
    estimated: Math.max(0, Math.round(continued.counted + continued.edited)),
    since: { counted: Math.round(continued.counted), edited: Math.round(continued.edited) },
    limit: windowOfCall(chain, continued.call, sentSize(continued.call)),
  };
}

/** The provider's count of the input of a context's last call; null if no call has seen the context. @throws NOT_FOUND */
export function countedInput(chain: ReadChain, id: ContextId): number | null {
  const call = lastCallOf(chain, findCommit(chain, id));
  return call ? sentSize(call) : null;
}

const bytesPerWindow = 2_000;

/** The measured entries that the call was sent, or all entries of the context if there is no call. */
function measuredWindow(chain: ReadChain, call: CallRow | undefined, tip: ContextId): MeasuredWindow {
  // Commits never change, so a measured window is valid until the tokenizer is loaded.
  const name = JSON.stringify([call?.commitId ?? tip, call?.key ?? null, hasTokenizer()]);
  return kept(chain, 'window', name, '', () => measureWindow(chain, call, tip), bytesPerWindow);
}

function measureWindow(chain: ReadChain, call: CallRow | undefined, tip: ContextId): MeasuredWindow {
  const end = findCommit(chain, call?.commitId ?? tip);
  // The stored sums were measured with the tokenizer.
  const near = hasTokenizer() ? windowBefore(chain, end, { isApart: call !== undefined }) : undefined;
  return (
    (near?.window && windowOver(chain, call, near.rest, near.window.measured)) ??
    (windowOver(chain, call, walk(chain, end).contributing, undefined) as MeasuredWindow)
  );
}

/**
 * The window of a call. The deltas before that of the call are added up from their stored measures; only that of the call, and those whose results were
 * replaced later, are read. Undefined if results in `before` were replaced: then it is no beginning.
 */
function windowOver(
  chain: ReadChain,
  call: CallRow | undefined,
  steps: readonly Step[],
  before: WindowState | undefined,
): MeasuredWindow | undefined {
  const last = call && steps.at(-1);
  const whole = last ? steps.slice(0, -1) : steps;
  const measureOf = factsAlong(chain, measureFacts, whole);
  const elided = elisionsOf(outlinesOf(chain, [...whole.filter((step) => measureOf(step).elides), ...(last ? [last] : [])]));
  if (before && elided.size > 0) return undefined;
  const isElided = ({ kind, toolCallId }: Pick<OutlineEntry, 'kind' | 'toolCallId'>): boolean =>
    kind === 'tool_result' && toolCallId !== undefined && elided.has(toolCallId);
  const window = openWindow(before);
  for (const step of whole) {
    const isRead = elided.size > 0 && readOutline(chain, step).entries.some(isElided);
    if (isRead) for (const entry of seenIn(chain, step, elided)) window.add(entry);
    else window.addDelta(measureOf(step));
  }
  if (!last) return window;
  const measured = elided.size === 0 ? window.measuredBefore(factsAlong(chain, measureFacts, [last])(last), call.key) : undefined;
  if (measured) window.addMeasured(measured);
  else for (const entry of beforeReply(seenIn(chain, last, elided), call.key)) window.add(entry);
  return window;
}

function beforeReply(entries: readonly ParsedEntry[], reply: EntryKey): readonly ParsedEntry[] {
  const end = entries.findIndex(({ key }) => key === reply);
  return end < 0 ? entries : entries.slice(0, end);
}

/** The entries of a delta as the model sees them. */
const seenIn = (chain: ReadChain, step: Step, elided: ReadonlyMap<string, string>): ParsedEntry[] =>
  readParsed(chain, step)
    .entries.filter((entry) => !isHidden(entry))
    .map((entry) => shortened(entry, elided));

/** An entry with the text that replaces its result, by call id. */
export function shortened(entry: ParsedEntry, elided: ReadonlyMap<string, string>): ParsedEntry {
  const text = entry.kind === 'tool_result' ? elided.get(entry.toolCallId ?? '') : undefined;
  return text === undefined ? entry : { ...entry, text };
}

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
