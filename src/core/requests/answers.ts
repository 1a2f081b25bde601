import { type CommitSeq, type ContextId, type EntryKey, type Json, notFound, type Timestamp, timestampOf } from '../base/index.js';
import {
  type Chain,
  type ContextRow,
  commitAt,
  commitOf,
  contextEntries,
  lineage,
  type OutlineEntry,
  outlineOf,
  parsedOf,
  type Step,
  walk,
} from '../chain/index.js';
import type { Request, RequestPoint, RequestRow } from '../contract/index.js';
import { addTo, byCause, type CauseSums, causeOfEntry, noCauses } from './causes.js';
import { once } from './once.js';
import { type Answer, type CallPlace, type Delta, type Runtime, recordOf, windowOf } from './runtime.js';
import { runtimeOf, runtimes } from './runtimes.js';

/**
 * Calls that no record holds whole: each answer in the chain was one. What was sent is put together by the runtime that
 * wrote the answer, out of the deltas before it.
 */

/** The beginning of an answer in a commit's own delta. */
interface Beginning {
  readonly key: EntryKey;
  /** Its number among the entries of the delta. */
  readonly at: number;
  readonly messagesBefore: number;
  /** Tokens of all that was before it. */
  readonly causes: CauseSums;
}

/** Where counting messages stands at the end of a context. */
interface Count {
  readonly messages: number;
  /** The entry that began the last message. */
  readonly begun: OutlineEntry | undefined;
  /** The last entry of the assistant. */
  readonly last: OutlineEntry | undefined;
  /** The format of all its deltas; undefined where they are of several. */
  readonly format: string | undefined;
  readonly causes: CauseSums;
  readonly tools: Map<string, string>;
}

const nothing = (): Count => ({ messages: 0, begun: undefined, last: undefined, format: undefined, causes: noCauses(), tools: new Map() });

const idOf = (commit: ContextId, key: EntryKey): string => `call:${commit}:${key}`;

/** The commit and the answer that the id of such a call names; undefined for ids of other kinds. */
export function parseAnswerId(requestId: string): { readonly commit: ContextId; readonly key: EntryKey } | undefined {
  const found = /^call:(ctx-[0-9a-f]+):(.+)$/.exec(requestId);
  return found ? { commit: found[1] as ContextId, key: found[2] as EntryKey } : undefined;
}

/** Calls that answers of these commits stand for. `isRecorded` says of an answer's record that its call is known better. */
export const answerRows = (chain: Chain, commits: readonly CommitSeq[], isRecorded: (record: string) => boolean): RequestRow[] =>
  answersIn(chain, commits, isRecorded).map(({ row, runtime, beginning, answer, at, isPure }) => ({
    requestId: idOf(row.id, beginning.key),
    at,
    commit: row.id,
    replyKey: beginning.key,
    ...(row.sessionId !== null && { sessionId: row.sessionId }),
    source: runtime.source,
    model: answer.model,
    messageCount: beginning.messagesBefore,
    tokens: answer.usage,
    proof: isPure ? runtime.proof : 'rebuilt',
  }));

/** What filled the windows of the same calls. */
export const answerPoints = (chain: Chain, commits: readonly CommitSeq[], isRecorded: (record: string) => boolean): RequestPoint[] =>
  answersIn(chain, commits, isRecorded).map(({ row, beginning, answer, at }) => ({
    requestId: idOf(row.id, beginning.key),
    at,
    model: answer.model,
    messageCount: beginning.messagesBefore,
    counted: windowOf(answer.usage),
    output: answer.usage.output,
    causes: byCause(beginning.causes),
  }));

interface Found {
  readonly row: ContextRow;
  readonly runtime: Runtime;
  readonly beginning: Beginning;
  readonly answer: Answer;
  readonly at: Timestamp;
  /** The whole context is of this runtime. */
  readonly isPure: boolean;
}

function answersIn(chain: Chain, commits: readonly CommitSeq[], isRecorded: (record: string) => boolean): Found[] {
  const counts = new Map<CommitSeq, Count>();
  return commits.flatMap((seq) => {
    const row = commitAt(chain, seq);
    const { beginnings, end } = beginningsOf(chain, row, counts);
    counts.set(seq, end);
    // What a person put together by forking was never sent.
    const unrecorded = beginnings.filter(({ key }) => !isRecorded(recordOf(key)));
    if (row.type !== 'delta' || row.forked || !unrecorded.length) return [];
    const runtime = runtimeOf(row.format);
    const delta = deltaOf(chain, row);
    return unrecorded.flatMap((beginning): Found[] => {
      const answer = runtime.answer(delta, beginning.at);
      const at = answer?.at ?? delta.entries[beginning.at]?.at ?? timestampOf(row.createdAt);
      return answer ? [{ row, runtime, beginning, answer, at, isPure: end.format === row.format }] : [];
    });
  });
}

