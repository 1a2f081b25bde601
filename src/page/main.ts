// page: the script of an exported page. It draws the entries near the view, plays them one by one and searches all of them. Everything it shows is
// made of text nodes, because the page's policy refuses markup from texts. It runs in a browser without Stemma. page.config.ts bundles it, and
// core/export/html writes it into each page.
import { main, watchBlocks } from './blocks.js';
import { itemsOf, sources, startOf } from './data.js';
import { iconButton, icons } from './elements.js';
import { makeFooter } from './footer.js';
import { makeHeader, makeSearchField } from './header.js';
import { makeKeySheet, watchKeys } from './keyboard.js';
import { makeOutline } from './outline.js';
import { select, watchScrolling } from './player.js';
import { changed, state } from './state.js';

const root = document.documentElement;
const field = makeSearchField();
const outline = makeOutline();
const sheet = makeKeySheet();
const footer = makeFooter(sheet);
const header = makeHeader(field, outline.button, iconButton(icons.shade, 'Light or dark', switchTheme).element);

function switchTheme(): void {
  const isDark = root.dataset.theme ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  root.dataset.theme = isDark ? 'light' : 'dark';
  footer.drawTrack();
}

/** Scrolls to the entry that the page's address names. */
function goToAddress(): void {
  let key = '';
  try {
    key = decodeURIComponent(location.hash.slice(1));
  } catch {
    return;
  }
  if (key === '') return;
  const inJson = `"key":${JSON.stringify(key).replaceAll('<', '\\u003c')}`;
  const block = sources.findIndex((source) => source.includes(inJson));
  const place = block < 0 ? -1 : itemsOf(block).findIndex((item) => item.key === key);
  if (place < 0) return;
  const at = startOf(block) + place;
  if (at !== state.at || !state.isSelected) select(at, 'start');
}

document.body.append(header, outline.element, main, footer.element, sheet);
watchBlocks();
watchScrolling();
watchKeys({ field, scale: footer.scale, sheet, toggleOutline: () => outline.toggle() });
window.addEventListener('hashchange', goToAddress);
window.addEventListener('resize', footer.drawTrack);
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', footer.drawTrack);
footer.drawTrack();
changed();
goToAddress();
