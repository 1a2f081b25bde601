import { type ArtifactNo, type CommitSeq, type ContextId, defined, type EntryKey, type Timestamp } from '../base/index.js';
import { type ReadChain, readParsed, type Step } from '../chain/index.js';
import { type Kind, kinds, type MomentState, type ReplayStep } from '../contract/index.js';
import { countTokens, type DeltaOutline, outlineOfParsed } from '../formats/index.js';
import { isTurn } from '../usage/index.js';
import { type Knowledge, nothingKnown, type Touch, todosOf, touchOf } from './files.js';

type OutlineEntry = DeltaOutline['entries'][number];

/** The position of an entry's content. */
export interface ContentPlace {
  readonly artifact: ArtifactNo;
  readonly format: string;
  readonly index: number;
}

/** A tool call, and the step of its result (infinity while the call is open). */
interface RecordedToolCall {
  readonly step: number;
  readonly key: EntryKey;
  readonly toolCallId: string;
  readonly toolName: string | null;
  readonly place: ContentPlace;
  answered: number;
}

interface RecordedTouch extends Pick<Touch, 'how' | 'isFresh'>, Pick<Knowledge, 'known'> {
  /** The step of the result. The effect is unknown before this step. */
  readonly step: number;
  readonly key: EntryKey;
  readonly call: ContentPlace;
  readonly result: ContentPlace;
  /** What a state says of the file after this touch. The first state that lists it makes it, and later ones use it again. */
  row?: Readonly<MomentState['files'][number]>;
}

/** The context window while steps are added. */
interface Window {
  readonly byKind: Record<Kind, number>;
  entries: number;
  tokens: number;
  /** Tokens of each tool result in the window, by call id. */
  readonly results: Map<string, number>;
}

/** The state after the steps so far. `addCommit` extends it. */
export interface Tape {
  /** The number of steps up to the end of each turn. */
  readonly ends: Map<CommitSeq, number>;
  readonly steps: ReplayStep[];
  /** The first step of each entry key. */
  readonly numbers: Map<EntryKey, number>;
  readonly window: Window;
  /** Tokens by kind, and the number of entries, in the window after each step. */
  readonly tokenSums: Record<Kind, number[]>;
  readonly entryCounts: number[];
  /** The entries that a compaction removed from the window, by the step of its first entry. */
  readonly dropped: Map<number, NonNullable<MomentState['dropped']>>;
  readonly calls: RecordedToolCall[];
  readonly openCalls: Map<string, RecordedToolCall>;
  readonly files: Map<string, { readonly touches: RecordedTouch[]; knowledge: Knowledge }>;
  readonly todos: { readonly step: number; readonly list: MomentState['todos'] }[];
}

const byEachKind = <T>(make: () => T): Record<Kind, T> => Object.fromEntries(kinds.map((kind) => [kind, make()])) as Record<Kind, T>;

/** A tape without steps. */
export const emptyTape = (): Tape => ({
  ends: new Map(),
  steps: [],
  numbers: new Map(),
  window: { byKind: byEachKind(() => 0), entries: 0, tokens: 0, results: new Map() },
  tokenSums: byEachKind(() => []),
  entryCounts: [],
  dropped: new Map(),
  calls: [],
  openCalls: new Map(),
  files: new Map(),
  todos: [],
});

/** Adds the steps of the next commit of the chain. */
export function addCommit(chain: ReadChain, tape: Tape, commit: Step): void {
  if (!isTurn(commit)) return;
  const parsed = readParsed(chain, commit);
  const outline = outlineOfParsed(parsed);
  const first = tape.steps.length;
  if (commit.type === 'compaction') dropWindow(tape, first, commit.id);
  for (const { toolCallIds, text } of outline.elisions) elide(tape.window, toolCallIds, text);
  for (const [index, entry] of outline.entries.entries()) {
    if (entry.hidden) continue;
    const at = parsed.entries[index]?.at;
    addEntry(chain, tape, entry, { artifact: commit.artifact, format: commit.format, index }, { commit: commit.id, first, at });
  }
  tape.ends.set(commit.seq, tape.steps.length);
}

