import { useEffect } from 'react';
import { go, route, show, useUi, type ViewName } from '../state';
import { toggle } from './panes';
import { viewNames } from './views';

/** The list that `?` shows; the keys themselves are answered where their thing is. */
export const keyGroups: readonly { readonly name: string; readonly keys: readonly (readonly [keys: string, what: string])[] }[] = [
  {
    name: 'Everywhere',
    keys: [
      ['Ctrl/Cmd K', 'Search or jump'],
      ['?', 'This list'],
      ['/', 'Filter or find'],
      ['Ctrl/Cmd B', 'Hide or show the sessions'],
      ['Ctrl/Cmd J', 'Hide or show the inspector'],
      ['Alt ←  Alt →', 'Back, forward'],
      ['Esc', 'Close what floats'],
    ],
  },
  { name: 'Views', keys: viewNames.map(([, name, , keys]) => [keys.replace(' ', '  '), name]) },
  {
    name: 'Lists',
    keys: [
      ['j k  ↓ ↑', 'Next, previous'],
      ['Enter', 'Open'],
      ['Space', 'Choose as the second'],
    ],
  },
  {
    name: 'Commit',
    keys: [
      ['f', 'Fork'],
      ['d', 'Diff with the other selected'],
      ['p', 'Compare with parent'],
      ['e', 'Export'],
      ['r', 'Replay'],
      ['R', 'Resume in its agent'],
      ['y', 'Copy id'],
    ],
  },
  {
    name: 'Context',
    keys: [
      ['[ ]', 'Previous, next turn'],
      ['Ctrl/Cmd F', 'Find in the context'],
      ['f', 'Fork from the chosen entry'],
      ['y', 'Copy the key of the chosen entry'],
    ],
  },
  {
    name: 'Experiment',
    keys: [
      ['p f u', 'The reply passes, fails, take it back'],
      ['d', 'Compare it with the record'],
    ],
  },
  {
    name: 'Replay',
    keys: [
      ['Space', 'Play, pause'],
      ['← →  , .', 'Previous, next step'],
      ['Shift ← →  [ ]', 'Previous, next turn'],
      ['< >', 'Slower, faster'],
      ['Home End', 'First, last step'],
    ],
  },
];

/** What follows `g`, by the list of the tabs. */
const viewKeys: ReadonlyMap<string, ViewName> = new Map(viewNames.map(([view, , , keys]) => [keys.slice(-1), view]));

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName));

/** Keys that work wherever the focus is, but while something is typed. */
export function useKeys(): void {
  useEffect(() => {
    let goPressed = 0;
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.defaultPrevented) return;
      const command = event.ctrlKey || event.metaKey;
      const key = event.key.toLowerCase();
      const { sheet } = useUi.getState();
      const done = (act: () => void) => {
        event.preventDefault();
        act();
      };
      if (command && key === 'k') return done(() => show({ kind: 'palette' }));
      if (command && key === 'b') return done(() => toggle('left'));
      if (command && key === 'j') return done(() => toggle('right'));
      if (event.key === 'Escape') useUi.setState({ drawer: undefined });
      if (command || event.altKey || sheet || isTyping(event.target)) return;
      if (performance.now() - goPressed < 1_000) {
        goPressed = 0;
        const view = viewKeys.get(key);
        if (view) return done(() => go({ view }));
      }
      if (key === 'g') return done(() => (goPressed = performance.now()));
      if (event.key === '?') return done(() => show({ kind: 'keys' }));
      if (event.key === '/') return done(() => document.querySelector<HTMLInputElement>('[data-filter]:not(:disabled)')?.focus());
      // With the focus nowhere, the keys of a list go to the list of the view.
      if (event.target === document.body) {
        const list = document.querySelector<HTMLElement>('[data-list]');
        if (!list || list.contains(event.target as Node)) return;
        list.focus({ preventScroll: true });
        if (!list.dispatchEvent(new KeyboardEvent('keydown', { key: event.key, bubbles: true, cancelable: true }))) event.preventDefault();
      }
    };
    addEventListener('keydown', onKeyDown);
    return () => removeEventListener('keydown', onKeyDown);
  }, []);
}

/** The window's name says where one is, for the task switcher and for bookmarks. */
export function useTitle(project: string | undefined): void {
  const { commit, view } = route();
  useEffect(() => {
    document.title = [view !== 'library' && commit, project, 'Stemma'].filter(Boolean).join(' · ');
  }, [commit, view, project]);
}
