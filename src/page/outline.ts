import { index } from './data.js';
import { iconButton, icons, make } from './elements.js';
import { jump } from './player.js';
import { onChange, state } from './state.js';
import { numberText } from './words.js';

const maxLinks = 5_000;

/** The outline of prompts and compactions, and the button that opens it. */
export function makeOutline() {
  const element = make(
    'nav',
    { 'aria-label': 'Outline' },
    make('h2', {}, `${numberText(index.prompts.length)} ${index.prompts.length === 1 ? 'prompt' : 'prompts'}`),
  );
  const stops = [
    ...index.prompts.map(([at, text]) => ({ at, text, className: '' })),
    ...[...index.kinds].flatMap((kind, at) => (kind === 'c' ? [{ at, text: 'Compaction', className: 'compaction' }] : [])),
  ].sort((a, b) => a.at - b.at);
  const links = stops.slice(0, maxLinks).map(({ at, text, className }) => {
    const link = make('a', { href: '#', class: className, title: text }, text || '(no text)');
    link.addEventListener('click', (event) => {
      event.preventDefault();
      jump(at, 'start');
    });
    return link;
  });
  element.append(...links);
  onChange(() => {
    element.querySelector('a[aria-current]')?.removeAttribute('aria-current');
    links[stops.findLastIndex(({ at }) => at <= state.at)]?.setAttribute('aria-current', 'true');
  });

  const button = iconButton(icons.list, 'Outline', () => toggle()).element;
  const toggle = (isOpen = !document.body.classList.contains('outlined')): void => {
    document.body.classList.toggle('outlined', isOpen);
    button.setAttribute('aria-pressed', String(isOpen));
  };
  toggle(window.innerWidth > 1_180 && index.prompts.length > 1);
  return { element, button, toggle };
}
