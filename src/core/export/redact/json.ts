import type { Seals } from '../../formats/index.js';
import { doesNameNext, nameBeside } from './rules/index.js';
import type { NamedText, Replacing } from './texts.js';

/** Members whose value names the secret in the member `value` of the same object. */
export const namesBeside: readonly string[] = ['name', 'key', 'header'];
/** Replaces strings in JSON or JSON lines, and seals over changed content by the format's invalid seal. All other bytes stay. */
export function replaceStrings(json: string, redact: Replacing, seals: Seals = {}): string {
  const strings = namedStrings(json);
  const changed = strings.map(({ text, name }) => redact.replace(text, name));
  const broken = brokenSeals(json, strings, changed, seals);
  const parts: string[] = [];
  let done = 0;
  for (const [at, { text, from, to }] of strings.entries()) {
    const seal = broken.get(at);
    const replaced = seal === undefined ? (changed[at] as string) : seal;
    if (replaced === text) continue;
    parts.push(json.slice(done, from), JSON.stringify(replaced));
    done = to;
  }
  return parts.join('') + json.slice(done);
}

/** A string of JSON: its value, and the positions of its quotes. */
interface JsonString extends NamedText {
  readonly from: number;
  readonly to: number;
}

/** The strings of JSON or of JSON lines, with their names. Found by their quotes: a regular expression would run out of stack in a long one. */
export function namedStrings(json: string): readonly JsonString[] {
  const strings: JsonString[] = [];
  for (let from = json.indexOf('"'); from !== -1; ) {
    let end = json.indexOf('"', from + 1);
    while (isEscaped(json, end)) end = json.indexOf('"', end + 1);
    const to = end + 1;
    const text = JSON.parse(json.slice(from, to)) as string;
    strings.push({ text, name: nameOfNext(json, strings, from, text), from, to });
    from = json.indexOf('"', to);
  }
  return strings;
}

function isEscaped(json: string, quote: number): boolean {
  let before = quote;
  while (json[before - 1] === '\\') before--;
  return (quote - before) % 2 === 1;
}

const isName = (json: string, to: number): boolean => /^\s*:/.test(json.slice(to, to + 20));
const areBeside = (json: string, to: number, from: number): boolean => /^\s*,\s*$/.test(json.slice(to, from));

/** The name of the string at `from`: that of its member, or the string that names it. */
function nameOfNext(json: string, before: readonly JsonString[], from: number, text: string): string | undefined {
  const last = before.at(-1);
  if (!last) return undefined;
  if (areBeside(json, last.to, from)) return !isName(json, last.to) && doesNameNext(last.text, text) ? last.text : undefined;
  if (!/^\s*:\s*$/.test(json.slice(last.to, from))) return undefined;
  const beside = last.text === 'value' ? before.at(-2) : undefined;
  const isNamed = beside?.name !== undefined && namesBeside.includes(beside.name) && areBeside(json, beside.to, last.from);
  return isNamed ? nameBeside(beside.text) : last.text;
}

/** Seals of objects that change, by their index among the strings. Such seals contain the removed content in encrypted form. */
function brokenSeals(json: string, strings: readonly JsonString[], changed: readonly string[], seals: Seals): ReadonlyMap<number, string | null> {
  const broken = new Map<number, string | null>();
  if (!Object.keys(seals).some((seal) => json.includes(`"${seal}"`))) return broken;
  // The objects and lists that are open.
  const open: { readonly names: Set<string>; readonly seals: { readonly at: number; readonly name: string }[]; isChanged: boolean }[] = [];
  const close = (): void => {
    const done = open.pop();
    for (const { at, name } of done?.seals ?? []) {
      const seal = seals[name];
      // The sealed content may be a member of this object or of one around it.
      if (!seal?.of.some((sealed) => done?.names.has(sealed))) open.at(-1)?.seals.push({ at, name });
      else if (done?.isChanged) broken.set(at, seal.broken);
    }
  };
  let end = 0;
  for (const [at, { text, name = '', from, to }] of strings.entries()) {
    for (const mark of json.slice(end, from))
      if (mark === '{' || mark === '[') open.push({ names: new Set(), seals: [], isChanged: false });
      else if (mark === '}' || mark === ']') close();
    end = to;
    if (isName(json, to)) open.at(-1)?.names.add(text);
    else if (Object.hasOwn(seals, name) && text !== '') open.at(-1)?.seals.push({ at, name });
    if (changed[at] !== text) for (const one of open) one.isChanged = true;
  }
  while (open.length > 0) close();
  return broken;
}
