import type { ArtifactNo, CommitSeq, ContextId, EntryKey, Timestamp } from '../base/index.js';
import { type Chain, type ContextRow, lineage, outlineOf, parsedOf, type Step } from '../chain/index.js';
import { type Kind, type KnownFile, kinds, type MomentState, type ReplayStep } from '../contract/index.js';
import { countTokens } from '../formats/index.js';
import { type Knowledge, nothingKnown, todosOf, touchOf } from './files.js';

/**
 * A chain as it happened, made once and then asked at any moment: every entry that a model was sent is a step, from the
 * first prompt through every compaction. Sums run along with the steps, so that a state is looked up and never replayed.
 */
export interface Recording {
  /** The commits that are turns, in order. A snapshot repeats turns, it is none. */
  readonly turns: readonly RecordedTurn[];
  readonly steps: readonly ReplayStep[];
  /** The number of an entry's step; undefined where the chain has no such entry. */
  readonly stepOf: (key: EntryKey) => number | undefined;
  /** The state after the first `count` steps. */
  readonly stateAfter: (count: number) => MomentState;
  /** A file as it was known after the first `count` steps; undefined where none of them touched it. */
  readonly fileAfter: (count: number, path: string) => KnownFile | undefined;
}

export interface RecordedTurn {
  readonly seq: CommitSeq;
  readonly turnId: ContextId;
  readonly type: Step['type'];
  /** Its steps: the first, and how many. */
  readonly first: number;
  readonly count: number;
  readonly errors: number;
  readonly tokens: number;
  readonly startedAt: Timestamp | null;
  readonly endedAt: Timestamp | null;
}

/** Where an entry's content is, to be parsed again when it is asked for. */
interface Place {
  readonly artifact: ArtifactNo;
  readonly format: string;
  readonly index: number;
}

interface RecordedCall {
  readonly step: number;
  readonly key: EntryKey;
  readonly toolCallId: string;
  readonly toolName: string | null;
  readonly place: Place;
  answered: number;
}

interface RecordedTouch {
  /** The step of the result: before it, nothing is known of what the call did. */
  readonly step: number;
  readonly key: EntryKey;
  readonly how: KnownFile['touches'][number]['how'];
  readonly isFresh: boolean;
  readonly known: KnownFile['known'];
  readonly call: Place;
  readonly result: Place;
}

interface Dropped {
  readonly entries: number;
  readonly tokens: number;
  readonly byKind: MomentState['window']['byKind'];
  readonly commit: ContextId;
}

/** The few chains that were stepped through lately, by the project's chain and the tip. */
const kept = new WeakMap<Chain, Map<CommitSeq, Recorder>>();
const mostKept = 3;

/** The recording of the chain that ends at a commit. A chain that grew goes on with the recording of what it grew from. */
export function recordingOf(chain: Chain, tip: ContextRow): Recording {
  const known = kept.get(chain) ?? new Map<CommitSeq, Recorder>();
  kept.set(chain, known);
  const same = known.get(tip.seq);
  if (same) return same;
  const steps = lineage(chain, tip);
  const at = steps.findLastIndex((step) => known.has(step.seq));
  const from = steps[at];
  const recorder = (from && known.get(from.seq)) || newRecorder(chain);
  if (from) known.delete(from.seq);
  for (const step of steps.slice(at + 1)) recorder.add(step);
  known.set(tip.seq, recorder);
  for (const oldest of known.keys()) {
    if (known.size <= mostKept) break;
    known.delete(oldest);
  }
  return recorder;
}

interface Recorder extends Recording {
  add(step: Step): void;
}

const isTurn = (step: Pick<Step, 'type' | 'parent'>): boolean => step.type !== 'snapshot' || step.parent === null;

