import { useSyncExternalStore } from 'react';
import { create } from 'zustand';
import type { ContextId, EntryKey, Runtime, Stop } from '../../core/contract/index.js';
import type { RunInput } from './runs';

/** Which side of the view a pane stands on. */
export type Side = 'left' | 'right';

export type ThemeChoice = 'system' | 'light' | 'dark';

/** What floats over the window. One at a time. */
export type Sheet =
  | { readonly kind: 'palette' }
  | { readonly kind: 'keys' }
  | { readonly kind: 'imports' }
  | { readonly kind: 'fork'; readonly commit: ContextId; readonly at?: EntryKey | undefined; readonly stop: Stop }
  | { readonly kind: 'export'; readonly commit: ContextId; readonly stop: Stop }
  | { readonly kind: 'resume'; readonly commit: ContextId; readonly agent: Runtime }
  | { readonly kind: 'providers' }
  /** A turn, run again in one way, to be kept in an experiment. */
  | { readonly kind: 'case'; readonly input: RunInput }
  | { readonly kind: 'link'; readonly href: string };

interface Ui {
  readonly theme: ThemeChoice;
  readonly sheet: Sheet | undefined;
  /** Where there is no room beside the view the panes are drawers, and at most one is out. */
  readonly drawer: Side | undefined;
  readonly leftHidden: boolean;
  readonly rightHidden: boolean;
  /** What comes on the branch that is read shows by itself. */
  readonly followsTurns: boolean;
  /** A word that shows for a moment: "Copied". */
  readonly notice: string | undefined;
}

const stored = <T extends string>(name: string, allowed: readonly T[], fallback: T): T => {
  const value = localStorage.getItem(`stemma.${name}`);
  return allowed.find((one) => one === value) ?? fallback;
};

export const useUi = create<Ui>(() => ({
  theme: stored('theme', ['system', 'light', 'dark'], 'system'),
  sheet: undefined,
  drawer: undefined,
  leftHidden: stored('left', ['shown', 'hidden'], 'shown') === 'hidden',
  rightHidden: stored('right', ['shown', 'hidden'], 'shown') === 'hidden',
  followsTurns: false,
  notice: undefined,
}));

const useMatches = (query: MediaQueryList): boolean =>
  useSyncExternalStore(
    (changed) => {
      query.addEventListener('change', changed);
      return () => query.removeEventListener('change', changed);
    },
    () => query.matches,
  );

const systemIsDark = matchMedia('(prefers-color-scheme: dark)');
const themeOf = (choice: ThemeChoice, isDark: boolean): 'light' | 'dark' => (choice === 'system' ? (isDark ? 'dark' : 'light') : choice);

/** The theme that is on the page: what draws with its colors by hand draws anew when it changes, whoever changed it. */
export const useShownTheme = (): 'light' | 'dark' =>
  themeOf(
    useUi(({ theme }) => theme),
    useMatches(systemIsDark),
  );

/** Puts the theme on the page: `data-theme` is always `light` or `dark`. */
export function applyTheme(choice: ThemeChoice = useUi.getState().theme): void {
  document.documentElement.dataset.theme = themeOf(choice, systemIsDark.matches);
}

export function setTheme(theme: ThemeChoice): void {
  localStorage.setItem('stemma.theme', theme);
  useUi.setState({ theme });
  applyTheme(theme);
}

systemIsDark.addEventListener('change', () => applyTheme());

export const show = (sheet: Sheet): void => useUi.setState({ sheet, drawer: undefined });
export const dismiss = (): void => useUi.setState({ sheet: undefined });

/** Windows with room for a pane beside the view: that for both is wider than that for what is selected alone. */
const room: Readonly<Record<Side, MediaQueryList>> = { left: matchMedia('(min-width: 1200px)'), right: matchMedia('(min-width: 901px)') };

/** Whether there is room for a pane beside the view; where there is none, it is a drawer. */
export const useRoom = (side: Side): boolean => useMatches(room[side]);

export function togglePane(side: Side): void {
  if (!room[side].matches) {
    useUi.setState((old) => ({ drawer: old.drawer === side ? undefined : side }));
    return;
  }
  const name = side === 'left' ? 'leftHidden' : 'rightHidden';
  const hidden = !useUi.getState()[name];
  localStorage.setItem(`stemma.${side}`, hidden ? 'hidden' : 'shown');
  useUi.setState({ [name]: hidden });
}

let noticeTimer: ReturnType<typeof setTimeout> | undefined;

export function notify(notice: string): void {
  clearTimeout(noticeTimer);
  useUi.setState({ notice });
  noticeTimer = setTimeout(() => useUi.setState({ notice: undefined }), 2_400);
}

export async function copy(text: string, what = 'Copied'): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    notify(what);
  } catch {
    notify('The clipboard is not open to this window. Select the text and copy it by hand.');
  }
}

/** Hands a text to the browser as a file of that name. */
export function download(content: string | Uint8Array<ArrayBuffer>, name: string, type: string): void {
  const url = URL.createObjectURL(new Blob([content], { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
