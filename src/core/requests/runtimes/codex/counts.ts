import { isObject, type JsonObject, stringAt, type Timestamp } from '../../../base/index.js';
import {
  besidePrefix,
  type CallCount,
  type CallPart,
  type CallTerms,
  type CodexLine,
  codexDelta,
  codexLines,
  codexOrigin,
  doesOf,
  isReplayed,
  joinCalls,
  noCounts,
  type Origin,
  type ParsedEntry,
  partOfEntries,
  usageIn,
} from '../../../formats/index.js';
import { answeringModel, type Delta, type EarlierDeltas, recordId, replyCounts, type Usage, unknownUsage } from '../runtime.js';

/** The agent's names of its counts. The input includes cache reads and cache writes. */
const countNames = {
  input: 'input_tokens',
  cacheRead: 'cached_input_tokens',
  cacheWrite: 'cache_write_input_tokens',
  output: 'output_tokens',
  reasoning: 'reasoning_output_tokens',
};
/** Maps each count. */
const countsBy = <Value>(make: (name: keyof typeof countNames) => Value) =>
  Object.fromEntries(Object.keys(countNames).map((name) => [name, make(name as keyof typeof countNames)])) as Record<keyof typeof countNames, Value>;

/** The agent's running sums of a thread. */
type ThreadTotals = Readonly<Record<keyof typeof countNames, number>>;

/** What a line says about calls, as far as earlier lines have not changed it. */
interface State {
  totals: ThreadTotals | undefined;
  model: string | undefined;
  tier: string | undefined;
  limit: number | undefined;
  turn: string | undefined;
  turnAt: Timestamp | undefined;
}

interface Reply {
  readonly entries: ParsedEntry[];
  readonly state: Pick<State, 'model' | 'tier'>;
  readonly replayed: boolean;
  usage: Usage | undefined;
  limit: number | undefined;
}

const telling = [
  '"turn_context"',
  '"token_count"',
  '"response_id"',
  '"task_started"',
  '"turn_started"',
  '"thread_settings_applied"',
  '"session_meta"',
];

/** Reads only the lines that can have settings or counts: the others are most of the bytes. */
function tellingLines(delta: Buffer): readonly CodexLine[] {
  const lines: CodexLine[] = [];
  for (let start = 0; start < delta.length; ) {
    const at = delta.indexOf(0x0a, start);
    const end = at < 0 ? delta.length : at + 1;
    const line = delta.subarray(start, end);
    if (telling.some((name) => line.includes(name)))
      for (const one of codexLines(line)) lines.push({ ...one, raw: { start: start + one.raw.start, end: start + one.raw.end } });
    start = end;
  }
  return lines;
}

const bufferOf = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** The calls of the delta that was read last, because they are asked for one after the other. */
let latest: (Readonly<ReturnType<typeof readReplies>> & { readonly bytes: Uint8Array }) | undefined;

/** The replies in a delta with their counts, and counted calls whose replies are not recorded. */
export function repliesIn(delta: Delta): NonNullable<typeof latest> {
  if (latest?.bytes !== delta.bytes) latest = { bytes: delta.bytes, ...readReplies(delta) };
  return latest;
}

/** The calls whose replies a delta contains. */
export function callsOfRollout(delta: Delta): readonly CallCount[] {
  const { replies, beside, late } = repliesIn(delta);
  const replyAt = new Map(replies.map((reply) => [reply.entries[0], reply]));
  const isReplied = new Set(replies.flatMap(({ entries }) => entries));
  const parts = delta.entries.flatMap((entry): CallPart[] => {
    if (!isReplied.has(entry)) return delta.type === 'compaction' ? [] : [partOfEntries([entry]) ?? []].flat();
    const reply = replyAt.get(entry);
    const { messageId, key, at } = entry;
    const common = { id: messageId ?? recordId(key), key, model: answeringModel(entry), does: doesOf([entry]) };
    if (!reply) return [{ at, reply: { ...common, ...noCounts } }];
    const { state, replayed, limit } = reply;
    const counts = replyCounts(reply.usage ?? unknownUsage);
    const model = state.model ?? common.model;
    return [{ at, isFinal: true, reply: { ...common, ...counts, model, limit, terms: termsOf(reply), ...(replayed && { replayed }) } }];
  });
  return joinCalls([...late, ...parts, ...beside.flatMap((part) => [{ prompt: notRecorded }, part])]);
}

/** What the price of a reply depends on beside its tokens. */
function termsOf({ state: { tier }, entries }: Reply): CallTerms | undefined {
  const webSearch = entries.filter(isSearch).length;
  const terms = { ...(tier !== undefined && { tier }), ...(webSearch > 0 && { serverTools: { webSearch } }) };
  return Object.keys(terms).length > 0 ? terms : undefined;
}

/** Whether an entry is a search of the provider, which costs a fee. Opening a page that was found costs none. */
const isSearch = ({ kind, toolName, marks, arguments: given }: ParsedEntry): boolean =>
  kind === 'tool_call' && toolName === 'web_search' && (marks?.includes('server') ?? false) && (stringAt(given, 'type') ?? 'search') === 'search';

