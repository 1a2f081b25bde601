import { index, total } from './data.js';
import { iconButton, icons, make } from './elements.js';
import { find, search, selectHit } from './find.js';
import { onChange } from './state.js';
import { day, numberText, shortId } from './words.js';

/** The header: the button of the outline, the title, the search, and facts about the session. */
export function makeHeader(field: HTMLInputElement, outlineButton: HTMLElement, themeButton: HTMLElement): HTMLElement {
  const about = describeSession();
  return make(
    'header',
    {},
    outlineButton,
    make('h1', { title: index.title }, index.title),
    make('span', { class: 'about muted', title: `${about} · exported by Stemma` }, about),
    make(
      'span',
      { class: 'search', role: 'search' },
      field,
      makeHitCount(),
      iconButton(icons.up, 'Previous hit', () => selectHit(search.at - 1)).element,
      iconButton(icons.down, 'Next hit', () => selectHit(search.at + 1)).element,
    ),
    makeToggle('Thinking', 'Show thinking', 'no-thinking'),
    makeToggle('Tools', 'Show calls and results', 'no-tools'),
    themeButton,
  );
}

function describeSession(): string {
  const times = index.times.filter((time) => time !== null);
  // Times follow the order of the entries, with few exceptions.
  const ends = [times[0] ?? 0, times.at(-1) ?? 0];
  return [
    index.template,
    shortId(index.id),
    `${numberText(total)} entries`,
    ...(index.counted === null ? [] : [`${numberText(index.counted)} tokens counted`]),
    ...(times.length > 0 ? [day.formatRange(Math.min(...ends), Math.max(...ends))] : []),
    index.stop === 'root' ? 'full history' : 'as the model had it',
  ].join(' · ');
}

/** The search field. */
export function makeSearchField(): HTMLInputElement {
  const field = make('input', { type: 'search', placeholder: 'Search', 'aria-label': 'Search in this page', spellcheck: 'false' });
  let timer = 0;
  field.addEventListener('input', () => {
    clearTimeout(timer);
    timer = window.setTimeout(() => find(field.value.trim()), 150);
  });
  field.addEventListener('keydown', (event) => {
    const words = field.value.trim();
    if (event.key === 'Enter') words === search.words ? selectHit(search.at + (event.shiftKey ? -1 : 1)) : find(words);
    if (event.key === 'Escape') {
      field.value = '';
      find('');
      field.blur();
    }
    event.stopPropagation();
  });
  return field;
}

function makeHitCount(): HTMLElement {
  const output = make('output', { class: 'muted', 'aria-live': 'polite' });
  onChange(() => {
    output.textContent = hitText();
  });
  return output;
}

function hitText(): string {
  const { words, hits, at, isDone } = search;
  if (words === '') return '';
  if (hits.length === 0) return isDone ? 'none' : 'searching…';
  return `${numberText(at + 1)} of ${numberText(hits.length)}${isDone ? '' : '…'}`;
}

function makeToggle(name: string, title: string, hidingClass: string): HTMLElement {
  const button = make('button', { type: 'button', title, 'aria-pressed': 'true' }, name);
  button.addEventListener('click', () => {
    const isHidden = document.body.classList.toggle(hidingClass);
    button.setAttribute('aria-pressed', String(!isHidden));
  });
  return button;
}
