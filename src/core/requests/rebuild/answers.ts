import { atOnce, type CommitSeq, type ContextId, type EntryKey, type Json, notFound, type Timestamp, toTimestamp } from '../../base/index.js';
import {
  type ContextRow,
  commitAt,
  contextEntries,
  findCommit,
  keep,
  lineage,
  newestFirst,
  placesTowardsRoot,
  type ReadChain,
  readOutline,
  recalled,
  walk,
} from '../../chain/index.js';
import type { Request, RequestPoint, RequestRow } from '../../contract/index.js';
import type { OutlineEntry } from '../../formats/index.js';
import { openDelta } from '../runtimes/before.js';
import { type Answer, type CallPlace, type CallReader, type Delta, makesCompaction, recordId, sentSize, shownCounts } from '../runtimes/runtime.js';
import { findReader, runtimes } from '../runtimes/runtimes.js';
import { addAll, type CauseSums, causeOfEntry, noCauses } from '../shared/causes.js';
import { causesBesidePrompt, leadingMessages } from './beside.js';

/** Calls without a complete record. Each answer stands for one call, whose body the rules of its runtime rebuild from the deltas before. */

interface Beginning {
  readonly key: EntryKey;
  /** The position of the entry in the delta. */
  readonly at: number;
  readonly messagesBefore: number;
  /** The tokens of all content before it, by cause. */
  readonly causes: CauseSums;
}

/** The state of counting messages at the end of a context. */
interface Count {
  readonly messages: number;
  /** The entry that began the last message. */
  readonly begun: OutlineEntry | undefined;
  readonly last: OutlineEntry | undefined;
  /** The format of all its deltas; undefined if their formats differ. */
  readonly format: string | undefined;
  readonly causes: CauseSums;
  readonly tools: Map<string, string>;
  /** The calls of the last answer that have no result yet, and the number of results. */
  readonly open: ReadonlySet<string>;
  readonly answered: number;
}

const nothing = (): Count => ({
  messages: 0,
  begun: undefined,
  last: undefined,
  format: undefined,
  causes: noCauses(),
  tools: new Map(),
  open: new Set(),
  answered: 0,
});

const callName = (commit: ContextId, key: EntryKey): string => `call:${commit}:${key}`;

/** The commit and answer that the id of such a call names; undefined for ids of other kinds. */
export function parseAnswerId(requestId: string): { readonly commit: ContextId; readonly key: EntryKey } | undefined {
  const found = /^call:(ctx-[0-9a-f]+):(.+)$/.exec(requestId);
  return found ? { commit: found[1] as ContextId, key: found[2] as EntryKey } : undefined;
}

/** Whether a record of an answer's call exists, so that it is left out. */
type IsRecorded = (record: string) => boolean;

/** The calls of the answers in these commits. Yields. */
export function* answerRows(chain: ReadChain, commits: readonly CommitSeq[], isRecorded: IsRecorded): Generator<undefined, RequestRow[]> {
  const found = yield* foundIn(chain, commits, isRecorded);
  return found.map(makeRow);
}

/** The call of an answer as lists show it. */
export const makeRow = ({ row, runtime, beginning, answer, at, isPure }: AnsweredCall): RequestRow => ({
  requestId: callName(row.id, beginning.key),
  at,
  commit: row.id,
  replyKey: beginning.key,
  ...(row.sessionId !== null && { sessionId: row.sessionId }),
  source: runtime.source,
  model: answer.model,
  messageCount: beginning.messagesBefore,
  tokens: shownCounts(answer.usage),
  proof: isPure && !answer.isRebuilt ? runtime.proof : 'rebuilt',
});

/** A call without the number of its messages, which only the whole context tells. */
export type BriefCall = Pick<RequestRow, 'requestId' | 'at' | 'model' | 'tokens' | 'proof'>;

/** The same calls of one commit. Of the commits before it, only the last entry of the assistant is read. */
export function briefAnswers(chain: ReadChain, commit: CommitSeq, isRecorded: IsRecorded): BriefCall[] {
  const row = commitAt(chain, commit);
  const before = row.parent === null ? undefined : briefCount(chain, commitAt(chain, row.parent), row.format);
  if (row.parent !== null && !before) return atOnce(answerRows(chain, [commit], isRecorded));
  const counts = new Map<CommitSeq, Count>(before && row.parent !== null ? [[row.parent, before]] : []);
  return atOnce(foundIn(chain, [commit], isRecorded, counts)).map(makeRow);
}

