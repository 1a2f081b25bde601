// What an agent wrote after it continued a context of this project, joined to that context.
import type { ByteRange, CommitSeq, ContextId } from '../base/index.js';
import { type ContextRow, commitAt, findCommit, holderOf, type ReadChain, readParsed, remember, type WriteChain } from '../chain/index.js';
import { namedFile, statLocated } from '../files/index.js';
import { commandIn, type FileBytes, type ParsedEntry, promptAt, recordOfKey, requireFormat } from '../formats/index.js';
import type { StorableCommit, StorablePlan } from './ahead.js';
import { type OpenFile, unlessUnreadable, withOpen } from './files.js';
import { contiguous, joined, storeSide } from './pieces.js';
import { saveSource } from './sources.js';

/** The name by which a plan refers to the context that an agent continues under a session id. */
const continuedRecord = (sessionId: string): string => `resumed:${sessionId}`;

/** Stores that an agent continues a context under this session id. */
function noteContinued(chain: WriteChain, sessionId: string, seq: CommitSeq): void {
  chain.db.run('INSERT OR IGNORE INTO resumed (project, sessionId, context) VALUES (?, ?, ?)', chain.project, sessionId, seq);
  remember(chain, { seq }, [continuedRecord(sessionId)]);
}

/** A file that was written for an agent, so that the agent continues a context in it. */
export interface WrittenSession {
  readonly id: ContextId;
  readonly path: string;
  readonly format: string;
  readonly sessionId: string;
  readonly cwd: string;
}

/** Stores a written session file. The chain has its content already, so nothing in it is new, and only what the agent adds will be. */
export function storeWritten(chain: WriteChain, { id, path, format, sessionId, cwd }: WrittenSession): void {
  // An agent that starts the session itself writes the file later.
  if (statLocated(namedFile(path)) === undefined) {
    chain.artifacts.transaction(() => noteContinued(chain, sessionId, findCommit(chain, id).seq));
    return;
  }
  const store = ({ bytes, hash: hashOf }: OpenFile): void => {
    const hash = hashOf();
    const size = bytes.length;
    chain.artifacts.transaction(() => {
      const { seq } = findCommit(chain, id);
      noteContinued(chain, sessionId, seq);
      const pieces = storeSide(chain, bytes, [{ start: 0, end: size }]);
      const whole = { size, hash, resumeAt: size, resumeHash: hash };
      saveSource(chain, { replaces: undefined, path, format, ...whole, sessionId, title: null, cwd, tips: [seq], pieces });
    });
  };
  withOpen(namedFile(path), store, {});
}

/** The newest files that were written for agents and changed since a time, the oldest first. A file that does not exist any more is left out. */
export function writtenFiles(chain: ReadChain, since: number, most: number): readonly string[] {
  const paths = chain.db.column<string>(
    `SELECT s.path FROM resumed r JOIN source s ON s.project = r.project AND s.sessionId = r.sessionId
      WHERE r.project = ? GROUP BY s.path ORDER BY MAX(r.no) DESC LIMIT ?`,
    [chain.project, most],
  );
  return paths.reverse().filter((path) => (unlessUnreadable(() => statLocated(namedFile(path))?.mtimeMs) ?? 0) >= since);
}

/** A context that an agent continues. */
interface Continued {
  readonly row: ContextRow;
  /** The prompts at its end, as the agent is given them; undefined if it is no fork or does not end with a prompt. */
  readonly prompt: string | undefined;
}

type Ref = StorableCommit['parent'];

/**
 * Joins a plan to the context that its session continues. The answer to the prompt of a fork becomes a child of the fork, without the prompt, which the
 * fork already has; the agent's line with the prompt is kept with the file. A session in which the agent itself forked the work is found by the prompt.
 */
export function joinFork(chain: WriteChain, plan: StorablePlan, bytes: FileBytes): StorablePlan {
  const known = plan.sessionId === undefined ? undefined : continuedBy(chain, plan.sessionId);
  if (known) return new Joining(chain, plan, bytes, known).joined();
  const first = plan.commits.find(({ type, parent }) => type === 'delta' && !isPlanned(parent));
  const found = first && plan.sessionId !== undefined ? askedBy(chain, first) : undefined;
  if (!found || plan.sessionId === undefined) return plan;
  noteContinued(chain, plan.sessionId, found.row.seq);
  return new Joining(chain, plan, bytes, found).joined();
}

