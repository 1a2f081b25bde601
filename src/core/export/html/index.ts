// html: a context as one file that a browser opens without Stemma, with replay and search. The page makes no requests.
// The file holds entries as JSON in blocks that no entry can close. Its script (src/page) draws those near the view, as text.
// The page's policy allows that one script and style, by their hashes. It refuses everything else that a transcript may contain.

/// <reference path="./exported-page.d.ts" />
import { script, style } from 'virtual:exported-page';
import { sha256Of } from '../../artifacts/index.js';
import { defined } from '../../base/index.js';
import { commandIn, commandOutputIn, type Fact, facts, type ParsedEntry, promptAt } from '../../formats/index.js';
import type { DocumentContent, DocumentStep } from '../content.js';

/** Facts that a page leaves out, because only a provider or a program reads them. */
const omitted: readonly Fact[] = ['sealedThinking', 'signature', 'resultData'];

export const html = {
  id: 'html',
  contentType: 'text/html',
  about: { name: 'Web page', what: 'One file with replay and search. It loads nothing.', extension: 'html' },
  tier: 'rendered',
  holds: facts.filter((fact) => !omitted.includes(fact)),
  parts,
} as const;

const policy = [
  "default-src 'none'",
  `script-src '${sourceOf(script)}'`,
  `style-src '${sourceOf(style)}'`,
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

function sourceOf(text: string): string {
  return `sha256-${sha256Of(text).toString('base64')}`;
}

/** The page in parts. Only the index (a letter for each entry, the beginnings of prompts) is kept until the end. */
function* parts(content: DocumentContent): Generator<string> {
  yield `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="generator" content="Stemma">
<title>${inMarkup(content.title)}</title>
<style>${style}</style>
</head>
<body>
<noscript><p>This page shows a recorded session. It needs its own script, and loads nothing.</p></noscript>
`;
  const index = newIndex();
  let block: Block = newBlock();
  for (const step of content.steps()) {
    const prompt = promptOf(step);
    for (const item of makeItems(step)) {
      index.add(item, step.id, item.key === prompt);
      block.items.push(inScript(item));
      block.length += block.items.at(-1)?.length ?? 0;
      block.height += heightOf(item);
      if (block.items.length >= maxItems || block.length >= maxCharacters) {
        yield blockText(block);
        index.blocks.push([block.items.length, block.height]);
        block = newBlock();
      }
    }
  }
  if (block.items.length > 0) {
    yield blockText(block);
    index.blocks.push([block.items.length, block.height]);
  }
  const { id, title, template, principal, stop, counted } = content;
  yield `<script type="application/json" id="index">${inScript({ id, title, template, principal, stop, counted, ...index.all() })}</script>
<script>${script}</script>
</body>
</html>
`;
}

/** Maximum number of entries in a block. The page draws and removes a whole block at once. */
const maxItems = 40;
const maxCharacters = 96 * 1024;

interface Block {
  readonly items: string[];
  length: number;
  height: number;
}
const newBlock = (): Block => ({ items: [], length: 0, height: 0 });
const blockText = ({ items }: Block): string => `<script type="application/json" class="block">[${items.join(',\n')}]</script>\n`;

/** JSON inside a script element: no text in it can end the element. `JSON.stringify` escapes lone surrogates. */
const inScript = (value: unknown): string => JSON.stringify(value).replaceAll('<', '\\u003c');
const inMarkup = (text: string): string =>
  text.toWellFormed().replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

/** One entry of the page, as its script reads it (`PageItem` in src/page). */
type Item = ReturnType<typeof entryItem> | ReturnType<typeof seamItem>;

function* makeItems(step: DocumentStep): Generator<Item> {
  if (step.repeats) yield seamItem(step, 'compaction');
  else {
    if (step.type === 'compaction') yield seamItem({ ...step, entries: [] }, 'compaction');
    for (const entry of step.entries) if (!entry.marks?.includes('hidden')) yield entryItem(entry);
  }
  if (step.branches.length > 0) yield seamItem(step, 'branches');
}

/** The entry that the outline lists for a turn, as the app does. */
function promptOf({ entries, type }: DocumentStep): string | undefined {
  if (type === 'compaction') return undefined;
  const visible = entries.filter(({ marks }) => !marks?.includes('hidden'));
  return visible[promptAt(visible.map(({ role, kind, text }) => ({ role, kind, head: text }))) ?? -1]?.key;
}

const entryItem = (entry: ParsedEntry) => {
  const { key, role, kind, text, toolName, toolCallId, arguments: input, isError, media, at, author, marks, tokens } = entry;
  const typed = role === 'user' && kind === 'text' ? text : undefined;
  const command = typed === undefined ? undefined : commandIn(typed);
  const output = typed === undefined ? undefined : commandOutputIn(typed);
  return {
    key,
    role,
    kind,
    // The page shows the command instead of its tags. The text stays as the agent wrote it.
    ...defined({ text, command, output, tool: toolName, call: toolCallId, input }),
    ...(isError && { failed: true }),
    ...(media && { media: { type: media.mediaType, size: media.bytes.length, ...shownOf(media) } }),
    ...(kind === 'event' && entry.result !== undefined && { result: entry.result }),
    ...defined({ at: at === undefined ? undefined : Date.parse(at), by: author }),
    ...(marks && marks.length > 0 && { marks }),
    tokens,
  };
};

/** Images that a browser draws and that cannot contain scripts. */
const images = /^image\/(png|jpeg|gif|webp)$/;
const shownOf = ({ mediaType, bytes }: { mediaType: string; bytes: Uint8Array }) =>
  images.test(mediaType) ? { data: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64') } : {};

const seamItem = (step: DocumentStep, kind: 'compaction' | 'branches') => ({
  key: `${step.id}.${kind}`,
  kind,
  at: step.at,
  ...(kind === 'compaction'
    ? { tokens: step.tokens, said: step.entries.map(({ text }) => text ?? '').filter(Boolean) }
    : { branches: step.branches }),
});

/** The index of all entries, which the page reads first. Its scale, outline and clock need no more. */
function newIndex() {
  const kinds: string[] = [];
  const times: (number | null)[] = [];
  const prompts: [at: number, head: string][] = [];
  const commits: [at: number, id: string][] = [];
  let commit = '';
  return {
    blocks: [] as [count: number, height: number][],
    add: (item: Item, step: string, isPrompt: boolean): void => {
      if (step !== commit) commits.push([kinds.length, step]);
      commit = step;
      const letter = letterOf(item);
      if (isPrompt && 'text' in item)
        prompts.push([kinds.length, (item.command ?? item.text ?? '').trimStart().slice(0, 120).replace(/\s+/g, ' ').toWellFormed()]);
      kinds.push(letter);
      times.push(item.at ?? null);
    },
    all() {
      return { blocks: this.blocks, kinds: kinds.join(''), times, prompts, commits };
    },
  };
}

/** The kind of an entry as one letter. `Index` in src/page lists them. */
function letterOf(item: Item): string {
  if ('branches' in item || item.kind === 'branches') return 'b';
  if (!('role' in item)) return 'c';
  if (item.kind === 'thinking') return 'h';
  if (item.kind === 'summary') return 'm';
  if (item.kind === 'event') return 's';
  if (item.kind === 'tool_call') return 't';
  if (item.kind === 'tool_result' || item.role === 'tool') return item.failed ? 'e' : 'r';
  if (item.role === 'system' || item.output !== undefined || item.marks?.includes('meta')) return 's';
  return item.role === 'user' ? 'u' : 'a';
}

const foldedHeight = 30;
const lineHeight = 21;
/** The estimated height of an entry in a page of usual width, in pixels. */
function heightOf(item: Item): number {
  const text = 'text' in item ? (item.text ?? '') : '';
  switch (letterOf(item)) {
    case 'u':
    case 'a':
    case 'm':
      return 48 + lineHeight * Math.min(400, text.length / 90 + (text.length < 4_000 ? text.split('\n').length : text.length / 60));
    default:
      return 'media' in item && item.media ? 320 : foldedHeight;
  }
}