/** A count that only says where answers begin. Undefined if the formats of the context differ. */
function briefCount(chain: ReadChain, row: ContextRow, format: string): Count | undefined {
  const hasOther = placesTowardsRoot(chain, row).some(
    ({ run, depth }) => chain.db.one('SELECT 1 FROM commits WHERE run = ? AND depth <= ? AND format <> ? LIMIT 1', run, depth, format) !== undefined,
  );
  if (hasOther) return undefined;
  let last: OutlineEntry | undefined;
  for (const step of newestFirst(chain, row)) {
    last = readOutline(chain, step).entries.findLast(({ hidden, role }) => !hidden && role === 'assistant');
    if (last) break;
  }
  return { ...nothing(), last, format };
}

/** The content of the context windows of the same calls. */
export function* answerPoints(chain: ReadChain, commits: readonly CommitSeq[], isRecorded: IsRecorded): Generator<undefined, RequestPoint[]> {
  const found = yield* foundIn(chain, commits, isRecorded);
  const besides = causesBesidePrompt(chain);
  return found.map(({ row, beginning, answer, at }): RequestPoint => {
    const causes = { ...beginning.causes };
    addAll(causes, besides(row));
    return {
      requestId: callName(row.id, beginning.key),
      at,
      model: answer.model,
      messageCount: beginning.messagesBefore,
      counted: sentSize(answer.usage),
      output: answer.usage.output,
      causes,
    };
  });
}

export interface AnsweredCall {
  readonly row: ContextRow;
  readonly runtime: CallReader;
  readonly beginning: Beginning;
  readonly answer: Answer;
  readonly at: Timestamp;
  /** The whole context is of this runtime. */
  readonly isPure: boolean;
}

type Counts = Pick<Map<CommitSeq, Count>, 'get'> & { set(commit: CommitSeq, count: Count): void };

/** The number of bytes that a count takes in memory, about. */
const bytesPerCount = 600;

/** The counts that are kept because the calls of a long context are listed one commit after another. */
const countsOf = (chain: ReadChain): Counts => ({
  get: (commit) => recalled<Count>(chain, 'messages', String(commit)),
  set: (commit, count) => keep(chain, 'messages', String(commit), count, bytesPerCount),
});

const commitsPerStep = 16;

/** The calls of the answers in these commits. Yields between steps. */
export function* foundIn(
  chain: ReadChain,
  commits: readonly CommitSeq[],
  isRecorded: IsRecorded,
  counts = countsOf(chain),
): Generator<undefined, AnsweredCall[]> {
  const found: AnsweredCall[] = [];
  for (const [n, seq] of commits.entries()) {
    if (n % commitsPerStep === 0) yield;
    const row = commitAt(chain, seq);
    const runtime = findReader(row.format);
    const hasCalls = row.type === 'delta' || makesCompaction(row, runtime);
    if (hasCalls && row.parent !== null && !counts.get(row.parent)) yield* countTo(chain, row.parent, counts);
    const { beginnings, end } = beginningsOf(chain, row, counts);
    counts.set(seq, end);
    const unrecorded = beginnings.filter(({ key }) => !isRecorded(recordId(key)));
    // A context that a person assembled by forking was never sent.
    if (!hasCalls || row.forked || !unrecorded.length) continue;
    const delta = openDelta(chain, row);
    for (const { messagesBefore, ...beginning } of unrecorded) {
      const answer = runtime.answer(delta, beginning.at);
      const at = answer?.at ?? delta.entries[beginning.at]?.at ?? toTimestamp(row.createdAt);
      const placed = { ...beginning, messagesBefore: leadingMessages(chain, row) + messagesBefore };
      if (answer) found.push({ row, runtime, beginning: placed, answer, at, isPure: end.format === row.format });
    }
  }
  return found;
}

