// Turns that were imported in parts, because their file was read while the agent wrote it.
import type { CommitSeq } from '../base/index.js';
import { commandIn, type DeltaOutline, isClosingWord, outlineOfParsed, type ParsedEntry, promptAt, queuedPrefix } from '../formats/index.js';
import type { ContextRow, ReadChain, WriteChain } from './chain.js';
import { commitAt } from './find.js';
import { readOutline, readParsed } from './outline.js';
import { holderOf, remember } from './records.js';

/** Whether a commit is a whole turn, and not a compaction or a part of a turn. */
export const isTurn = ({ type, checkpoint }: { readonly type: string; readonly checkpoint: string }): boolean =>
  type === 'delta' && checkpoint !== 'tool_call' && checkpoint !== 'assistant_message';

/** The prefix of a record for a commit that begins no turn of its own. The commit's id follows. */
const goesOn = 'goes on ';

/**
 * Stores which commits begin no turn, after a file has grown: a new commit without a typed prompt goes on with the turn before it. Before a typed
 * prompt, commits in which nobody said anything belong to its turn.
 */
export function noteGrowth(chain: WriteChain, row: ContextRow): void {
  const findParent = ({ parent, sessionId }: ContextRow): ContextRow | undefined => {
    const before = parent === null ? undefined : commitAt(chain, parent);
    return before?.type === 'delta' && before.sessionId === sessionId && !before.forked ? before : undefined;
  };
  const note = (one: ContextRow): void => remember(chain, one, [`${goesOn}${one.id}`]);
  let before = row.type === 'delta' ? findParent(row) : undefined;
  if (!before || !isTurn(before)) return;
  if (!isOpened(chain, row)) note(row);
  else for (; before && isSilent(readOutline(chain, before)); before = findParent(before)) note(before);
}

/** Whether a person typed the first prompt of a commit. Outlines do not say what an agent added, ran, or took up within a turn. */
function isOpened(chain: ReadChain, row: ContextRow): boolean {
  if (openingOf(readOutline(chain, row)) === undefined) return false;
  const { entries, elisions } = readParsed(chain, row);
  const isRun = ({ marks, text = '' }: ParsedEntry): boolean => marks?.includes('command') === true && commandIn(text) === undefined;
  const typed = entries.filter((entry) => !isRun(entry) && !entry.marks?.some((mark) => mark === 'meta' || mark === 'queued'));
  return openingOf(outlineOfParsed({ entries: typed, elisions })) !== undefined;
}

/** Whether a commit goes on with the turn of its parent, because its file was imported within the turn. */
export const goesOnWithTurn = (chain: ReadChain, { seq, id }: Pick<ContextRow, 'seq' | 'id'>): boolean => holderOf(chain, `${goesOn}${id}`) === seq;

/** The commits that begin no turn, because their files were imported in parts. */
export const grownCommits = ({ db, project }: ReadChain): ReadonlySet<CommitSeq> =>
  new Set(
    db.column<CommitSeq>('SELECT context FROM record WHERE project = ? AND record >= ? AND record < ?', project, goesOn, `${goesOn}\u{10ffff}`),
  );

/** A prompt after all entries. It is the first one if a person has typed nothing but commands. */
const typedLater = { role: 'user', kind: 'text', head: 'typed' } as const;

/** Whether neither the model nor a person said anything, but for commands of the agent. */
const isSilent = ({ entries }: DeltaOutline): boolean => {
  const visible = entries.filter((entry) => !entry.hidden && !isClosingWord(entry));
  return !visible.some(({ role }) => role === 'assistant') && promptAt([...visible, typedLater]) === visible.length;
};

/** The beginning of the prompt that a person typed before the first reply of a delta; undefined if nobody typed one. */
export function openingOf({ entries }: DeltaOutline): string | undefined {
  // What a person typed while the agent worked belongs to the turn that took it up.
  const visible = entries.filter((entry) => !entry.hidden && !entry.key.startsWith(queuedPrefix) && !isClosingWord(entry));
  const reply = visible.findIndex(({ role }) => role === 'assistant');
  const before = reply < 0 ? visible : visible.slice(0, reply);
  const at = promptAt(before);
  return at === undefined ? undefined : (before[at]?.head ?? '');
}
