import { useSyncExternalStore } from 'react';
import { create } from 'zustand';
import type { ContextId, EntryKey, Runtime, SessionRow, Stop } from '../../core/contract/index.js';
import type { FormSpec } from './forms';

export type ThemeChoice = 'system' | 'light' | 'dark';
/** `system` follows the contrast setting of the operating system. */
export type ContrastChoice = 'system' | 'more';

export type Sheet =
  | { readonly kind: 'palette' | 'keys' | 'words' | 'imports' | 'providers' | 'newProject' | 'openPath' | 'mapping' }
  | { readonly kind: 'fork'; readonly commit: ContextId; readonly at?: EntryKey | undefined; readonly stop: Stop }
  | { readonly kind: 'export'; readonly commit: ContextId; readonly stop: Stop }
  | { readonly kind: 'resume'; readonly commit: ContextId; readonly agent: Runtime }
  | { readonly kind: 'session'; readonly session: SessionRow; readonly what: 'title' | 'tags' }
  /** Shows what a repair of a session changes, and makes it. */
  | { readonly kind: 'repair'; readonly session: SessionRow }
  | { readonly kind: 'form'; readonly form: FormSpec }
  | { readonly kind: 'link'; readonly href: string };

export interface NoticeAct {
  readonly name: string;
  readonly act: () => void;
}

interface Ui {
  readonly theme: ThemeChoice;
  readonly contrast: ContrastChoice;
  /** Theme and contrast of the page as one word. Changes after the colors of the page have changed. */
  readonly shownTheme: string;
  readonly sheet: Sheet | undefined;
  /** In narrow windows the inspector is a drawer; whether it is open. */
  readonly drawer: boolean;
  readonly inspectorHidden: boolean;
  /** New entries of the current branch are shown as they arrive. */
  readonly followsTurns: boolean;
  /** A short message that disappears by itself, for example "Copied". */
  readonly notice: string | undefined;
  readonly noticeAct: NoticeAct | undefined;
}

const stored = <T extends string>(name: string, allowed: readonly T[], fallback: T): T => {
  const value = localStorage.getItem(`stemma.${name}`);
  return allowed.find((one) => one === value) ?? fallback;
};

/** The state of the window that is not in the address. */
export const useUi = create<Ui>(() => ({
  theme: stored('theme', ['system', 'light', 'dark'], 'system'),
  contrast: stored('contrast', ['system', 'more'], 'system'),
  shownTheme: '',
  sheet: undefined,
  drawer: false,
  inspectorHidden: stored('right', ['shown', 'hidden'], 'shown') === 'hidden',
  followsTurns: false,
  notice: undefined,
  noticeAct: undefined,
}));

const systemIsDark = matchMedia('(prefers-color-scheme: dark)');
const systemWantsContrast = matchMedia('(prefers-contrast: more)');

/** Theme and contrast of the page as one word, as a hook. Makes components that draw with theme colors on a canvas render again. */
export const useShownTheme = (): string => useUi(({ shownTheme }) => shownTheme);

/** Applies the choices to the page: `data-theme` is always `light` or `dark`, `data-contrast` always `normal` or `more`. */
export function applyTheme(): void {
  const { theme, contrast } = useUi.getState();
  const { dataset } = document.documentElement;
  dataset.theme = theme !== 'system' ? theme : systemIsDark.matches ? 'dark' : 'light';
  dataset.contrast = contrast === 'more' || systemWantsContrast.matches ? 'more' : 'normal';
  useUi.setState({ shownTheme: `${dataset.theme} ${dataset.contrast}` });
}

/** Sets, remembers and applies the theme or the contrast. */
export function setLook(look: { readonly theme: ThemeChoice } | { readonly contrast: ContrastChoice }): void {
  for (const [name, choice] of Object.entries(look)) localStorage.setItem(`stemma.${name}`, choice);
  useUi.setState(look);
  applyTheme();
}

systemIsDark.addEventListener('change', applyTheme);
systemWantsContrast.addEventListener('change', applyTheme);

/** Opens a sheet or dialog. */
export const show = (sheet: Sheet): void => useUi.setState({ sheet, drawer: false });
/** Opens a form as a sheet. */
export const ask = (form: FormSpec): void => show({ kind: 'form', form });
/** Closes the sheet or dialog. */
export const dismiss = (): void => useUi.setState({ sheet: undefined });

/** Window widths with room for the inspector beside the view. */
const inspectorRoom = matchMedia('(min-width: 901px)');

/** Whether there is room for the inspector beside the view; without room it is a drawer. */
export const useInspectorRoom = (): boolean =>
  useSyncExternalStore(
    (changed) => {
      inspectorRoom.addEventListener('change', changed);
      return () => inspectorRoom.removeEventListener('change', changed);
    },
    () => inspectorRoom.matches,
  );

/** Shows or hides the inspector, or opens or closes it as a drawer in a narrow window. */
export function toggleInspectorPane(): void {
  if (!inspectorRoom.matches) {
    useUi.setState(({ drawer }) => ({ drawer: !drawer }));
    return;
  }
  const hidden = !useUi.getState().inspectorHidden;
  localStorage.setItem('stemma.right', hidden ? 'hidden' : 'shown');
  useUi.setState({ inspectorHidden: hidden });
}

let noticeTimer: ReturnType<typeof setTimeout> | undefined;

/** How long a message stays, in milliseconds: longer if it offers something to do. */
const noticeMs = { plain: 2_400, offering: 60_000 };

/** The actions that can be undone, the last one at the end. */
const undoable: NoticeAct[] = [];
const maxUndoable = 20;

/** Undoes the last action of the window that can be undone. */
export function undoLast(): void {
  const last = undoable.pop();
  if (!last) {
    notify('Nothing to undo');
    return;
  }
  if (useUi.getState().noticeAct === last) dismissNotice();
  last.act();
}

/** Shows a short message, with an optional action. */
export function notify(notice: string, given?: NoticeAct): void {
  const noticeAct = given?.name === 'Undo' ? rememberUndo(given) : given;
  clearTimeout(noticeTimer);
  useUi.setState({ notice, noticeAct });
  noticeTimer = setTimeout(dismissNotice, noticeAct ? noticeMs.offering : noticeMs.plain);
}

/** Keeps an action that undoes another one, until it is used. */
function rememberUndo({ name, act }: NoticeAct): NoticeAct {
  const undo: NoticeAct = {
    name,
    act: () => {
      const at = undoable.indexOf(undo);
      if (at >= 0) undoable.splice(at, 1);
      act();
    },
  };
  undoable.push(undo);
  undoable.splice(0, undoable.length - maxUndoable);
  return undo;
}

/** Removes the message. */
export function dismissNotice(): void {
  clearTimeout(noticeTimer);
  useUi.setState({ notice: undefined, noticeAct: undefined });
}

/** Copies a text to the clipboard and shows `what` as a message. */
export async function copy(text: string, what = 'Copied'): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    notify(what);
  } catch {
    notify('This window may not use the clipboard. Select the text and copy it by hand.');
  }
}

/** Downloads content as a file of the given name and media type. */
export function download(content: string | Uint8Array<ArrayBuffer>, name: string, type: string): void {
  const url = URL.createObjectURL(new Blob([content], { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** The bytes of stored content, which the engine sends as base64. */
export const bytesIn = (data: string): Uint8Array<ArrayBuffer> => Uint8Array.from(atob(data), (character) => character.charCodeAt(0));