/** The number of messages that were sent for an answer in the commit. */
export function messagesBefore(chain: ReadChain, row: ContextRow, key: EntryKey): number | undefined {
  const beginning = beginningsOf(chain, row, new Map()).beginnings.find((one) => one.key === key);
  return beginning && leadingMessages(chain, row) + beginning.messagesBefore;
}

/** The answers that begin in a commit, including that of the call that made a compaction, and the count at its end. Fills gaps in `counts`. */
function beginningsOf(chain: ReadChain, row: ContextRow, counts: Counts): ReturnType<typeof countIn> {
  const runtime = findReader(row.format);
  const countBefore = (): Count | undefined =>
    row.parent === null ? undefined : (counts.get(row.parent) ?? atOnce(countTo(chain, row.parent, counts)));
  const counted = countIn(chain, row, row.type === 'delta' ? countBefore() : undefined);
  if (!makesCompaction(row, runtime)) return counted;
  const { entries } = readOutline(chain, row);
  const at = entries.findIndex(({ hidden, role }) => hidden && role === 'assistant');
  const sent = at < 0 ? undefined : countBefore();
  if (!sent) return counted;
  const call = { key: (entries[at] as OutlineEntry).key, at, messagesBefore: closed(sent, runtime), causes: { ...sent.causes } };
  return { ...counted, beginnings: [call, ...counted.beginnings] };
}

/** Counts a commit's own entries after `before`, the count of its parent. */
function countIn(chain: ReadChain, row: ContextRow, before: Count | undefined) {
  const runtime = findReader(row.format);
  const { entries } = readOutline(chain, row);
  const beginnings: Beginning[] = [];
  let count = before ?? nothing();
  const { tools } = count;
  const sums = { ...count.causes };
  entries.forEach((entry, at) => {
    if (entry.hidden) return;
    const { last } = count;
    const isSpoken = entry.role === 'assistant';
    const isNew = isSpoken && entry.kind !== 'summary' && runtime.startsAnswer(entry, last);
    if (isNew || entry.role === 'user') count = { ...count, messages: closed(count, runtime), open: new Set(), answered: 0 };
    if (isNew) beginnings.push({ key: entry.key, at, messagesBefore: count.messages, causes: { ...sums } });
    if (runtime.isListed(entry) && runtime.startsMessage(entry, count.begun, last)) count = { ...count, messages: count.messages + 1, begun: entry };
    if (runtime.unanswered) count = { ...count, ...answeredBy(count, entry) };
    if (isSpoken) count = { ...count, last: entry };
    sums[causeOfEntry(entry, tools)] += entry.tokens;
  });
  return { beginnings, end: { ...count, causes: sums, tools, format: before && before.format !== row.format ? undefined : row.format } };
}

/** The messages, including those that the runtime adds for calls without a result. */
const closed = ({ messages, open, answered }: Count, { unanswered }: CallReader): number =>
  messages + (open.size > 0 ? (unanswered?.(open.size, answered) ?? 0) : 0);

function answeredBy({ open, answered }: Count, { kind, toolCallId }: OutlineEntry): Pick<Count, 'open' | 'answered'> {
  if (toolCallId === undefined) return { open, answered };
  if (kind === 'tool_call') return { open: new Set(open).add(toolCallId), answered };
  if (kind !== 'tool_result' || !open.has(toolCallId)) return { open, answered };
  return { open: new Set([...open].filter((id) => id !== toolCallId)), answered: answered + 1 };
}

/** The count at a commit, from the beginning of its context, in steps. Keeps the counts on the way in `counts`. */
function* countTo(chain: ReadChain, commit: CommitSeq, counts: Counts): Generator<undefined, Count> {
  let count = nothing();
  for (const [n, { seq }] of walk(chain, commitAt(chain, commit)).contributing.entries()) {
    if (n % commitsPerStep === 0) yield;
    const row = commitAt(chain, seq);
    count = counts.get(seq) ?? countIn(chain, row, row.type === 'delta' && row.parent !== null ? count : undefined).end;
    counts.set(seq, count);
  }
  return count;
}