function newRecorder(chain: Chain): Recorder {
  const turns: RecordedTurn[] = [];
  const steps: ReplayStep[] = [];
  const numbers = new Map<EntryKey, number>();
  /** Tokens and entries of the window after each step. */
  const sums: Record<Kind, number[]> = { text: [], thinking: [], tool_call: [], tool_result: [], image: [], summary: [], event: [] };
  const entryCounts: number[] = [];
  const now: Record<Kind, number> = { text: 0, thinking: 0, tool_call: 0, tool_result: 0, image: 0, summary: 0, event: 0 };
  let windowEntries = 0;
  let windowTokens = 0;
  const dropped = new Map<number, Dropped>();
  const calls: RecordedCall[] = [];
  const openCalls = new Map<string, RecordedCall>();
  const resultTokens = new Map<string, number>();
  const files = new Map<string, { readonly touches: RecordedTouch[]; knowledge: Knowledge }>();
  const todos: { readonly step: number; readonly list: MomentState['todos'] }[] = [];

  const forgetWindow = (): void => {
    for (const kind of kinds) now[kind] = 0;
    windowEntries = 0;
    windowTokens = 0;
    resultTokens.clear();
  };

  /** What a delta takes out of earlier results leaves the window before its own entries come. */
  const elide = (toolCallIds: readonly string[], text: string): void => {
    const left = countTokens(text);
    for (const id of toolCallIds) {
      const before = resultTokens.get(id);
      if (before === undefined || before <= left) continue;
      now.tool_result -= before - left;
      windowTokens -= before - left;
      resultTokens.set(id, left);
    }
  };

  const noteCall = (step: number, key: EntryKey, toolCallId: string, place: Place): void => {
    const entry = parsedOf(chain, place.artifact, place.format).entries[place.index];
    const call = { step, key, toolCallId, toolName: entry?.toolName ?? null, place, answered: Number.POSITIVE_INFINITY };
    calls.push(call);
    openCalls.set(toolCallId, call);
    const list = entry && todosOf(entry);
    if (list) todos.push({ step, list });
  };

  const noteResult = (step: number, toolCallId: string, place: Place): void => {
    const call = openCalls.get(toolCallId);
    if (!call) return;
    openCalls.delete(toolCallId);
    call.answered = step;
    const said = parsedOf(chain, call.place.artifact, call.place.format).entries[call.place.index];
    const result = parsedOf(chain, place.artifact, place.format).entries[place.index];
    const touch = said && result && touchOf(said, result);
    if (!touch) return;
    const file = files.get(touch.path) ?? { touches: [], knowledge: nothingKnown };
    file.knowledge = touch.apply(file.knowledge);
    const { how, isFresh } = touch;
    file.touches.push({ step, key: call.key, how, isFresh, known: file.knowledge.known, call: call.place, result: place });
    files.set(touch.path, file);
  };

  const add = (commit: Step): void => {
    if (!isTurn(commit)) return;
    const outline = outlineOf(chain, commit.artifact, commit.format);
    const parsed = parsedOf(chain, commit.artifact, commit.format);
    const first = steps.length;
    if (commit.type === 'compaction') {
      const replaced = { entries: windowEntries, tokens: windowTokens, byKind: byKind(now), commit: commit.id };
      if (replaced.entries) dropped.set(first, replaced);
      forgetWindow();
    }
    for (const { toolCallIds, text } of outline.elisions) elide(toolCallIds, text);
    let errors = 0;
    let startedAt: Timestamp | null = null;
    let endedAt: Timestamp | null = null;
    for (const [index, entry] of outline.entries.entries()) {
      if (entry.hidden) continue;
      const number = steps.length;
      const at = parsed.entries[index]?.at;
      const { key, role, kind, tokens, head, toolCallId, isError } = entry;
      const place = { artifact: commit.artifact, format: commit.format, index };
      startedAt ??= at ?? null;
      endedAt = at ?? endedAt;
      if (isError) errors++;
      now[kind] += tokens;
      windowTokens += tokens;
      windowEntries++;
      if (toolCallId !== undefined && kind === 'tool_call') noteCall(number, key, toolCallId, place);
      if (toolCallId !== undefined && kind === 'tool_result') {
        resultTokens.set(toolCallId, tokens);
        noteResult(number, toolCallId, place);
      }
      const replaced = number === first ? dropped.get(first) : undefined;
      steps.push({
        key,
        role,
        kind,
        tokens,
        commit: commit.id,
        window: windowTokens,
        ...(head !== undefined && { head }),
        ...(toolCallId !== undefined && { toolCallId }),
        ...(isError && { isError }),
        ...(at !== undefined && { at }),
        ...(replaced && { dropped: { entries: replaced.entries, tokens: replaced.tokens } }),
      });
      if (!numbers.has(key)) numbers.set(key, number);
      for (const each of kinds) sums[each].push(now[each]);
      entryCounts.push(windowEntries);
    }
    const { seq, id: turnId, type, tokenCount: tokens } = commit;
    turns.push({ seq, turnId, type, first, count: steps.length - first, errors, tokens, startedAt, endedAt });
  };

  const stateAfter = (count: number): MomentState => {
    const last = count - 1;
    const step = steps[last];
    const gone = dropped.get(last);
    return {
      step: count,
      steps: steps.length,
      entry: step?.key ?? null,
      at: steps.slice(Math.max(0, count - 64), count).findLast((each) => each.at !== undefined)?.at ?? null,
      window: {
        entries: entryCounts[last] ?? 0,
        tokens: step?.window ?? 0,
        byKind: kinds.flatMap((kind) => (sums[kind][last] ? [{ kind, tokens: sums[kind][last] }] : [])),
      },
      dropped: gone ?? null,
      openCalls: calls
        .slice(0, firstAfter(calls, last))
        .filter((call) => call.answered > last)
        .map(({ key, toolCallId, toolName }) => ({ key, toolCallId, toolName })),
      files: [...files].flatMap(([path, { touches }]) => {
        const touched = firstAfter(touches, last);
        const latest = touches[touched - 1];
        return latest ? [{ path, known: latest.known, touches: touched, last: { key: latest.key, how: latest.how, step: latest.step + 1 } }] : [];
      }),
      todos: todos[firstAfter(todos, last) - 1]?.list ?? [],
    };
  };

  const fileAfter = (count: number, path: string): KnownFile | undefined => {
    const all = files.get(path)?.touches ?? [];
    const touches = all.slice(0, firstAfter(all, count - 1));
    const from = touches.findLastIndex((touch) => touch.isFresh);
    let knowledge = nothingKnown;
    for (const { call, result } of touches.slice(Math.max(0, from))) {
      const [said, answered] = [call, result].map((place) => parsedOf(chain, place.artifact, place.format).entries[place.index]);
      knowledge = (said && answered && touchOf(said, answered)?.apply(knowledge)) ?? knowledge;
    }
    return touches.length ? { path, ...knowledge, touches: touches.map(({ key, how, step }) => ({ key, how, step: step + 1 })) } : undefined;
  };

  return { turns, steps, stepOf: (key) => numbers.get(key), stateAfter, fileAfter, add };
}

const byKind = (tokens: Readonly<Record<Kind, number>>): MomentState['window']['byKind'] =>
  kinds.flatMap((kind) => (tokens[kind] ? [{ kind, tokens: tokens[kind] }] : []));

/** The place of the first item of a list in step order that comes after a step. */
function firstAfter(list: readonly { readonly step: number }[], step: number): number {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((list[middle]?.step ?? 0) <= step) low = middle + 1;
    else high = middle;
  }
  return low;
}
