import { gapBefore, index, type PageItem } from './data.js';
import { type ElementContent, fold, make, verbatim } from './elements.js';
import { markdown } from './markdown.js';
import { clock, durationText, firstLine, lengthText, shortId, sizeText, tokensText } from './words.js';

/** Pauses longer than this, in milliseconds, are labeled and shortened in a replay. */
const longPause = 5 * 60_000;

/** Draws one entry, or the mark of a compaction or of branches. */
export function drawEntry(item: PageItem, at: number): HTMLElement {
  const letter = index.kinds[at] ?? 's';
  const isSeam = letter === 'b' || letter === 'c';
  const article = make(
    'article',
    { class: isSeam ? '' : letter, 'data-at': String(at), 'data-key': item.key },
    ...(isSeam ? [drawSeam(item)] : drawBody(item, letter)),
  );
  const gap = gapBefore(at);
  if (gap >= longPause && index.times[at] !== null) article.prepend(make('div', { class: 'gap' }, `${durationText(gap)} later`));
  return article;
}

/** A text without the codes that color it in a terminal. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the codes start with the escape character
const plain = (text: string): string => text.replace(/\u001b\[[0-9;?]*[A-Za-z]/g, '');
const lead = (text: string): HTMLElement => make('span', { class: 'lead mono' }, text);
const name = (text: string): HTMLElement => make('span', { class: 'name' }, text);
const size = (text: string): HTMLElement => make('span', { class: 'size muted' }, text);
const prose = (text: string): HTMLElement => make('div', { class: 'said' }, markdown(text));

function drawBody(item: PageItem, letter: string): Node[] {
  const text = item.command ?? item.output ?? item.text ?? '';
  if (item.kind === 'image') return [drawAuthor(item, letter), drawImage(item)];
  switch (letter) {
    case 'h':
      return text === ''
        ? [make('div', { class: 'who muted' }, 'Thinking that only its provider can read')]
        : [fold([name('Thinking'), lead(firstLine(text)), size(sizeText(text.length))], () => prose(text))];
    case 't':
      return [fold([name(item.tool ?? 'tool'), lead(leadOf(item.input))], () => drawFields(item.input))];
    case 'r':
    case 'e':
      return [fold(resultHead(item, letter), () => verbatim(plain(text)))];
    case 's':
      return [
        fold([name(systemName(item)), lead(firstLine(plain(text))), size(sizeText(text.length))], () =>
          verbatim(plain(text) || JSON.stringify(item.result ?? '', null, 2)),
        ),
      ];
    default:
      return [drawAuthor(item, letter), item.command !== undefined ? make('p', { class: 'command' }, make('code', {}, text)) : prose(text)];
  }
}

function resultHead({ tool, text = '' }: PageItem, letter: string): ElementContent[] {
  return [
    name(letter === 'e' ? 'failed' : 'result'),
    tool === undefined ? undefined : make('span', { class: 'tool muted' }, tool),
    lead(firstLine(plain(text)) || (text ? '' : 'empty')),
    size(text ? lengthText(text) : ''),
  ];
}

const systemName = ({ kind, tool, role, output }: PageItem): string =>
  output !== undefined ? 'Output of the command' : kind === 'event' ? (tool ?? 'event') : role === 'system' ? 'System' : 'Added by the runtime';

const authors: Readonly<Record<string, string>> = { u: 'User', a: 'Assistant', m: 'Summary of what came before', r: 'Tool', s: 'System' };

function drawAuthor(item: PageItem, letter: string): HTMLElement {
  const time = item.at === undefined ? undefined : make('time', { class: 'muted', datetime: new Date(item.at).toISOString() }, clock.format(item.at));
  const model = letter === 'a' && item.by ? make('span', { class: 'muted' }, item.by) : undefined;
  const anchor = make('a', { class: 'anchor', href: `#${encodeURIComponent(item.key)}`, title: 'Link to this entry' }, '#');
  return make('div', { class: 'who' }, make('b', {}, authors[letter] ?? 'Entry'), model, time, anchor);
}

/** The argument names that describe a call best, in order of preference. Many tools share these names. */
const leadingArguments = ['command', 'file_path', 'path', 'pattern', 'query', 'url', 'description', 'prompt'];

/** A short text for the input of a call. */
function leadOf(input: unknown): string {
  if (typeof input !== 'object' || input === null) return input === undefined ? '' : String(input);
  const members = input as Record<string, unknown>;
  const found = [...leadingArguments.map((argument) => members[argument]), ...Object.values(members)].find(
    (value) => typeof value === 'string' && value !== '',
  );
  return typeof found === 'string' ? (found.split('\n', 1)[0] ?? '').slice(0, 300) : JSON.stringify(input).slice(0, 300);
}

const showValue = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? ''));

function drawFields(input: unknown): HTMLElement {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return verbatim(showValue(input));
  return make('dl', {}, ...Object.entries(input).flatMap(([field, value]) => [make('dt', {}, field), make('dd', {}, verbatim(showValue(value)))]));
}

function drawImage({ media }: PageItem): HTMLElement {
  if (!media) return make('p', { class: 'muted' }, 'An image that the session only links to: not loaded.');
  const facts = `${media.type}, ${sizeText(media.size)}`;
  if (media.data === undefined) return make('p', { class: 'muted' }, `A file, ${facts}: not shown.`);
  return make('img', { src: `data:${media.type};base64,${media.data}`, alt: `Image, ${facts}`, loading: 'lazy' });
}

function drawSeam(item: PageItem): HTMLElement {
  if (item.branches) {
    const count = item.branches.length;
    return make(
      'div',
      { class: 'seam' },
      count === 1 ? 'Another branch starts here' : `${count} other branches start here`,
      make('ul', {}, ...item.branches.map(({ id, head }) => make('li', {}, make('span', { class: 'mono' }, shortId(id)), ` ${head}`))),
    );
  }
  const { tokens, said = [] } = item;
  const text = said.join('\n\n');
  return make(
    'div',
    { class: 'seam' },
    make('b', {}, 'Compaction'),
    typeof tokens === 'object'
      ? `${tokensText(tokens.before, tokens.isCounted)} became ${tokensText(tokens.after, tokens.isCounted)}`
      : 'a summary replaced what came before',
    text ? fold([name('Replacement'), size(sizeText(text.length))], () => prose(text)) : undefined,
  );
}
