import { useEffect } from 'react';
import { go, show, undoLast, useUi, type ViewName } from '../state';
import { toggleInspector } from './panes';
import { firstViewIn, places, views } from './views';

/** The list of keys that `?` shows, by group. Each key is handled in the view or part that it belongs to. */
export const keyGroups: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Everywhere: {
    'Ctrl/Cmd K': 'Search or jump',
    '?': 'Show this list',
    '/': 'Filter or find',
    'Ctrl/Cmd J': 'Hide or show the inspector',
    'Ctrl/Cmd Z': 'Undo the last action',
    'Alt ←  Alt →': 'Back, forward',
    Esc: 'Close the top sheet or menu',
  },
  Places: Object.fromEntries(
    views.map(({ id, title, keys, place }) => {
      const digit = firstViewIn(place) === id && places.find((one) => one.id === place)?.digit;
      return [[...(digit ? [digit] : []), ...keys.split(' ')].join('  '), title];
    }),
  ),
  Lists: { 'j k  ↓ ↑': 'Next, previous', Enter: 'Open', Space: 'Select as the second commit' },
  Session: {
    o: 'Open the context',
    F2: 'Rename',
    t: 'Tags',
    p: 'Pin or unpin',
    a: 'Archive or bring back',
    Delete: 'Delete from the project',
  },
  Commit: {
    E: 'Edit the prompt and fork',
    f: 'Fork',
    d: 'Compare the two selected commits',
    p: 'Compare with parent',
    o: 'Compare a fork with the original',
    e: 'Export',
    r: 'Replay',
    R: 'Resume in the agent',
    y: 'Copy id',
  },
  Context: {
    '[ ]': 'Previous, next turn',
    'Ctrl/Cmd F': 'Find in the context',
    f: 'Fork from the selected entry',
    y: 'Copy the key of the selected entry',
  },
  Calls: { 'm  M': 'Next, previous cache miss', J: 'Next large jump' },
  Experiment: { 'p f u': 'Mark the reply as passed, failed or undecided', d: 'Compare it with the recorded reply' },
  Replay: {
    Space: 'Play, pause',
    '← →  , .': 'Previous, next step',
    'Shift ← →  [ ]': 'Previous, next turn',
    '< >': 'Slower, faster',
    'Home End': 'First, last step',
  },
};

const viewKeys: ReadonlyMap<string, ViewName> = new Map(views.map(({ id, keys }) => [keys.slice(-1), id]));
const digitViews: ReadonlyMap<string, ViewName> = new Map(places.flatMap(({ id, digit }) => (digit ? [[digit, firstViewIn(id)] as const] : [])));

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName));

const commandKeys: ReadonlyMap<string, () => void> = new Map([
  ['k', () => show({ kind: 'palette' })],
  ['j', toggleInspector],
  ['z', undoLast],
]);

function actionOf(key: string, rememberGo: () => void): (() => void) | undefined {
  const view = digitViews.get(key.toLowerCase());
  if (view) return () => go({ view });
  if (key.toLowerCase() === 'g') return rememberGo;
  if (key === '?') return () => show({ kind: 'keys' });
  if (key === '/') return () => document.querySelector<HTMLInputElement>('[data-filter]:not(:disabled)')?.focus();
  return undefined;
}

/** If nothing has the focus, list keys go to the list of the view. */
function passToList(event: KeyboardEvent): void {
  const list = document.querySelector<HTMLElement>('[data-list]');
  if (!list || list.contains(event.target as Node)) return;
  list.focus({ preventScroll: true });
  if (!list.dispatchEvent(new KeyboardEvent('keydown', { key: event.key, bubbles: true, cancelable: true }))) event.preventDefault();
}

/** Handles the keys that work everywhere except while a person types into a field. */
export function useKeys(): void {
  useEffect(() => {
    let goPressed = 0;
    // Handled before the view gets the key: after `g`, the key `e` must open Experiments and not the export.
    const onKeyAfterG = (event: KeyboardEvent) => {
      if (performance.now() - goPressed >= 1_000) return;
      goPressed = 0;
      if (event.ctrlKey || event.metaKey || event.altKey || useUi.getState().sheet || isTyping(event.target)) return;
      const view = viewKeys.get(event.key.toLowerCase());
      if (!view) return;
      event.preventDefault();
      event.stopPropagation();
      go({ view });
    };
    const rememberGo = () => {
      goPressed = performance.now();
    };
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.defaultPrevented) return;
      const hasCommand = event.ctrlKey || event.metaKey;
      const isFree = !hasCommand && !event.altKey && !useUi.getState().sheet && !isTyping(event.target);
      if (event.key === 'Escape') useUi.setState({ drawer: false });
      // A field undoes what was typed in it.
      const isUndoOfField = event.key.toLowerCase() === 'z' && (isTyping(event.target) || event.shiftKey);
      const act = isUndoOfField
        ? undefined
        : hasCommand
          ? commandKeys.get(event.key.toLowerCase())
          : isFree
            ? actionOf(event.key, rememberGo)
            : undefined;
      if (act) {
        event.preventDefault();
        act();
      } else if (isFree && event.target === document.body) passToList(event);
    };
    const listening = new AbortController();
    addEventListener('keydown', onKeyAfterG, { capture: true, signal: listening.signal });
    addEventListener('keydown', onKeyDown, { signal: listening.signal });
    return () => listening.abort();
  }, []);
}

/** Sets the window title to the breadcrumb, the most specific part first, for the task switcher and bookmarks. */
export function useTitle(crumbs: readonly string[]): void {
  const title = [...crumbs.toReversed(), 'Stemma'].join(' – ');
  useEffect(() => {
    document.title = title;
  }, [title]);
}
