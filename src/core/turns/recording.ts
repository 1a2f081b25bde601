import { type CommitSeq, type EntryKey, firstWhere } from '../base/index.js';
import { type ContextRow, type EntrySums, keep, lineage, type ReadChain, recalled, type Step } from '../chain/index.js';
import { type KnownFile, kinds, type MomentState, type ReplayStep } from '../contract/index.js';
import { nothingKnown, touchOf } from './files.js';
import { addCommit, emptyTape, entryAt, type Tape } from './recorder.js';

/** A chain as steps: every entry that a model was sent, with running sums, so that the state at any step is a lookup. */
export interface Recording {
  readonly steps: ReplayStep[];
  readonly length: number;
  /** The number of an entry's step; undefined if the chain has no such entry. */
  readonly stepOf: (key: EntryKey) => number | undefined;
  readonly stateAfter: (count: number) => MomentState;
  /** A file as known after the first `count` steps; undefined if no step touched it. */
  readonly fileAfter: (count: number, path: string) => KnownFile | undefined;
}

/** The number of bytes that a step takes in a tape, about. */
const bytesPerStep = 350;
/** The number of tapes that are kept. */
const maxRecent = 3;

/** The recording of the chain that ends at a commit. It reuses the recording of an ancestor or of a descendant. */
export function recordingOf(chain: ReadChain, tip: ContextRow): Recording {
  const known = recalled<Map<CommitSeq, Tape>>(chain, 'tapes', '') ?? new Map<CommitSeq, Tape>();
  for (const tape of known.values()) {
    const length = tape.ends.get(tip.seq);
    if (length !== undefined) return reading(chain, tape, length);
  }
  const commits = lineage(chain, tip);
  const at = commits.findLastIndex((commit) => known.has(commit.seq));
  const from = commits[at];
  const tape = (from && known.get(from.seq)) || emptyTape();
  if (from) known.delete(from.seq);
  for (const commit of commits.slice(at + 1)) addCommit(chain, tape, commit);
  known.set(tip.seq, tape);
  for (const oldest of known.keys()) {
    if (known.size <= maxRecent) break;
    known.delete(oldest);
  }
  const steps = [...known.values()].reduce((sum, one) => sum + one.steps.length, 0);
  keep(chain, 'tapes', '', known, steps * bytesPerStep);
  return reading(chain, tape, tape.steps.length);
}

/** The steps of some commits in a row, after a window with these entries. */
export function taped(chain: ReadChain, commits: readonly Step[], { entries, tokens }: EntrySums): Tape {
  const tape = emptyTape();
  Object.assign(tape.window.byKind, tokens);
  tape.window.entries = entries;
  tape.window.tokens = Object.values(tokens).reduce((sum, each) => sum + each, 0);
  for (const commit of commits) addCommit(chain, tape, commit);
  return tape;
}

/** The first steps of a tape, which may grow. They are copied only for those who ask for them. */
function reading(chain: ReadChain, tape: Tape, length: number): Recording {
  return {
    length,
    get steps() {
      return tape.steps.slice(0, length);
    },
    stepOf: (key) => {
      const number = tape.numbers.get(key);
      return number !== undefined && number < length ? number : undefined;
    },
    stateAfter: (count) => ({ ...stateAfter(tape, count), steps: length }),
    fileAfter: (count, path) => fileAfter(chain, tape, count, path),
  };
}

/** Number of steps to search backward for a time. */
const nearTime = 64;

/** The state after the first steps of a tape. `before`: the number of steps before the tape, about which it says nothing. */
export function stateAfter(
  { steps, dropped, entryCounts, tokenSums, calls, files, todos }: Tape,
  count: number,
  before = 0,
): Omit<MomentState, 'steps'> {
  const last = count - 1;
  const step = steps[last];
  return {
    step: before + count,
    entry: step?.key ?? null,
    at: steps.slice(Math.max(0, count - nearTime), count).findLast((each) => each.at !== undefined)?.at ?? null,
    window: {
      entries: entryCounts[last] ?? 0,
      tokens: step?.window ?? 0,
      byKind: kinds.flatMap((kind) => (tokenSums[kind][last] ? [{ kind, tokens: tokenSums[kind][last] }] : [])),
    },
    dropped: dropped.get(last) ?? null,
    openCalls: openAt(calls, last),
    files: filesAt(files, last, before),
    todos: todos[firstAfter(todos, last) - 1]?.list ?? [],
    ...(before > 0 && { before }),
  };
}

/** The calls until a step that have no result then. */
function openAt(calls: Tape['calls'], last: number): MomentState['openCalls'] {
  const open: MomentState['openCalls'] = [];
  for (const { step, answered, key, toolCallId, toolName } of calls) {
    if (step > last) break;
    if (answered > last) open.push({ key, toolCallId, toolName });
  }
  return open;
}

/** The files that were touched up to a step, in the order of their first touches. */
function filesAt(files: Tape['files'], last: number, before: number): MomentState['files'] {
  const listed: MomentState['files'] = [];
  for (const [path, { touches }] of files) {
    const touched = firstAfter(touches, last);
    const latest = touches[touched - 1];
    if (!latest) break;
    latest.row ??= { path, known: latest.known, touches: touched, last: { key: latest.key, how: latest.how, step: before + latest.step + 1 } };
    listed.push(latest.row);
  }
  return listed;
}

function fileAfter(chain: ReadChain, { files }: Tape, count: number, path: string): KnownFile | undefined {
  const all = files.get(path)?.touches ?? [];
  const touches = all.slice(0, firstAfter(all, count - 1));
  const from = touches.findLastIndex((touch) => touch.isFresh);
  let knowledge = nothingKnown;
  for (const { call, result } of touches.slice(Math.max(0, from))) {
    const [made, answered] = [entryAt(chain, call), entryAt(chain, result)];
    knowledge = (made && answered && touchOf(call.format, made, answered)?.apply(knowledge)) ?? knowledge;
  }
  return touches.length ? { path, ...knowledge, touches: touches.map(({ key, how, step }) => ({ key, how, step: step + 1 })) } : undefined;
}

/** The index of the first item after a step. */
const firstAfter = (list: readonly { readonly step: number }[], step: number): number =>
  firstWhere(0, list.length, (at) => (list[at]?.step ?? 0) > step);
