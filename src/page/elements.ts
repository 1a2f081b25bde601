import { sizeText } from './words.js';

export type ElementContent = Node | string | undefined;

/** Makes an element from texts and elements, never from markup. */
export function make<T extends keyof HTMLElementTagNameMap>(
  tag: T,
  attributes: Readonly<Record<string, string | boolean | undefined>> = {},
  ...content: readonly ElementContent[]
): HTMLElementTagNameMap[T] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes))
    if (value !== undefined && value !== false) element.setAttribute(name, value === true ? '' : value);
  element.append(...content.filter((part) => part !== undefined));
  return element;
}

/** Paths of the icons, in a box of 16 by 16. */
export const icons = {
  first: 'M3 3h2v10H3zM13 3v10L6 8z',
  back: 'M11 3v10L4 8z',
  play: 'M4 2.5v11l9-5.5z',
  pause: 'M4 3h3v10H4zM9 3h3v10H9z',
  forward: 'M5 3v10l7-5z',
  up: 'M8 4l5 6H3z',
  down: 'M8 12L3 6h10z',
  list: 'M2 3h12v2H2zM2 7h8v2H2zM2 11h12v2H2z',
  shade: 'M8 1a7 7 0 100 14A7 7 0 008 1zm0 2v10a5 5 0 000-10z',
};

/** A button with an icon. `draw` changes the icon. */
export function iconButton(path: string, name: string, act: () => void) {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  svg.setAttribute('viewBox', '0 0 16 16');
  svg.setAttribute('aria-hidden', 'true');
  const shape = document.createElementNS('http://www.w3.org/2000/svg', 'path');
  svg.append(shape);
  const element = make('button', { type: 'button' }, svg);
  element.addEventListener('click', act);
  const draw = (nextPath: string, nextName: string): void => {
    shape.setAttribute('d', nextPath);
    element.setAttribute('aria-label', nextName);
    element.title = nextName;
  };
  draw(path, name);
  return { element, draw };
}

/** A fold that makes its content when it opens. */
export function fold(head: readonly ElementContent[], body: () => Node): HTMLDetailsElement {
  const element = make('details', {}, make('summary', {}, ...head));
  element.addEventListener('toggle', () => element.open && element.childElementCount === 1 && element.append(body()));
  return element;
}

const longText = 60_000;

/** An unformatted text. Of a very long text, it shows the beginning and a button for the rest. */
export function verbatim(text: string): HTMLElement {
  if (text.length <= longText) return make('pre', { tabindex: '0' }, text);
  const box = make('pre', { tabindex: '0' }, text.slice(0, longText));
  const more = make('button', { type: 'button' }, `Show all ${sizeText(text.length)}`);
  more.addEventListener('click', () => {
    box.textContent = text;
    more.remove();
  });
  return make('div', {}, box, more);
}
