import { blockOf, index, itemsOf, startOf } from './data.js';
import { make } from './elements.js';
import { drawEntry } from './entries.js';
import { state } from './state.js';

/** All entries. Only blocks near the view contain elements, so that a page of any length opens quickly. */
export const main = make('main', { 'aria-label': 'Entries' });

const sections = index.blocks.map(([, height], block) => {
  const section = make('section', { 'data-block': String(block) });
  section.style.minHeight = `${height}px`;
  return section;
});
main.append(...sections);
const drawn = new Set<number>();

const articlesIn = (section: Element | undefined): HTMLElement[] => [...(section?.querySelectorAll('article') ?? [])];

function drawBlock(block: number): void {
  const section = sections[block];
  if (!section || drawn.has(block)) return;
  drawn.add(block);
  section.append(...itemsOf(block).map((item, place) => drawEntry(item, startOf(block) + place)));
  section.style.minHeight = '';
  for (const article of articlesIn(section)) updateArticle(article);
}

function clearBlock(block: number): void {
  const section = sections[block];
  // Otherwise, folds that a person opened and selected text would be lost.
  if (!section || !drawn.has(block) || section.querySelector('details[open], article.now') || section.contains(document.activeElement)) return;
  drawn.delete(block);
  section.style.minHeight = `${section.offsetHeight}px`;
  section.replaceChildren();
}

/** Draws blocks that come near the view, and removes the elements of blocks that leave it. */
export function watchBlocks(): void {
  const near = new IntersectionObserver(
    (seen) => {
      for (const { target, isIntersecting } of seen) {
        const block = Number((target as HTMLElement).dataset.block);
        isIntersecting ? drawBlock(block) : clearBlock(block);
      }
    },
    { rootMargin: '1200px 0px' },
  );
  for (const section of sections) near.observe(section);
}

function updateArticle(article: HTMLElement): void {
  const at = Number(article.dataset.at);
  article.hidden = state.isReplay && at > state.at;
  article.classList.toggle('now', at === state.at && state.isSelected);
}

/** The element of an entry, if its block is drawn. */
export const articleAt = (at: number): HTMLElement | null => main.querySelector<HTMLElement>(`article[data-at="${at}"]`);

/** Draws the selected entry and hides entries that a replay has not reached. Returns the element of the entry. */
export function showSelected(before: number): HTMLElement | null {
  const here = blockOf(state.at);
  for (const [number, section] of sections.entries()) section.hidden = state.isReplay && number > here;
  drawBlock(here);
  for (const number of new Set([blockOf(before), here])) for (const article of articlesIn(sections[number])) updateArticle(article);
  return articleAt(state.at);
}

/** The first entry that is completely below the header. */
export function firstVisible(): number {
  const top = document.querySelector('header')?.getBoundingClientRect().bottom ?? 0;
  return Number(articlesIn(main).find((article) => article.getBoundingClientRect().top >= top - 4)?.dataset.at ?? 0);
}
