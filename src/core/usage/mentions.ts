// Finds the paths, identifiers and words that a text mentions. Pure.

import { isObject, once, onceFor, stringAt } from '../base/index.js';
import { lastName } from '../system/index.js';

const pathArguments = ['file_path', 'path', 'notebook_path', 'filePath', 'absolute_path'];

/** The file that a tool call names. */
export const pathIn = (given: unknown): string | undefined =>
  isObject(given) ? pathArguments.map((name) => stringAt(given, name)).find((path) => path !== undefined) : undefined;

/** Runs of characters that a path or an identifier can consist of. */
const runs = /[\p{L}\p{N}_$.@~+/\\#:-]+/gu;
const edges = /^[.:#/\\-]+(?=$)|[.:,#\\-]+$/gu;
/** The position in a file, such as `:12:5`. */
const place = /(?::\d+){1,2}$/;

/**
 * Whether a run of characters is an identifier: it has mixed case, digits between letters, or a sign inside. Plain words, numbers and dates are not
 * identifiers.
 */
const isIdentifier = (run: string): boolean =>
  run.length >= 4 &&
  run.length <= 120 &&
  /\p{L}/u.test(run) &&
  (/\p{Ll}\p{Lu}|[_$@#]|\p{L}\d|\d\p{L}|\p{L}::?\p{L}|\p{L}\.\p{L}{2}|\p{L}\/\p{L}/u.test(run) || /^\p{Lu}{2,}-\d/u.test(run));

/** The identifiers in a text: names of code, paths, commands with signs, hashes and error codes. */
export function identifiersIn(text: string): Set<string> {
  const found = new Set<string>();
  for (const [run] of text.matchAll(runs)) {
    const bare = run.replace(edges, '').replace(place, '');
    if (isIdentifier(bare)) found.add(bare);
  }
  return found;
}

/** A path as a shell or patch names it: with a folder and an extension. */
const pathRun = /(?:~|\.{1,2})?\/?(?:[\p{L}\p{N}_.@+-]+\/)+[\p{L}\p{N}_.@+-]*\.\p{L}[\p{L}\p{N}]{0,7}(?![\p{L}\p{N}/])/gu;

/** The paths in a shell command or a patch. Web addresses are not paths. */
export const pathsIn = (text: string): string[] => [...text.replace(/\w+:\/\/\S+/g, ' ').matchAll(pathRun)].map(([path]) => path);

const words = /[\p{L}\p{N}_]+/gu;
/** In scripts without spaces between words, every two neighboring characters count as a word. */
const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;
const stemLength = 6;
/** Shorter words are ignored. */
const minWordLength = 4;

/** The stems of the significant words of a text. */
export function stemsIn(text: string): Set<string> {
  const stems = new Set<string>();
  for (const [word] of text.matchAll(words)) {
    if (unspaced.test(word)) for (let at = 0; at + 1 < word.length; at++) stems.add(word.slice(at, at + 2));
    else if (word.length >= minWordLength) stems.add(word.toLowerCase().slice(0, stemLength));
  }
  return stems;
}

const normal = (path: string): string => path.replaceAll('\\', '/').replace(/^(?:\.?\/)+/, '');

export type Mentions = ReturnType<typeof mentionsIn>;

/** Indexes a text once for many questions whether it mentions something. */
export function mentionsIn(text: string) {
  const byBase = new Map<string, Set<string>>();
  const names = identifiersIn(text);
  for (const [run] of text.matchAll(runs)) {
    const path = normal(run.replace(edges, '').replace(place, ''));
    if (path === '') continue;
    const base = lastName(path);
    const ends = byBase.get(base) ?? new Set();
    byBase.set(base, ends.add(path));
  }
  const stems = once(() => stemsIn(text));
  return {
    /** Whether the text names a file by its path, or by an end of the path that no other file shares. */
    file: (path: string, files: ReadonlySet<string>): boolean => {
      const full = normal(path);
      if (text.includes(path)) return true;
      return [...(byBase.get(lastName(full)) ?? [])].some((end) => {
        if (full !== end && !full.endsWith(`/${end}`) && !end.endsWith(`/${full}`)) return false;
        return ![...files].some((other) => other !== path && normal(other).endsWith(`/${end}`));
      });
    },
    identifier: onceFor((name: string): boolean => names.has(name) || isWhole(text, name)),
    /** The share of the given stems that the text contains. */
    stems: (wanted: ReadonlySet<string>): number => (wanted.size === 0 ? 1 : [...wanted].filter((stem) => stems().has(stem)).length / wanted.size),
  };
}

const inWord = /[\p{L}\p{N}_]/u;

/** Whether a text contains a name as a whole, without further name characters on either side. */
function isWhole(text: string, name: string): boolean {
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1))
    if (!inWord.test(text[at - 1] ?? ' ') && !inWord.test(text[at + name.length] ?? ' ')) return true;
  return false;
}