/** Finds the replies of a delta, and reads the lines between them in order. */
function readReplies(delta: Delta) {
  const { entries, type, before } = delta;
  const isReply = ({ role, kind, marks }: ParsedEntry): boolean =>
    role === 'assistant' && kind !== 'summary' && (marks?.includes('hidden') ?? false) === (type === 'compaction');
  const lines = tellingLines(bufferOf(delta.bytes));
  const origin = originIn(lines, before);
  const state = new Running(before);
  const replies: Reply[] = [];
  const beside: CallPart[] = [];
  const late: CallPart[] = [];
  /** Replies since the last count. */
  let uncounted: Reply[] = [];
  let next = 0;
  let counts = 0;
  /** A call that the agent counted, and whose reply it did not write, or wrote before this delta (`earlier`). */
  const uncountedReply = (usage: Usage, line: CodexLine, earlier?: Pick<CallCount, 'id' | 'key'>): CallPart => {
    const { model = null, limit, totals, turn, turnAt } = state.now();
    const id = `${besidePrefix}${state.session}:${totals?.input ?? 0}:${totals?.output ?? 0}`;
    const place = entries.findLast(({ raw }) => (raw?.start ?? 0) < line.raw.start) ?? entries[0];
    const key = place?.key ?? (`${id}.0` as ParsedEntry['key']);
    const replayed = isReplayed(origin, turn, turnAt);
    return { at: line.at, isFinal: true, reply: { id, key, model, ...replyCounts(usage), limit, ...(replayed && { replayed }), ...earlier } };
  };
  const readUpTo = (start: number): void => {
    for (let line = lines[next]; line && line.raw.start < start; line = lines[++next]) {
      const counted = state.take(line);
      if (!counted) continue;
      const last = uncounted.at(-1);
      if (last) [last.usage, last.limit] = [counted.usage, state.now().limit];
      const { missed } = counted;
      if (missed) {
        const lost = uncounted.at(-2);
        if (lost) lost.usage = missed;
        else beside.push(uncountedReply(missed, line));
      }
      const earlier = replies.length === 0 && !counts++ && type !== 'compaction' ? replyBefore(before) : undefined;
      if (!last && !missed) (earlier ? late : beside).push(uncountedReply(counted.usage, line, earlier));
      uncounted = [];
    }
  };
  for (const entry of entries) {
    if (!isReply(entry)) continue;
    readUpTo(entry.raw?.start ?? 0);
    const last = replies.at(-1);
    const message = entry.messageId ?? recordId(entry.key);
    if (last && message === (last.entries[0]?.messageId ?? recordId(last.entries[0]?.key ?? entry.key))) {
      last.entries.push(entry);
      continue;
    }
    const { model, tier, limit, turn, turnAt } = state.now();
    const reply: Reply = { entries: [entry], state: { model, tier }, replayed: isReplayed(origin, turn, turnAt), usage: undefined, limit };
    replies.push(reply);
    uncounted.push(reply);
  }
  readUpTo(Number.POSITIVE_INFINITY);
  return { replies, beside, late };
}

/** The last reply before a delta, if its count is not there: the file was read after the agent had written the one and not yet the other. */
function replyBefore(before: EarlierDeltas | undefined): Pick<CallCount, 'id' | 'key'> | undefined {
  for (const bytes of before?.earlier() ?? []) {
    const replies = codexDelta(bytes).entries.filter(
      ({ role, kind, marks }) => role === 'assistant' && kind !== 'summary' && !marks?.includes('hidden'),
    );
    const answerId = ({ messageId, key }: ParsedEntry): string => messageId ?? recordId(key);
    const last = replies.at(-1);
    if (!last) return undefined;
    const isCounted = tellingLines(bufferOf(bytes)).some(
      ({ payload, raw }) =>
        raw.start > (last.raw?.start ?? 0) && (payload.type === 'token_count' ? isObject(payload.info) : 'response_id' in payload),
    );
    const first = replies.find((entry) => answerId(entry) === answerId(last)) ?? last;
    return isCounted ? undefined : { id: answerId(first), key: first.key };
  }
  return undefined;
}

const notRecorded = 'a call whose reply is not recorded';

/** The session that this one repeats, by its session line. A copy contains the other session's line too. */
function originIn(lines: readonly CodexLine[], before: EarlierDeltas | undefined): Origin | undefined {
  const first = before?.first('codex session line', (bytes) => {
    const end = bytes.indexOf(0x0a);
    return originAmong([...codexLines(end < 0 ? bytes : bytes.subarray(0, end + 1))]);
  });
  return (first ?? originAmong(lines))?.origin;
}

function originAmong(lines: readonly CodexLine[]): { readonly origin: Origin | undefined } | undefined {
  const own = lines.find(({ sort }) => sort === 'meta');
  return own && { origin: codexOrigin(own) };
}

/** The settings and sums at the current line. What this delta has not said yet is looked up in the deltas before it, when it is needed. */
class Running {
  readonly #state: State = { totals: undefined, model: undefined, tier: undefined, limit: undefined, turn: undefined, turnAt: undefined };
  /** The counts of replies that were recorded one by one since the agent last wrote its sums. */
  #recorded = false;
  #before: EarlierDeltas | undefined;
  session = '';

