import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { gfm } from 'micromark-extension-gfm';

type Root = ReturnType<typeof fromMarkdown>;
type Node = Root | Root['children'][number];
interface Range {
  readonly start: number;
  readonly end: number;
}

/** Emphasis is not parsed, because it is harmless and parsing it takes quadratic time in hostile texts. */
const withoutEmphasis = { disable: { null: ['attention', 'strikethrough'] } };
const parseCommon = (text: string): Root => fromMarkdown(text, { extensions: [withoutEmphasis] });
const parseGfm = (text: string): Root => fromMarkdown(text, { extensions: [gfm(), withoutEmphasis], mdastExtensions: [gfmFromMarkdown()] });

/** A pipe ends a code span only in viewers with tables, so a text with tables or footnotes must be neutral in both kinds. */
const dialectsFor = (text: string): readonly ((text: string) => Root)[] => (/\||\[\^/.test(text) ? [parseGfm, parseCommon] : [parseCommon]);

/** Longer texts become a code block: a parser would take seconds. The window treats them alike. */
const parseLimit = 60_000;
const passLimit = 6;
const suspicious = /<[a-z/!?]|!\[|\]\(|\]:|```|~~~/i;

/** A text as Markdown that runs and loads nothing in any viewer: HTML and images as text, safe links, closed code blocks. */
export function neutralMarkdown(text: string): string {
  const given = text.toWellFormed().replaceAll(/\r\n?/g, '\n').trim();
  if (!isSuspicious(given)) return given;
  return (given.length <= parseLimit ? neutralized(given) : undefined) ?? fence(given, '').trimEnd();
}

/** Undefined if the parser cannot handle the text, or if it does not become neutral in a few passes. */
function neutralized(given: string): string | undefined {
  let text = given;
  try {
    for (let pass = 0; pass < passLimit; pass++) {
      let isChanged = false;
      let root: Root | undefined;
      for (const parse of dialectsFor(text)) {
        root = parse(text);
        const edits = editsOf(text, root);
        text = edited(text, edits);
        isChanged ||= edits.length > 0;
      }
      if (root && !isChanged) return closed(text, root);
    }
  } catch (error) {
    // Thousands of nested quotes or footnotes overflow the stack.
    if (!(error instanceof RangeError)) throw error;
  }
  return undefined;
}

/** Whether a text might not be harmless in a Markdown viewer. */
export const isSuspicious = (text: string): boolean => suspicious.test(text);

/** A text of a conversation inside a line of Markdown (a heading, a table cell): one line without any markup. */
export const inlineText = (text: string): string =>
  text
    .toWellFormed()
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/[\\`*_{}[\]>#|!~&]/g, '\\$&')
    .replaceAll('<', '&lt;');

/** A name as code inside a line. */
export const inlineCode = (text: string): string => `\`${text.toWellFormed().trim().replaceAll(/\s+/g, ' ').replaceAll('`', "'")}\``;

/** A code block whose fence is longer than any run of backticks in the text, so that the text cannot close it. */
export function fence(text: string, language: string): string {
  const longest = (text.match(/`+/g) ?? []).reduce((most, run) => Math.max(most, run.length), 2);
  const bar = '`'.repeat(longest + 1);
  return `${bar}${language}\n${text.toWellFormed()}${text.endsWith('\n') ? '' : '\n'}${bar}\n\n`;
}

/** A replacement: the range of characters, and the text to write instead. */
interface Edit {
  readonly at: number;
  readonly length: number;
  readonly text: string;
}

function editsOf(text: string, root: Root): Edit[] {
  const kept: Range[] = [];
  const edits: Edit[] = [];
  const addBackslash = (at: number): unknown => edits.push({ at, length: 0, text: '\\' });
  const visit = (node: Node): void => {
    const treated = treatmentOf(text, node);
    kept.push(...(treated.keep ?? []));
    for (const at of treated.escape ?? []) addBackslash(at);
    if ('children' in node) for (const child of node.children) visit(child);
  };
  visit(root);
  const isKept = keptTest(kept);
  for (const { index, 0: mark } of text.matchAll(/<(?=[a-z/!?])|!(?=\[)/gi)) {
    if (isKept(index)) continue;
    if (mark === '<') edits.push({ at: index, length: 1, text: '&lt;' });
    else addBackslash(index + 1);
  }
  return edits;
}

/** The parts of a node that stay unchanged, and the positions that get a backslash. */
function treatmentOf(text: string, node: Node): { readonly keep?: readonly Range[]; readonly escape?: readonly number[] } {
  const { start, end } = rangeOf(node);
  switch (node.type) {
    case 'code':
    case 'inlineCode':
      return { keep: [{ start, end }] };
    case 'html':
      return { keep: codeInHtml(text, { start, end }) };
    case 'image':
    case 'imageReference':
      return { escape: [labelEnd(text, start + 2)] };
    case 'definition':
      return isSafeTarget(node.url) ? { keep: [{ start, end }] } : { escape: [start] };
    case 'link': {
      const last = node.children.at(-1);
      const tail = last ? rangeOf(last).end : start + 1;
      if (isSafeTarget(node.url)) return { keep: [{ start: text[start] === '<' ? start : tail, end }] };
      return text[start] === '[' ? { escape: [start, tail] } : {};
    }
    default:
      return {};
  }
}

const rangeOf = ({ position }: Node): Range => ({ start: position?.start.offset ?? 0, end: position?.end.offset ?? 0 });

/** Ranges that may be code after the tags around them became text: code spans, and everything from the first fence. The next pass decides. */
function codeInHtml(text: string, { start, end }: Range): Range[] {
  const html = text.slice(start, end);
  const fenceAt = html.search(/\n[ >]*(?:```|~~~)/);
  const tags = fenceAt < 0 ? html : html.slice(0, fenceAt);
  const spans = [...tags.matchAll(/(`+)[^`\n]+\1/g)].map(({ index, 0: span }) => ({ start: start + index, end: start + index + span.length }));
  return fenceAt < 0 ? spans : [...spans, { start: start + fenceAt, end }];
}

/** The bracket that ends the label of an image, which may itself contain brackets. */
function labelEnd(text: string, from: number): number {
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === '[') depth += 1;
    else if (text[at] === ']' && depth-- === 0) return at;
  }
  return from;
}

/** Whether a position is in one of the ranges. Ask for positions in their order. */
function keptTest(ranges: Range[]): (at: number) => boolean {
  const sorted = ranges.sort((a, b) => a.start - b.start);
  let next = 0;
  let end = -1;
  return (at) => {
    for (; next < sorted.length && (sorted[next] as Range).start <= at; next++) end = Math.max(end, (sorted[next] as Range).end);
    return at < end;
  };
}

function edited(text: string, edits: readonly Edit[]): string {
  let made = '';
  let done = 0;
  for (const { at, length, text: put } of edits.toSorted((a, b) => a.at - b.at)) {
    if (at < done) continue;
    made += text.slice(done, at) + put;
    done = at + length;
  }
  return made + text.slice(done);
}

const safeSchemes: readonly string[] = ['http', 'https', 'mailto'];

/** Whether a link target is allowed: the web, mail, or a place relative to the document. */
function isSafeTarget(url: string): boolean {
  // Browsers ignore control characters and spaces in a scheme.
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(url.replaceAll(/[\p{C}\p{Z}]/gu, ''))?.[1];
  return scheme === undefined || safeSchemes.includes(scheme.toLowerCase());
}

/** The text with its last code block closed, so that it cannot swallow or invert the following text. */
function closed(text: string, root: Root): string {
  const last = root.children.at(-1);
  if (last?.type !== 'code') return text;
  const lines = text.slice(rangeOf(last).start).split('\n');
  const bar = /^ {0,3}(`{3,}|~{3,})/.exec(lines[0] ?? '')?.[1];
  const end = /^ {0,3}(`{3,}|~{3,})[ \t]*$/.exec(lines.at(-1) ?? '')?.[1];
  const isClosed = bar === undefined || (lines.length > 1 && end !== undefined && end.startsWith(bar));
  return isClosed ? text : `${text}\n${bar}`;
}
