import { type ContextId, type EntryKey, inWords, notFound } from '../base/index.js';
import {
  type ContextRow,
  elisionsOf,
  factsAlong,
  findCommit,
  kept,
  outlineRows,
  outlinesOf,
  type ReadChain,
  readOutline,
  readParsed,
  type Step,
  walk,
} from '../chain/index.js';
import { type PartKind, partKinds, type UsageContext, type UsageFork } from '../contract/index.js';
import { countTokens, isHidden, type OutlineEntry, type ParsedEntry } from '../formats/index.js';
import { sentSize } from '../requests/index.js';
import { requireContents } from './backfill.js';
import { factorsOf } from './calibrate.js';
import { windowBefore } from './context-sums.js';
import { type Continued, continuedFrom, continuedWith } from './continued.js';
import { measureFacts } from './delta-measures.js';
import { type MeasuredWindow, openWindow, partsOf, statedMeasures, type WindowState } from './parts.js';
import { windowOfCall } from './price-table.js';
import { type CallRow, requestIds } from './rows.js';
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