function dropWindow({ window, dropped }: Tape, step: number, commit: ContextId): void {
  if (window.entries) dropped.set(step, { entries: window.entries, tokens: window.tokens, byKind: nonZero(window.byKind), commit });
  for (const kind of kinds) window.byKind[kind] = 0;
  window.entries = 0;
  window.tokens = 0;
  window.results.clear();
}

/** Replaces earlier tool results with a shorter text, before the delta's own entries are added. */
function elide(window: Window, toolCallIds: readonly string[], text: string): void {
  const left = countTokens(text);
  for (const id of toolCallIds) {
    const before = window.results.get(id);
    if (before === undefined || before <= left) continue;
    window.byKind.tool_result -= before - left;
    window.tokens -= before - left;
    window.results.set(id, left);
  }
}

function addEntry(
  chain: ReadChain,
  tape: Tape,
  entry: OutlineEntry,
  place: ContentPlace,
  { commit, first, at }: { readonly commit: ContextId; readonly first: number; readonly at: Timestamp | undefined },
): void {
  const { key, role, kind, tokens, head, toolCallId, isError } = entry;
  const { window, steps } = tape;
  const number = steps.length;
  window.byKind[kind] += tokens;
  window.tokens += tokens;
  window.entries++;
  if (toolCallId !== undefined && kind === 'tool_call') addCall(chain, tape, number, key, toolCallId, place);
  if (toolCallId !== undefined && kind === 'tool_result') {
    window.results.set(toolCallId, tokens);
    addResult(chain, tape, number, toolCallId, place);
  }
  const replaced = number === first ? tape.dropped.get(first) : undefined;
  steps.push({
    key,
    role,
    kind,
    tokens,
    commit,
    window: window.tokens,
    ...defined({ head, toolCallId }),
    ...(isError && { isError }),
    ...(at !== undefined && { at }),
    ...(replaced && { dropped: { entries: replaced.entries, tokens: replaced.tokens } }),
  });
  if (!tape.numbers.has(key)) tape.numbers.set(key, number);
  for (const each of kinds) tape.tokenSums[each].push(window.byKind[each]);
  tape.entryCounts.push(window.entries);
}

/** Reads the entry at a place; its delta is parsed on demand. */
export const entryAt = (chain: ReadChain, place: ContentPlace) => readParsed(chain, place).entries[place.index];

function addCall(chain: ReadChain, tape: Tape, step: number, key: EntryKey, toolCallId: string, place: ContentPlace): void {
  const entry = entryAt(chain, place);
  const call = { step, key, toolCallId, toolName: entry?.toolName ?? null, place, answered: Number.POSITIVE_INFINITY };
  tape.calls.push(call);
  tape.openCalls.set(toolCallId, call);
  const list = entry && todosOf(entry);
  if (list) tape.todos.push({ step, list });
}

function addResult(chain: ReadChain, { openCalls, files }: Tape, step: number, toolCallId: string, place: ContentPlace): void {
  const call = openCalls.get(toolCallId);
  if (!call) return;
  openCalls.delete(toolCallId);
  call.answered = step;
  const [made, result] = [entryAt(chain, call.place), entryAt(chain, place)];
  const touch = made && result && touchOf(call.place.format, made, result);
  if (!touch) return;
  const file = files.get(touch.path) ?? { touches: [], knowledge: nothingKnown };
  file.knowledge = touch.apply(file.knowledge);
  const { how, isFresh } = touch;
  file.touches.push({ step, key: call.key, how, isFresh, known: file.knowledge.known, call: call.place, result: place });
  files.set(touch.path, file);
}

const nonZero = (tokens: Readonly<Record<Kind, number>>): MomentState['window']['byKind'] =>
  kinds.flatMap((kind) => (tokens[kind] ? [{ kind, tokens: tokens[kind] }] : []));
