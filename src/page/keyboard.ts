import { articleAt } from './blocks.js';
import { total } from './data.js';
import { make } from './elements.js';
import { playOrPause, select, setReplay, step, stepPrompt } from './player.js';
import { state } from './state.js';

const keys = [
  ['Space', 'play or pause'],
  ['→ ← or j k', 'forward or back one entry'],
  ['] [', 'next or previous prompt'],
  ['Home End', 'first or last entry'],
  ['Enter', 'open or close the fold in the entry'],
  ['/', 'search; Enter and Shift+Enter for the next and the previous hit'],
  ['o', 'outline'],
  ['a or Esc', 'end the replay and show everything'],
] as const;

/** The dialog that lists the keys. */
export const makeKeySheet = (): HTMLDialogElement =>
  make(
    'dialog',
    { 'aria-label': 'Keyboard' },
    make('dl', {}, ...keys.flatMap(([key, action]) => [make('dt', {}, make('kbd', {}, key)), make('dd', {}, action)])),
    make('form', { method: 'dialog' }, make('button', { autofocus: true }, 'Close')),
  );

interface Parts {
  readonly field: HTMLInputElement;
  readonly scale: HTMLInputElement;
  readonly sheet: HTMLDialogElement;
  readonly toggleOutline: () => void;
}

/** Handles keys that no control has handled. */
export function watchKeys({ field, scale, sheet, toggleOutline }: Parts): void {
  const actions: Readonly<Record<string, () => void>> = {
    ' ': playOrPause,
    ArrowRight: () => step(1),
    ArrowLeft: () => step(-1),
    j: () => step(1),
    k: () => step(-1),
    ']': () => stepPrompt(1),
    '[': () => stepPrompt(-1),
    Home: () => select(0, 'start'),
    End: () => select(total - 1),
    '/': () => field.focus(),
    o: toggleOutline,
    a: () => setReplay(false),
    Escape: () => state.isReplay && setReplay(false),
    '?': () => sheet.showModal(),
  };
  // Keys of a composition (Japanese, Chinese, Korean) belong to the text that is being written; 229 is Safari's last one.
  addEventListener('keydown', (event) => (event.isComposing || event.keyCode === 229) && event.stopImmediatePropagation(), { capture: true });
  document.addEventListener('keydown', (event) => {
    const target = event.target as HTMLElement;
    const isTyping = target !== scale && /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName);
    if (event.ctrlKey || event.metaKey || event.altKey || sheet.open || isTyping) return;
    if (event.key === ' ' && /^(BUTTON|SUMMARY|A)$/.test(target.tagName)) return;
    if (event.key === 'Enter' && target === document.body) return toggleFold();
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });
}

function toggleFold(): void {
  const details = articleAt(state.at)?.querySelector('details');
  if (details) details.open = !details.open;
}