/** The system prompts and tools that commits state, each with the calls of its session up to the next such commit. */
export function* statedParts(chain: ReadChain): Generator<StatedPart> {
  for (const { format, source, stated } of runtimes) {
    if (!stated) continue;
    const seqs = chain.db.column<CommitSeq>('SELECT seq FROM commits WHERE +project = ? AND format = ? ORDER BY seq', chain.project, format);
    const current = new Map<string, StatedPart[]>();
    const counts = new Map<CommitSeq, Count>();
    for (const seq of seqs) {
      const row = commitAt(chain, seq);
      const session = row.sessionId ?? row.id;
      const { system, tools, version } = stated(openDelta(chain, row)) ?? {};
      const before = current.get(session) ?? [];
      const begun = { agent: source, versions: version === undefined ? [] : [version], session, calls: 0, first: row.createdAt, last: row.createdAt };
      const now = (['system', 'tools'] as const).flatMap((kind): StatedPart[] => {
        const value = { system, tools }[kind];
        return value === undefined ? before.filter((part) => part.kind === kind) : [{ ...begun, kind, value }];
      });
      yield* before.filter((part) => !now.includes(part));
      const { beginnings, end } = beginningsOf(chain, row, counts);
      counts.set(seq, end);
      current.set(
        session,
        now.map((part) => ({ ...part, calls: part.calls + beginnings.length, last: Math.max(part.last, row.createdAt) })),
      );
    }
    for (const parts of current.values()) yield* parts;
  }
}

export interface StatedPart {
  readonly kind: 'system' | 'tools';
  readonly value: Json;
  readonly agent: string;
  readonly versions: readonly string[];
  readonly session: string;
  readonly calls: number;
  readonly first: number;
  readonly last: number;
}

/** One call, rebuilt by the rules of its runtime; `isBare`: without the entries it was sent. @throws NOT_FOUND for no such answer. */
export function getAnswered(chain: ReadChain, requestId: string, { commit, key }: { commit: ContextId; key: EntryKey }, isBare = false): Request {
  const row = findCommit(chain, commit, 'requestId');
  const runtime = findReader(row.format);
  const own = openDelta(chain, row);
  const at = own.entries.findIndex((entry) => entry.key === key);
  const first = own.entries[at];
  const answer = first?.role === 'assistant' ? runtime.answer(own, at) : undefined;
  if (!first || !answer) throw notFound(requestId, `${row.id} has no answer ${key}`);
  const asSummary = makesCompaction(row, runtime);
  // The call that made a compaction was sent the context before the compaction.
  const context = asSummary ? commitAt(chain, row.parent as CommitSeq) : row;
  const isPure = !isBare && !answer.isRebuilt && walk(chain, context).contributing.every((step) => step.format === row.format);
  const { missing, ...body } = runtime.body({
    replyKey: key,
    at: first.at ?? toTimestamp(row.createdAt),
    answer,
    makesCompaction: asSummary,
    entries: () => (isBare ? [] : entriesBefore(chain, context, key)),
    deltas: () =>
      asSummary ? [...deltasOf(chain, context, undefined), openDelta(chain, row, first.raw?.start)] : deltasOf(chain, row, first.raw?.start),
    earlier: () => earlierDeltas(chain, context),
  });
  const proof = isPure ? runtime.proof : 'rebuilt';
  return { requestId, ...body, headers: {}, digest: null, recordedDigest: null, proof, missing: [...missing] };
}

function entriesBefore(chain: ReadChain, row: ContextRow, key: EntryKey): ReturnType<CallPlace['entries']> {
  const all = contextEntries(chain, { id: row.id });
  const end = all.findIndex((each) => each.key === key);
  return all.slice(0, end < 0 ? all.length : end).map(({ entry }) => entry);
}

const deltasOf = (chain: ReadChain, row: ContextRow, end: number | undefined): Delta[] =>
  walk(chain, row).contributing.map((step) => openDelta(chain, step, step.seq === row.seq ? end : undefined));

function* earlierDeltas(chain: ReadChain, row: ContextRow): Generator<Delta> {
  const [first] = walk(chain, row).contributing;
  for (const step of lineage(chain, row).toReversed()) if (first && step.depth < first.depth) yield openDelta(chain, step);
}
