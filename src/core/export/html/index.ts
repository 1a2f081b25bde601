// html: a context as one file that a browser opens by itself: its own script and style, nothing from elsewhere, replay and search inside.
// Entries stand in it as data, in blocks that nothing in them can close; viewer.js sets those that are near, and makes text of all of them.
// What may run is that one script, by its hash: the page's own policy refuses the rest, whatever a transcript says.
import { sha256Of } from '../../artifacts/index.js';
import { type Fact, facts, type ParsedEntry } from '../../formats/index.js';
import type { Told, ToldStep } from '../told.js';
import { script, style } from './assets.js';

/** A page shows what was said, not what only a provider reads. */
const left: readonly Fact[] = ['sealedThinking', 'signature', 'resultData'];

export const html = {
  id: 'html',
  contentType: 'text/html',
  about: { name: 'Web page', what: 'One file with replay and search inside. It loads nothing from elsewhere.', extension: 'html' },
  tier: 'rendered',
  holds: facts.filter((fact) => !left.includes(fact)),
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

/** The page a part at a time. Only what finds a place again (a letter an entry, prompts by their beginning) is held until the end. */
function* parts(told: Told): Generator<string> {
  yield `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="generator" content="Stemma">
<title>${inMarkup(told.title)}</title>
<style>${style}</style>
</head>
<body>
<noscript><p>This page shows a recorded session. It needs its own script to do so, and loads nothing from elsewhere.</p></noscript>
`;
  const index = newIndex();
  let block: Block = newBlock();
  for (const step of told.steps())
    for (const item of itemsOf(step)) {
      index.add(item, step.id);
      block.items.push(inScript(item));
      block.length += block.items.at(-1)?.length ?? 0;
      block.height += heightOf(item);
      if (block.items.length >= mostItems || block.length >= mostLetters) {
        yield blockText(block);
        index.blocks.push([block.items.length, block.height]);
        block = newBlock();
      }
    }
  if (block.items.length > 0) {
    yield blockText(block);
    index.blocks.push([block.items.length, block.height]);
  }
  const { id, title, template, principal, stop } = told;
  yield `<script type="application/json" id="index">${inScript({ id, title, template, principal, stop, ...index.all() })}</script>
<script>${script}</script>
</body>
</html>
`;
}

/** Blocks are what the page sets and takes away at once. */
const mostItems = 40;
const mostLetters = 96 * 1024;

interface Block {
  readonly items: string[];
  length: number;
  height: number;
}
const newBlock = (): Block => ({ items: [], length: 0, height: 0 });
const blockText = ({ items }: Block): string => `<script type="application/json" class="block">[${items.join(',\n')}]</script>\n`;

/** JSON that no `</script` and no `<!--` can end, with halves of characters spelled out. */
const inScript = (value: unknown): string => JSON.stringify(value).replaceAll('<', '\\u003c');
const inMarkup = (text: string): string =>
  text.toWellFormed().replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

/** One thing of the page, as viewer.js reads it (`Item` there). */
type Item = ReturnType<typeof entryItem> | ReturnType<typeof seamItem>;

function* itemsOf(step: ToldStep): Generator<Item> {
  if (step.repeats) yield seamItem(step, 'compaction');
  else {
    if (step.type === 'compaction') yield seamItem({ ...step, entries: [] }, 'compaction');
    for (const entry of step.entries) if (!entry.marks?.includes('hidden')) yield entryItem(entry);
  }
  if (step.branches.length > 0) yield seamItem(step, 'branches');
}

const entryItem = (entry: ParsedEntry) => {
  const { key, role, kind, text, toolName, toolCallId, arguments: input, isError, media, at, author, marks, tokens } = entry;
  return {
    key,
    role,
    kind,
    ...(text !== undefined && { text }),
    ...(toolName !== undefined && { tool: toolName }),
    ...(toolCallId !== undefined && { call: toolCallId }),
    ...(input !== undefined && { input }),
    ...(isError && { failed: true }),
    ...(media && { media: { type: media.mediaType, size: media.bytes.length, ...shownOf(media) } }),
    ...(kind === 'event' && entry.result !== undefined && { result: entry.result }),
    ...(at !== undefined && { at: Date.parse(at) }),
    ...(author !== undefined && { by: author }),
    ...(marks && marks.length > 0 && { marks }),
    tokens,
  };
};

/** Pictures that a browser draws and that run nothing. */
const pictures = /^image\/(png|jpeg|gif|webp)$/;
const shownOf = ({ mediaType, bytes }: { mediaType: string; bytes: Uint8Array }) =>
  pictures.test(mediaType) ? { data: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64') } : {};

const seamItem = (step: ToldStep, kind: 'compaction' | 'branches') => ({
  key: `${step.id}.${kind}`,
  kind,
  at: step.at,
  ...(kind === 'compaction'
    ? { tokens: step.tokens, said: step.entries.map(({ text }) => text ?? '').filter(Boolean) }
    : { branches: step.branches }),
});

/** What the page knows of all entries before it reads any: enough for its scale, its outline and its clock. */
function newIndex() {
  const kinds: string[] = [];
  const times: (number | null)[] = [];
  const prompts: [at: number, head: string][] = [];
  const commits: [at: number, id: string][] = [];
  let commit = '';
  return {
    blocks: [] as [count: number, height: number][],
    add: (item: Item, step: string): void => {
      if (step !== commit) commits.push([kinds.length, step]);
      commit = step;
      const letter = letterOf(item);
      if (letter === 'u' && 'text' in item)
        prompts.push([kinds.length, (item.text ?? '').trimStart().slice(0, 120).replace(/\s+/g, ' ').toWellFormed()]);
      kinds.push(letter);
      times.push(item.at ?? null);
    },
    all() {
      return { blocks: this.blocks, kinds: kinds.join(''), times, prompts, commits };
    },
  };
}

/** Whose it is, in a letter; a tool's failure is one of its own. */
function letterOf(item: Item): string {
  if ('branches' in item || item.kind === 'branches') return 'b';
  if (!('role' in item)) return 'c';
  if (item.kind === 'thinking') return 'h';
  if (item.kind === 'summary') return 'm';
  if (item.kind === 'event') return 's';
  if (item.kind === 'tool_call') return 't';
  if (item.kind === 'tool_result' || item.role === 'tool') return item.failed ? 'e' : 'r';
  if (item.role === 'system' || item.marks?.includes('meta')) return 's';
  return item.role === 'user' ? 'u' : 'a';
}

const folded = 30;
const line = 21;
/** About how high it stands in a page of middling width, in pixels. */
function heightOf(item: Item): number {
  const text = 'text' in item ? (item.text ?? '') : '';
  switch (letterOf(item)) {
    case 'u':
    case 'a':
    case 'm':
      return 48 + line * Math.min(400, text.length / 90 + (text.length < 4_000 ? text.split('\n').length : text.length / 60));
    default:
      return 'media' in item && item.media ? 320 : folded;
  }
}