const isPlanned = (ref: Ref): ref is { readonly plan: number } => ref !== null && 'plan' in ref;

class Joining {
  readonly #here: { readonly record: string };
  readonly #side: ByteRange[] = [];

  constructor(
    private readonly chain: WriteChain,
    private readonly plan: StorablePlan,
    private readonly bytes: FileBytes,
    private readonly continued: Continued,
  ) {
    this.#here = { record: continuedRecord(plan.sessionId ?? '') };
  }

  joined(): StorablePlan {
    const { commits, side, tips } = this.plan;
    const made: StorableCommit[] = [];
    const placeOf: NonNullable<Ref>[] = [];
    for (const planned of commits) {
      const given = this.#planned(planned);
      placeOf.push(given ? { plan: made.length } : this.#here);
      if (given) made.push({ ...given, parent: isPlanned(given.parent) ? (placeOf[given.parent.plan] ?? null) : given.parent });
    }
    return {
      ...this.plan,
      commits: made,
      side: [...side, ...this.#side].sort((a, b) => a.start - b.start),
      tips: tips.map((tip) => (isPlanned(tip) ? (placeOf[tip.plan] ?? this.#here) : this.#isStart(tip) ? this.#here : tip)),
    };
  }

  /** A commit of the plan in its place; undefined if nothing but the prompt is in it. */
  #planned(planned: StorableCommit): StorableCommit | undefined {
    const { parent, type } = planned;
    if (isPlanned(parent) || !this.#isStart(parent)) return planned;
    const { prompt } = this.continued;
    if (prompt === undefined) return parent === null ? { ...planned, parent: this.#here } : planned;
    const typed = type === 'delta' ? promptIn(planned.entries) : undefined;
    if (typed && normalizeText(typed) === prompt) return this.#withoutPrompt(planned);
    // The person typed something else. That continues the state before the fork's prompt, where the file contains it.
    if (typed) return parent === null ? { ...planned, parent: this.#here } : planned;
    return { ...planned, parent: this.#here, ...(type === 'delta' && this.#title) };
  }

  /** An answer is titled as the fork, because both are one turn. */
  get #title(): Pick<StorableCommit, 'summary'> {
    const { summary } = this.continued.row;
    return summary === null ? {} : { summary };
  }

  /** Whether a reference names the state from which the agent continued. */
  #isStart(ref: Ref): boolean {
    if (ref === null) return true;
    if (isPlanned(ref)) return false;
    const { row, prompt } = this.continued;
    const seq = holderOf(this.chain, ref.record);
    if (seq === undefined) return true;
    if (prompt === undefined) return seq === row.seq;
    if (seq === row.seq || seq === row.parent) return true;
    const holder = commitAt(this.chain, seq);
    return holder.parent === row.parent && holder.sessionId !== this.plan.sessionId;
  }

  /** The commit without the prompt that the fork already contains, titled as the fork. */
  #withoutPrompt(planned: StorableCommit): StorableCommit | undefined {
    const { row, prompt } = this.continued;
    const format = requireFormat(this.plan.format);
    let ranges = contiguous(planned.ranges);
    for (let tries = 0; tries < maxCopies; tries++) {
      const entries = format.parse(joined(this.bytes, ranges)).entries;
      const typed = promptIn(entries);
      if (!typed?.raw || normalizeText(typed) !== prompt) break;
      const cut = cutOut(ranges, typed.raw);
      ranges = cut.kept;
      this.#side.push(...cut.removed);
      remember(this.chain, row, [recordOfKey(typed.key)]);
    }
    const content = joined(this.bytes, planned.kept ? contiguous([...ranges, ...planned.kept]) : ranges);
    const { entries, elisions } = format.parse(Uint8Array.from(content));
    if (!entries.some(({ role, marks }) => role !== 'user' && role !== 'system' && !marks?.includes('hidden'))) {
      this.#side.push(...ranges);
      return undefined;
    }
    const { outline: _, entries: __, elisions: ___, ...facts } = { ...planned };
    return { ...facts, ranges, entries, elisions, parent: this.#here, ...this.#title };
  }
}

/** How often an agent may write one prompt into a turn. */
const maxCopies = 4;

/** The ranges of a file without a range of the bytes that they hold together. */
function cutOut(ranges: readonly ByteRange[], { start, end }: ByteRange): { readonly kept: ByteRange[]; readonly removed: ByteRange[] } {
  const kept: ByteRange[] = [];
  const removed: ByteRange[] = [];
  let at = 0;
  for (const range of ranges) {
    const place = (offset: number): number => Math.min(range.end, Math.max(range.start, range.start + offset - at));
    const [from, to] = [place(start), place(end)];
    for (const part of [
      { start: range.start, end: from },
      { start: to, end: range.end },
    ])
      if (part.start < part.end) kept.push(part);
    if (from < to) removed.push({ start: from, end: to });
    at += range.end - range.start;
  }
  return { kept: contiguous(kept), removed };
}

/** The text of a prompt as the person typed it: an agent writes a slash command in tags. */
const normalizeText = ({ text = '' }: Pick<ParsedEntry, 'text'>): string => (commandIn(text) ?? text).replaceAll('\r\n', '\n').trim();

const visible = (entries: readonly ParsedEntry[]): ParsedEntry[] => entries.filter(({ marks }) => !marks?.includes('hidden'));
const isTyped = ({ role, kind, text }: ParsedEntry): boolean => kind === 'text' && promptAt([{ role, kind, head: text }]) === 0;

/** The prompt that a person typed before the first reply, without what an agent added to it, such as the text of a slash command. */
function promptIn(entries: readonly ParsedEntry[]): ParsedEntry | undefined {
  const shown = visible(entries).filter(({ marks }) => !marks?.includes('meta'));
  const reply = shown.findIndex(({ role }) => role === 'assistant');
  const at = promptAt((reply < 0 ? shown : shown.slice(0, reply)).map(({ role, kind, text }) => ({ role, kind, head: text })));
  return at === undefined ? undefined : shown[at];
}

/** The context that an agent continues under a session id. */
function continuedBy(chain: ReadChain, sessionId: string): Continued | undefined {
  const select = 'SELECT context FROM resumed WHERE project = ? AND sessionId = ? ORDER BY no DESC LIMIT 1';
  const seq = chain.db.value<CommitSeq>(select, chain.project, sessionId);
  return seq === undefined ? undefined : continuedAt(chain, seq);
}

function continuedAt(chain: ReadChain, seq: CommitSeq): Continued {
  const row = commitAt(chain, seq);
  const shown = row.forked && row.type === 'delta' ? visible(readParsed(chain, row).entries) : [];
  const prompts = shown.slice(shown.findLastIndex((entry) => !isTyped(entry)) + 1);
  return { row, prompt: prompts.length > 0 ? normalizeText({ text: prompts.map(({ text }) => text).join('\n\n') }) : undefined };
}

/** The fork that was continued in an agent and whose prompt a planned commit of another session repeats at the same place. */
function askedBy(chain: ReadChain, planned: StorableCommit): Continued | undefined {
  const { parent } = planned;
  if (parent === null || isPlanned(parent)) return undefined;
  const forks = chain.db.all<{ context: CommitSeq; parent: CommitSeq | null }>(
    'SELECT r.context, c.parent FROM resumed r JOIN commits c ON c.seq = r.context WHERE r.project = ? AND c.forked = 1 ORDER BY r.no DESC',
    chain.project,
  );
  if (forks.length === 0) return undefined;
  const seq = holderOf(chain, parent.record);
  const holder = seq === undefined ? undefined : commitAt(chain, seq);
  const near = forks.filter((fork) => fork.parent !== null && (fork.parent === holder?.seq || fork.parent === holder?.parent));
  if (near.length === 0) return undefined;
  const typed = promptIn(planned.entries);
  if (!typed) return undefined;
  return near.map(({ context }) => continuedAt(chain, context)).find(({ prompt }) => prompt !== undefined && prompt === normalizeText(typed));
}
