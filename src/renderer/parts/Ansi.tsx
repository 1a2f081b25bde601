import { memo } from 'react';

/** A run of text with the style of its terminal codes. */
interface Run {
  readonly text: string;
  readonly look: string;
}

const colors = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'];
// biome-ignore lint/suspicious/noControlCharactersInRegex: the codes start with the escape character
const codes = /\u001b(?:\[([0-9;:?]*)([A-Za-z])|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[()][A-Z0-9])/g;

/** Splits a text at its terminal codes. Colors and weights become styles; all other codes are dropped. */
export function ansiRuns(text: string): readonly Run[] {
  const runs: Run[] = [];
  let look = new Map<string, string>();
  let from = 0;
  const add = (part: string): void => {
    if (part) runs.push({ text: part, look: [...look.values()].join(' ') });
  };
  for (const match of text.matchAll(codes)) {
    add(text.slice(from, match.index));
    from = match.index + match[0].length;
    if (match[2] === 'm') look = lookAfter(look, (match[1] ?? '').split(/[;:]/).map(Number));
  }
  add(text.slice(from));
  return runs;
}

/** What a code without parameters sets, or removes where the class is undefined. */
const looks = new Map<number, readonly [property: string, look: string | undefined]>([
  [1, ['weight', 'ansi-bold']],
  [2, ['weight', 'ansi-faint']],
  [3, ['style', 'ansi-italic']],
  [4, ['line', 'ansi-underline']],
  [22, ['weight', undefined]],
  [23, ['style', undefined]],
  [24, ['line', undefined]],
  [39, ['color', undefined]],
  ...[30, 90].flatMap((first) => colors.map((name, at) => [first + at, ['color', `ansi-${name}`]] as const)),
]);

function lookAfter(before: ReadonlyMap<string, string>, given: readonly number[]): Map<string, string> {
  const look = new Map(before);
  for (let at = 0; at < given.length; at++) {
    const code = given[at] ?? 0;
    const [property, name] = looks.get(code) ?? [];
    if (code === 0) look.clear();
    else if (property && name) look.set(property, name);
    else if (property) look.delete(property);
    // Colors by number or by RGB values are not supported, so their parameters are skipped.
    else if (code === 38 || code === 48) at += given[at + 1] === 2 ? 4 : 2;
  }
  return look;
}

/** Terminal output with its colors and weights; other codes are dropped. */
export const Ansi = memo(function Ansi({ text }: { text: string }) {
  if (!text.includes('\u001b')) return text;
  return ansiRuns(text).map(({ text: part, look }, at) =>
    look === '' ? (
      part
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: the runs never change
      <span key={at} className={look}>
        {part}
      </span>
    ),
  );
});

const tag = (text: string, name: string): string | undefined => new RegExp(`<${name}>([\\s\\S]*?)</${name}>`).exec(text)?.[1]?.trim();

/** Tags around notes of an agent to the model: their text is shown without them. */
const noteTags = /^\s*<(?:local-command-caveat|command-contents|user-memory-input)>/;
const noteTagsEverywhere = /<\/?(?:local-command-caveat|command-contents|user-memory-input)>/g;

/** The content that an agent wrapped in tags: a command that a person typed, or its output. Undefined for other texts. */
export function commandOf(text: string): { readonly kind: 'command' | 'output'; readonly text: string } | undefined {
  if (/^\s*<(?:local-command|bash)-std(?:out|err)>/.test(text))
    return { kind: 'output', text: text.replace(/<\/?(?:local-command|bash)-std(?:out|err)>/g, '').trim() };
  if (noteTags.test(text)) return { kind: 'output', text: text.replaceAll(noteTagsEverywhere, '').trim() };
  if (!/^\s*<(?:command-name|command-message|bash-input)>/.test(text)) return undefined;
  const shell = tag(text, 'bash-input');
  if (shell !== undefined) return { kind: 'command', text: `! ${shell}` };
  const name = tag(text, 'command-name') ?? tag(text, 'command-message') ?? '';
  return { kind: 'command', text: `${name.startsWith('/') ? '' : '/'}${name} ${tag(text, 'command-args') ?? ''}`.trim() };
}
