// Titles of forks. They name the change, so that a person can distinguish forks of one turn in a list.
import { isObject } from '../base/index.js';
import type { Edit } from '../contract/index.js';
import { headlineOf, type ParsedEntry } from '../formats/index.js';

/** Longest part of a text in a title, in characters. */
const longest = 90;
/** Longer texts are not compared word by word. */
const maxWords = 600;

/** The title of a commit with these edits; undefined if none of them touches it. `kept` are its entries before the edits. */
export function titleOfEdits(kept: readonly ParsedEntry[], edits: readonly Edit[]): string | undefined {
  const [edit] = edits;
  if (!edit) return undefined;
  if (edits.length === 1) return titleOfEdit(kept, edit);
  const dropped = edits.filter(({ op }) => op === 'drop').length;
  if (dropped === edits.length) return `${dropped} entries removed`;
  const prompt = edits.findLast(({ op, entry }) => op !== 'drop' && entry?.role === 'user' && entry.kind === 'text');
  return (prompt && titleOfEdit(kept, prompt)) ?? `${edits.length} entries changed`;
}

function titleOfEdit(kept: readonly ParsedEntry[], { op, key, entry }: Edit): string | undefined {
  const before = kept.find((each) => each.key === key);
  switch (op) {
    case 'drop':
      return before && `Removed: ${describeEntry(before)}`;
    case 'replace':
      return before?.text !== undefined && entry?.text !== undefined && entry.kind === 'text'
        ? titleOfText(before.text, entry.text)
        : `Changed: ${before ? describeEntry(before) : (entry?.kind ?? 'an entry')}`;
    case 'insert':
    case 'append':
      return headlineOf(entry?.text ?? '');
  }
}

/** The title of a fork that only cuts: after which entry. */
export const titleOfCut = (last: ParsedEntry | undefined): string | undefined => last && `Fork after ${describeEntry(last)}`;

/** An entry in a few words: a tool with the file it works on, or the beginning of a text. */
function describeEntry({ kind, toolName, text, arguments: input }: ParsedEntry): string {
  if (kind === 'tool_call') {
    const file = isObject(input) ? [input.file_path, input.path, input.command].find((value) => typeof value === 'string') : undefined;
    return `${toolName ?? 'a call'}${file === undefined ? '' : ` ${clipped(file)}`}`;
  }
  if (kind === 'tool_result') return `the result of ${toolName ?? 'a call'}`;
  const words = headlineOf(text ?? '');
  return words ? `“${clipped(words)}”` : kind;
}

/** The words that an edit added to a text, or the words that it removed if it added none. */
function titleOfText(before: string, after: string): string | undefined {
  const [old, now] = [splitWords(before), splitWords(after)];
  if (now.length === 0) return 'Edited: empty';
  if (old.length > maxWords || now.length > maxWords) return `Edited: ${clipped(headlineOf(after) ?? '')}`;
  const { added, removed, same } = changes(old, now);
  // A mostly new text is its own title.
  if (same * 2 < now.length) return headlineOf(after);
  if (added.length > 0) return `Edited: ${clipped(added.join(' … '))}`;
  return removed.length > 0 ? `Edited: without “${clipped(removed.join(' … '))}”` : undefined;
}

const splitWords = (text: string): string[] => text.split(/\s+/).filter((word) => word !== '');
/** A word without its trailing punctuation: a word that now ends a sentence is still the same word. */
const bare = (word: string): string => word.replace(/[.,;:!?]+$/, '') || word;
const clipped = (text: string): string => {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length <= longest ? line : `${line.slice(0, longest - 1).replace(/[\ud800-\udbff]$/, '')}…`;
};

/** Runs of words that only one side has, by the longest common subsequence, and the number of words that both have. */
function changes(old: readonly string[], now: readonly string[]): { added: string[]; removed: string[]; same: number } {
  const [oldBare, nowBare] = [old.map(bare), now.map(bare)];
  const width = now.length + 1;
  const lengths = new Uint16Array((old.length + 1) * width);
  for (let a = old.length - 1; a >= 0; a--)
    for (let b = now.length - 1; b >= 0; b--) {
      const at = a * width + b;
      lengths[at] =
        oldBare[a] === nowBare[b] ? (lengths[at + width + 1] as number) + 1 : Math.max(lengths[at + width] as number, lengths[at + 1] as number);
    }
  const added: string[] = [];
  const removed: string[] = [];
  const grow = (runs: string[], word: string, continues: boolean): void => {
    if (continues) runs[runs.length - 1] += ` ${word}`;
    else runs.push(word);
  };
  let last: 'same' | 'added' | 'removed' = 'same';
  for (let a = 0, b = 0; a < old.length || b < now.length; ) {
    const at = a * width + b;
    if (a < old.length && b < now.length && oldBare[a] === nowBare[b]) {
      a++;
      b++;
      last = 'same';
    } else if (b < now.length && (a >= old.length || (lengths[at + 1] as number) >= (lengths[at + width] as number))) {
      grow(added, now[b++] as string, last === 'added');
      last = 'added';
    } else {
      grow(removed, old[a++] as string, last === 'removed');
      last = 'removed';
    }
  }
  return { added, removed, same: lengths[0] as number };
}