function beginningsOf(chain: Chain, row: ContextRow, counts: ReadonlyMap<CommitSeq, Count>): { beginnings: Beginning[]; end: Count } {
  const runtime = runtimeOf(row.format);
  const beginnings: Beginning[] = [];
  const before = row.type === 'delta' && row.parent !== null ? (counts.get(row.parent) ?? countTo(chain, row)) : undefined;
  const { causes, tools, ...start } = before ?? nothing();
  let { messages, begun, last } = start;
  const sums = [...causes];
  outlineOf(chain, row.artifact, row.format).entries.forEach((entry, at) => {
    if (entry.hidden) return;
    const isSpoken = entry.role === 'assistant';
    if (isSpoken && entry.kind !== 'summary' && runtime.startsAnswer(entry, last))
      beginnings.push({ key: entry.key, at, messagesBefore: runtime.leadingMessages + messages, causes: [...sums] });
    if (runtime.isListed(entry) && runtime.startsMessage(entry, begun, last)) {
      messages += 1;
      begun = entry;
    }
    if (isSpoken) last = entry;
    addTo(sums, causeOfEntry(entry, tools), entry.tokens);
  });
  return { beginnings, end: { messages, begun, last, causes: sums, tools, format: before && before.format !== row.format ? undefined : row.format } };
}

/** The count at the commit before this one, from the beginning of its context on. */
function countTo(chain: Chain, row: ContextRow): Count {
  const counts = new Map<CommitSeq, Count>();
  let count = nothing();
  for (const step of walk(chain, commitAt(chain, row.parent as CommitSeq)).contributing) {
    const at = commitAt(chain, step.seq);
    if (at.parent !== null) counts.set(at.parent, count);
    count = beginningsOf(chain, at, counts).end;
  }
  return count;
}

/** Read and parsed when it is looked at. */
function deltaOf(chain: Chain, { id, type, format, artifact }: Pick<Step, 'id' | 'type' | 'format' | 'artifact'>, end?: number): Delta {
  const bytes = once(() => chain.artifacts.read(artifact));
  const entries = once(() => parsedOf(chain, artifact, format).entries);
  return {
    commit: id,
    type,
    format,
    get bytes() {
      return bytes();
    },
    get entries() {
      return entries();
    },
    get end() {
      return end ?? chain.artifacts.stat(artifact).size;
    },
  };
}

/** What commits state of system prompts and tools, each with the calls of its session from there on to the next such commit. */
export function* statedParts(chain: Chain): Generator<StatedPart> {
  for (const { format, source, stated } of runtimes) {
    if (!stated) continue;
    const rows = chain.db.all<{ seq: CommitSeq }>('SELECT seq FROM context WHERE project = ? AND format = ? ORDER BY seq', chain.project, format);
    /** By session, what was stated last. */
    const current = new Map<string, StatedPart[]>();
    const counts = new Map<CommitSeq, Count>();
    for (const { seq } of rows) {
      const row = commitAt(chain, seq);
      const session = row.sessionId ?? row.id;
      const { system, tools, version } = stated(deltaOf(chain, row)) ?? {};
      const before = current.get(session) ?? [];
      const now = Object.entries({ system, tools }).flatMap(([kind, value]): StatedPart[] =>
        value === undefined
          ? before.filter((part) => part.kind === kind)
          : [
              {
                kind: kind as StatedPart['kind'],
                value,
                agent: source,
                versions: version === undefined ? [] : [version],
                session,
                calls: 0,
                first: row.createdAt,
                last: row.createdAt,
              },
            ],
      );
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

/** One call, put together by the rules of the runtime that wrote its answer. @throws NOT_FOUND. */
export function getAnswered(chain: Chain, requestId: string, commit: ContextId, key: EntryKey): Request {
  const row = commitOf(chain, commit, 'requestId');
  const runtime = runtimeOf(row.format);
  const own = deltaOf(chain, row);
  const at = own.entries.findIndex((entry) => entry.key === key);
  const first = own.entries[at];
  const answer = first?.role === 'assistant' ? runtime.answer(own, at) : undefined;
  if (!first || !answer) throw notFound(requestId, `${row.id} has no answer ${key}`);
  const isPure = walk(chain, row).contributing.every((step) => step.format === row.format);
  const { provider, body, missing } = runtime.body({
    commit: row.id,
    replyKey: key,
    at: first.at ?? timestampOf(row.createdAt),
    answer,
    entries: () => entriesBefore(chain, row, key),
    deltas: () => deltasOf(chain, row, first.raw?.start),
    earlier: () => earlierDeltas(chain, row),
  });
  return {
    requestId,
    provider,
    body,
    headers: {},
    digest: null,
    recordedDigest: null,
    proof: isPure ? runtime.proof : 'rebuilt',
    missing: [...missing],
  };
}

function entriesBefore(chain: Chain, row: ContextRow, key: EntryKey): ReturnType<CallPlace['entries']> {
  const all = contextEntries(chain, { id: row.id });
  return all
    .slice(
      0,
      all.findIndex((each) => each.key === key),
    )
    .map(({ entry }) => entry);
}

const deltasOf = (chain: Chain, row: ContextRow, end: number | undefined): Delta[] =>
  walk(chain, row).contributing.map((step) => deltaOf(chain, step, step.seq === row.seq ? end : undefined));

function* earlierDeltas(chain: Chain, row: ContextRow): Generator<Delta> {
  const [first] = walk(chain, row).contributing;
  for (const step of lineage(chain, row).toReversed()) if (first && step.depth < first.depth) yield deltaOf(chain, step);
}
