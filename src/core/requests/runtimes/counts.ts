import { once } from '../../base/index.js';
import type { CommitType } from '../../contract/index.js';
import {
  besidePrefix,
  type CallCount,
  type CallPart,
  doesOf,
  findFormat,
  isHidden,
  joinCalls,
  noCounts,
  type ParsedEntry,
  partOfEntries,
  requireFormat,
  type TokenUsage,
} from '../../formats/index.js';
import { answeringModel, type Delta, type EarlierDeltas, recordId, replyCounts, sentSize } from './runtime.js';
import { findReader } from './runtimes.js';

/** A delta whose bytes and entries are read on demand. */
interface CountedDelta {
  readonly format: string;
  readonly type: CommitType;
  readonly bytes: () => Uint8Array;
  readonly entries: () => readonly ParsedEntry[];
  readonly before?: EarlierDeltas | undefined;
}

/**
 * The calls whose replies a delta contains, with the counts that the agent recorded, and other calls of which only the counts are recorded.
 * A compaction repeats replies, so only the call that made it counts, if the agent records that call.
 */
export function callsOfDelta(given: CountedDelta): readonly CallCount[] {
  const { format, type } = given;
  const delta = { ...given, entries: once(given.entries) };
  if (type === 'snapshot') return [];
  const repeats = type === 'compaction' && !findReader(format).recordsCompactions;
  const own = findFormat(format)?.calls;
  if (own) return repeats ? [] : joinedAnswers(delta, own);
  const beside = [...besideIn(delta.entries()), ...totalsIn(delta.entries())];
  return repeats ? beside : [...joinedAnswers(delta), ...beside];
}

/** The most parts of a turn, and their bytes, that are read together. */
const most = { parts: 16, bytes: 8 * 1024 * 1024 };

/** The calls that a delta adds. An import within a turn may cut inside of a reply, so the parts of the turn are read together. */
function joinedAnswers(delta: CountedDelta, own?: (bytes: Uint8Array) => readonly CallCount[]): readonly CallCount[] {
  const parts: Uint8Array[] = [];
  let before = delta.type === 'delta' ? delta.before : undefined;
  for (let size = 0; before && parts.length < most.parts; ) {
    const parent = before.parent();
    size += parent?.bytes.length ?? 0;
    if (parent?.format !== delta.format || size > most.bytes) break;
    parts.unshift(parent.bytes);
    before = parent.before;
  }
  if (parts.length === 0) return own?.(delta.bytes()) ?? answersOf(delta, delta.entries());
  const entries = delta.entries();
  const format = requireFormat(delta.format);
  const callsIn = (deltas: readonly Uint8Array[]): readonly CallCount[] => {
    const bytes = Uint8Array.from(format.concat(deltas));
    return own?.(bytes) ?? answersOf({ ...delta, bytes: () => bytes, before }, format.parse(bytes).entries);
  };
  const earlier = new Set(callsIn(parts).map(comparedFacts));
  const added = callsIn([...parts, delta.bytes()]).filter((call) => !earlier.has(comparedFacts(call)));
  // A reply of which the earlier parts have no entries begins here.
  const known = new Set([entries, ...parts.map((part) => format.parse(part).entries)].flatMap((some) => some.map(({ key }) => key)));
  const begun = new Map(entries.toReversed().map(({ messageId, key }) => [messageId, key] as const));
  return added.map((call) => ({ ...call, key: (known.has(call.key) ? undefined : begun.get(call.id)) ?? call.key }));
}

const comparedFacts = ({ id, input, cacheRead, cacheWrite, output, reasoning, does, model, limit, terms, total }: CallCount): string =>
  JSON.stringify([id, input, cacheRead, cacheWrite, output, reasoning, does, model, limit, terms, total]);

/** The calls outside of the conversation. Each has a record of its own, which names its purpose. */
function besideIn(entries: readonly ParsedEntry[]): CallCount[] {
  return entries.flatMap((entry): CallCount[] => {
    if (!entry.marks?.includes('beside')) return [];
    return joinCalls([{ prompt: entry.toolName }, ...countsAt(entry, besidePrefix)]);
  });
}

/** The sums that an agent wrote of a session's calls of a model so far. The last one of each model counts. */
function totalsIn(entries: readonly ParsedEntry[]): CallCount[] {
  const totals = entries.filter(({ marks, author, usage }) => marks?.includes('total') && author !== undefined && usage);
  return [...new Map(totals.map((entry) => [entry.author, entry] as const)).values()].map((entry): CallCount => {
    const { key, author = '', usage } = entry;
    const { input = null, cacheRead = null, cacheWrite = null, output = null } = usage ?? noCounts;
    return { ...noCounts, id: `total:${author}`, key, model: author, input, cacheRead, cacheWrite, output, total: { cost: null, webSearch: null } };
  });
}

/** The counts in a record that only counts a call. */
function countsAt({ key, at, usage, messageId, ...entry }: ParsedEntry, prefix = ''): CallPart[] {
  if (!usage) return [];
  const { isCopy: _, ...counts }: TokenUsage = usage;
  const id = `${prefix}${messageId ?? recordId(key)}`;
  return [{ at, isFinal: true, reply: { id, key, model: answeringModel({ key, ...entry }), ...replyCounts(counts) } }];
}

function answersOf({ format, type, bytes, before }: CountedDelta, all: readonly ParsedEntry[]): readonly CallCount[] {
  const runtime = findReader(format);
  const delta: Delta = { type, format, bytes: bytes(), entries: all, end: bytes().length, before };
  if (runtime.counted) return runtime.counted(delta);
  const isReply = (entry: ParsedEntry): boolean =>
    entry.role === 'assistant' && entry.kind !== 'summary' && (isHidden(entry) === (type === 'compaction') || isInterrupted(entry));
  /** Whether the message is a reply of a model, by its id. */
  const seen = new Map<string, boolean>();
  return joinCalls(
    all.flatMap((entry, at): CallPart[] => {
      if (entry.marks?.includes('counts') && type !== 'compaction') return countsAt(entry);
      if (!isReply(entry)) return type === 'compaction' ? [] : [partOfEntries([entry]) ?? []].flat();
      const id = entry.messageId ?? recordId(entry.key);
      const does = doesOf([entry]);
      const common = { id, key: entry.key, model: answeringModel(entry), does };
      // A later record of a reply may have its counts.
      const isCountedHere = entry.usage !== undefined && !isHidden(entry);
      if (seen.get(id) && !isCountedHere) return [{ at: entry.at, reply: { ...common, ...noCounts } }];
      const answer = seen.has(id) && !isCountedHere ? undefined : runtime.answer(delta, at);
      const isCall = answer !== undefined && !entry.usage?.isCopy;
      seen.set(id, isCall);
      if (!isCall) return [];
      const isFinal = !isInterrupted(entry) || isEmpty(entry);
      return [{ at: answer.at ?? entry.at, isFinal, reply: { ...common, ...replyCounts(answer.usage), model: answer.model } }];
    }),
  );
}

const isEmpty = ({ marks }: ParsedEntry): boolean => marks?.includes('empty') ?? false;

/** Whether a reply was interrupted or empty. Such a reply was never sent again, but its call was counted. */
const isInterrupted = (entry: ParsedEntry): boolean => isHidden(entry) && entry.usage !== undefined && (sentSize(entry.usage) ?? 0) > 0;
