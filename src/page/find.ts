import { articleAt, main } from './blocks.js';
import { itemsOf, type PageItem, sources, startOf } from './data.js';
import { jump, stop } from './player.js';
import { changed, state } from './state.js';

export const search = {
  words: '',
  /** Numbers of the entries that contain the words. */
  hits: [] as number[],
  /** The position of the selected hit in `hits`, or -1. */
  at: -1,
  isDone: true,
};
let run = 0;

/** Searches every block, a few at a time, so that the page stays responsive. */
export function find(words: string): void {
  run += 1;
  Object.assign(search, { words, hits: [], at: -1, isDone: words === '' });
  clearMarks();
  changed();
  if (words !== '') searchFrom(0, run);
}

function searchFrom(first: number, ownRun: number): void {
  if (ownRun !== run) return;
  const wanted = search.words.toLowerCase();
  // A block whose JSON text does not contain the words need not be parsed.
  const inJson = JSON.stringify(wanted).slice(1, -1).replaceAll('<', '\\u003c');
  let block = first;
  for (const until = performance.now() + 12; block < sources.length && performance.now() < until; block++) {
    if (!(sources[block] ?? '').toLowerCase().includes(inJson)) continue;
    for (const [place, item] of itemsOf(block).entries())
      if (searchedText(item).toLowerCase().includes(wanted)) search.hits.push(startOf(block) + place);
  }
  search.isDone = block >= sources.length;
  if (search.at < 0 && search.hits.length > 0) {
    const from = state.isSelected ? state.at : 0;
    const next = search.hits.findIndex((at) => at >= from);
    selectHit(Math.max(0, next));
  }
  changed();
  if (!search.isDone) setTimeout(() => searchFrom(block, ownRun));
}

const searchedText = ({ text, tool, input, said = [], branches = [] }: PageItem): string =>
  [text, tool, input === undefined ? '' : inputText(input), ...said, ...branches.map(({ head }) => head)].join('\n');
const inputText = (value: unknown): string =>
  typeof value === 'string' ? value : (JSON.stringify(value)?.replaceAll('\\n', '\n').replaceAll('\\"', '"') ?? '');

/** Selects a hit by its position, which wraps around at both ends. */
export function selectHit(place: number): void {
  if (search.hits.length === 0) return;
  search.at = (place + search.hits.length) % search.hits.length;
  const at = search.hits[search.at] ?? 0;
  stop();
  jump(at, 'center');
  clearMarks();
  const article = articleAt(at);
  article?.classList.add('found');
  for (const details of article?.querySelectorAll('details') ?? []) details.open = true;
  // A fold makes its content only after it has opened.
  setTimeout(() => article && markWords(article), 30);
  changed();
}

function clearMarks(): void {
  for (const article of main.querySelectorAll('.found')) article.classList.remove('found');
  if ('highlights' in CSS) CSS.highlights.delete('found');
}

const maxMarks = 1_000;

function markWords(article: HTMLElement): void {
  if (!('highlights' in CSS)) return;
  const wanted = search.words.toLowerCase();
  const ranges: Range[] = [];
  const walker = document.createTreeWalker(article, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node && ranges.length < maxMarks; node = walker.nextNode()) {
    const text = (node.nodeValue ?? '').toLowerCase();
    for (let at = text.indexOf(wanted); at !== -1 && ranges.length < maxMarks; at = text.indexOf(wanted, at + wanted.length)) {
      const range = new Range();
      range.setStart(node, at);
      range.setEnd(node, at + wanted.length);
      ranges.push(range);
    }
  }
  CSS.highlights.set('found', new Highlight(...ranges));
  ranges[0]?.startContainer.parentElement?.scrollIntoView({ block: 'nearest' });
}
