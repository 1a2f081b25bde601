import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { gfm } from 'micromark-extension-gfm';
import { type ElementContent, make, verbatim } from './elements.js';

type Root = ReturnType<typeof fromMarkdown>;
type Tree = Root | Root['children'][number];
type Kind<T extends Tree['type']> = Extract<Tree, { type: T }>;

/** Longer texts, and texts with more emphasis marks, would block the page. They are shown as plain text. */
const parseLimit = 60_000;
const emphasisLimit = 4_000;

/** Draws Markdown as elements. HTML in it stays text, and images are named but not loaded. */
export function markdown(text: string): Node {
  if (text.length > parseLimit || (text.match(/[*_~]/g)?.length ?? 0) > emphasisLimit) return verbatim(text);
  try {
    return new Drawing(fromMarkdown(text, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] })).draw();
  } catch (error) {
    // Thousands of nested quotes overflow the stack.
    if (error instanceof RangeError) return verbatim(text);
    throw error;
  }
}

/** The elements of nodes that only hold others, or nothing. */
const tags: Readonly<Partial<Record<Tree['type'], keyof HTMLElementTagNameMap>>> = {
  paragraph: 'p',
  blockquote: 'blockquote',
  emphasis: 'em',
  strong: 'strong',
  delete: 'del',
  thematicBreak: 'hr',
  break: 'br',
};

class Drawing {
  readonly #root: Root;
  /** The targets of reference links. The first definition of a label counts. */
  readonly #targets = new Map<string, string>();

  constructor(root: Root) {
    this.#root = root;
    this.#collectTargets(root);
  }

  draw(): DocumentFragment {
    const fragment = document.createDocumentFragment();
    fragment.append(...this.#within(this.#root));
    return fragment;
  }

  #collectTargets(node: Tree): void {
    if (node.type === 'definition' && !this.#targets.has(node.identifier)) this.#targets.set(node.identifier, node.url);
    if ('children' in node) for (const child of node.children) this.#collectTargets(child);
  }

  /** What a node holds. */
  #within(node: Tree): (Node | string)[] {
    return 'children' in node ? node.children.map((child) => this.#one(child)).filter((content) => content !== undefined) : [];
  }

  #one(node: Tree): ElementContent {
    const tag = tags[node.type];
    if (tag) return make(tag, {}, ...this.#within(node));
    switch (node.type) {
      case 'text':
        return node.value;
      case 'html':
        return isBlock(node, this.#root) ? make('p', {}, node.value) : node.value;
      case 'code':
        return make('pre', { tabindex: '0' }, node.value);
      case 'inlineCode':
        return make('code', {}, node.value);
      case 'heading':
        return make(node.depth < 3 ? 'h3' : 'h4', {}, ...this.#within(node));
      case 'list':
        return this.#list(node);
      case 'table':
        return this.#table(node);
      case 'link':
        return link(this.#within(node), node.url);
      case 'linkReference':
        return link(this.#within(node), this.#targets.get(node.identifier) ?? '');
      case 'image':
        return imageName(node.alt, node.url);
      case 'imageReference':
        return imageName(node.alt, this.#targets.get(node.identifier) ?? '');
      case 'footnoteReference':
        return make('sup', {}, node.identifier);
      case 'footnoteDefinition':
        return make('div', { class: 'footnote' }, make('sup', {}, node.identifier), ...this.#within(node));
      default:
        return 'children' in node ? make('span', {}, ...this.#within(node)) : undefined;
    }
  }

  #list(list: Kind<'list'>): HTMLElement {
    const isLoose = list.spread === true || list.children.some((item) => item.spread === true);
    const items = list.children.map((item) => {
      const box = item.checked == null ? undefined : make('input', { type: 'checkbox', disabled: true, checked: item.checked, 'aria-label': 'done' });
      // A paragraph of a tight list has no space before the next item.
      const content = item.children.flatMap((child) => (child.type === 'paragraph' && !isLoose ? this.#within(child) : this.#one(child)));
      return make('li', { class: box && 'task' }, box, ...content);
    });
    return list.ordered ? make('ol', { start: String(list.start ?? 1) }, ...items) : make('ul', {}, ...items);
  }

  #table(table: Kind<'table'>): HTMLElement {
    const [head, ...rows] = table.children.map((row, place) =>
      make('tr', {}, ...row.children.map((cell, at) => make(place === 0 ? 'th' : 'td', { class: table.align?.[at] ?? '' }, ...this.#within(cell)))),
    );
    return make('table', {}, make('thead', {}, head), make('tbody', {}, ...rows));
  }
}

/** Block-level HTML, as opposed to inline HTML. */
const isBlock = (node: Tree, root: Root): boolean => root.children.includes(node as Root['children'][number]);

const imageName = (alt: string | null | undefined, address: string): string => `[image: ${alt || address}]`;

/** A web or mail link, followed by its host unless its text contains the host. Any other link is shown as text with its target. */
function link(content: readonly (Node | string)[], address: string): Node | string {
  const text = content.map((part) => (typeof part === 'string' ? part : (part.textContent ?? ''))).join('');
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (!url || !['http:', 'https:', 'mailto:'].includes(url.protocol))
    return make('span', {}, ...content, ...(text === address || address === '' ? [] : [` (${address})`]));
  const anchor = make('a', { href: url.href, target: '_blank', rel: 'noopener noreferrer nofollow', title: url.href }, ...content);
  if (text.includes(url.host || url.pathname)) return anchor;
  return make('span', {}, anchor, ' ', make('span', { class: 'target' }, `(${url.host || url.href})`));
}