  constructor(before: EarlierDeltas | undefined) {
    this.#before = before;
  }

  now(): State {
    if (this.#state.model === undefined || this.#state.turn === undefined) this.#lookBack();
    return this.#state;
  }

  /** Takes a line. Returns the counts of the call that it counts, and of a call before it that was not counted. */
  take(line: CodexLine): { readonly usage: Usage; readonly missed?: Usage | undefined } | undefined {
    const { sort, payload } = line;
    if (sort === 'other' && typeof payload.response_id === 'string') {
      const usage = readUsage(payload.usage);
      this.#recorded ||= usage !== undefined;
      return usage && { usage };
    }
    if (sort !== 'event' || payload.type !== 'token_count') return this.#set(line);
    if (!isObject(payload.info)) return undefined;
    const limit = payload.info.model_context_window;
    if (isWindow(limit)) this.#state.limit = limit;
    const counted = this.#count(payload.info);
    const wasRecorded = this.#recorded;
    this.#recorded = false;
    return wasRecorded ? undefined : counted;
  }

  #set({ sort, payload, at }: CodexLine): undefined {
    const state = this.#state;
    const settings = payload.type === 'thread_settings_applied' && isObject(payload.thread_settings) ? payload.thread_settings : payload;
    if (sort === 'meta') this.session ||= stringAt(payload, 'id') ?? '';
    if (sort === 'context' || settings !== payload) {
      state.model = stringAt(settings, 'model') ?? state.model;
      state.tier = stringAt(settings, 'service_tier') ?? state.tier;
    }
    const turn = stringAt(payload, 'turn_id');
    if (turn !== undefined && (sort === 'context' || payload.type === 'task_started' || payload.type === 'turn_started')) {
      if (turn !== state.turn) state.turnAt = at;
      state.turn = turn;
    }
    if (isWindow(payload.model_context_window)) state.limit = payload.model_context_window;
    return undefined;
  }

  /** The counts of a call by the agent's sums: what they grew by. Unchanged sums count nothing. */
  #count(info: JsonObject): { readonly usage: Usage; readonly missed?: Usage | undefined } | undefined {
    const last = totalsIn(info.last_token_usage);
    const totals = totalsIn(info.total_token_usage);
    if (!totals) return last && { usage: usageOfTotals(last) };
    if (this.#state.totals === undefined) this.#lookBack();
    const earlier = this.#state.totals;
    this.#state.totals = totals;
    if (!earlier) return { usage: usageOfTotals(last ?? totals) };
    const grown = difference(totals, earlier);
    if (isNothing(grown)) return undefined;
    if (Object.values(grown).some((count) => count < 0)) {
      const flaw = `the agent's own sums went back here, from ${earlier.input} to ${totals.input} input tokens`;
      return last && !isNothing(last) ? { usage: { ...usageOfTotals(last), countFlaw: flaw } } : undefined;
    }
    const rest = last && difference(grown, last);
    const isMore = rest !== undefined && !isNothing(rest) && Object.values(rest).every((count) => count >= 0) && last && !isNothing(last);
    return isMore ? { usage: usageOfTotals(last), missed: usageOfTotals(rest) } : { usage: usageOfTotals(grown) };
  }

  /** What a delta alone says, at its end. */
  static #endOf(this: void, bytes: Uint8Array): Readonly<State> {
    const running = new Running(undefined);
    for (const line of tellingLines(bufferOf(bytes))) running.take(line);
    return running.#state;
  }

  #lookBack(): void {
    const before = this.#before;
    this.#before = undefined;
    if (!before) return;
    const known = this.#state;
    const unread = (): boolean => known.model === undefined || known.totals === undefined;
    let read = 0;
    for (const { model, tier, limit, turn, turnAt, totals } of before.found('codex settings', Running.#endOf)) {
      if (known.model === undefined) known.tier ??= tier;
      known.model ??= model;
      known.limit ??= limit;
      if (known.turn === undefined) [known.turn, known.turnAt] = [turn, turnAt];
      known.totals ??= totals;
      if (!unread() || ++read >= maxRead) break;
    }
  }
}

/** How far back settings and sums are looked for. */
const maxRead = 64;

const isWindow = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) > 0;

function totalsIn(value: unknown): ThreadTotals | undefined {
  if (!isObject(value)) return undefined;
  return countsBy((name) => {
    const count = value[countNames[name]];
    return Number.isSafeInteger(count) ? (count as number) : 0;
  });
}

const difference = (a: ThreadTotals, b: ThreadTotals): ThreadTotals => countsBy((name) => a[name] - b[name]);

const isNothing = (totals: ThreadTotals): boolean => Object.values(totals).every((count) => count === 0);

const usageOfTotals = (totals: ThreadTotals): Usage => usageIn(totals, 'within') ?? unknownUsage;

/** The tokens of one response, as newer versions record them. */
function readUsage(counted: unknown): Usage | undefined {
  if (!isObject(counted)) return undefined;
  const counts = countsBy((name) => counted[countNames[name]]);
  return usageIn(counts, 'within');
}
