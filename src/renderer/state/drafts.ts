import { create } from 'zustand';
import type { ContextId, Entry, EntryKey } from '../../core/contract/index.js';
import { api } from '../client';
import { loadOutline } from './contexts';
import { go, route } from './navigation';

export interface ForkDraft {
  readonly commit: ContextId;
  /** The prompt, and its text before the edit. */
  readonly key: EntryKey;
  readonly original: string;
  readonly text: string;
  readonly name: string;
  /** True if the editor is open. A closed editor keeps its draft. */
  readonly open: boolean;
}

/** The drafts of this machine by their keys. `loaded`: true once drafts of earlier runs of Stemma are included. */
export const useDrafts = create<{ readonly drafts: ReadonlyMap<string, string>; readonly loaded: boolean }>(() => ({
  drafts: new Map(),
  loaded: false,
}));

/** Changes are saved together after this pause, in milliseconds. */
const pause = 250;
const unsaved = new Map<string, string | null>();
let timer: ReturnType<typeof setTimeout> | undefined;

/** Sends typed texts to the engine, which stores them across reloads and restarts. */
export async function saveDrafts(): Promise<void> {
  clearTimeout(timer);
  timer = undefined;
  const all = [...unsaved];
  unsaved.clear();
  // One after the other, because the engine stores them in one file.
  for (const [key, text] of all)
    await api.library.saveDraft({ key, text }).catch(() => {
      if (!unsaved.has(key)) unsaved.set(key, text);
    });
}

// Saves at once if the window closes.
addEventListener('pagehide', () => void saveDrafts());

/** Keeps a draft; null drops it. */
export function keepDraft(key: string, text: string | null): void {
  const drafts = new Map(useDrafts.getState().drafts);
  if (text === null) drafts.delete(key);
  else drafts.set(key, text);
  useDrafts.setState({ drafts });
  unsaved.set(key, text);
  timer ??= setTimeout(() => void saveDrafts(), pause);
}

let loading: Promise<void> | undefined;

/** Loads the drafts of earlier runs once. Newer drafts of this window take precedence. */
export function loadDrafts(): Promise<void> {
  loading ??= api.library.drafts({}).then(
    (saved) => {
      const drafts = new Map(saved.map(({ key, text }) => [key, text] as const));
      for (const [key, text] of useDrafts.getState().drafts) drafts.set(key, text);
      for (const [key, text] of unsaved) if (text === null) drafts.delete(key);
      useDrafts.setState({ drafts, loaded: true });
    },
    () => {
      loading = undefined;
    },
  );
  return loading;
}

const forkKey = (project: string, commit: ContextId): string => `edit\n${project}\n${commit}`;

/** The edited prompt of a context, as a hook; undefined if no prompt is edited. */
export function useForkDraft(project: string, commit: ContextId | undefined): ForkDraft | undefined {
  return parsed(useDrafts(({ drafts }) => (commit === undefined ? undefined : drafts.get(forkKey(project, commit)))));
}

/** The current value of the edited prompt of a context; undefined if no prompt is edited. */
export const forkDraftOf = (project: string, commit: ContextId): ForkDraft | undefined =>
  parsed(useDrafts.getState().drafts.get(forkKey(project, commit)));

function parsed(text: string | undefined): ForkDraft | undefined {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as ForkDraft;
  } catch {
    return undefined;
  }
}

/** Keeps the edited prompt of a context; undefined drops it. */
export const keepForkDraft = (project: string, commit: ContextId, draft: ForkDraft | undefined): void =>
  keepDraft(forkKey(project, commit), draft ? JSON.stringify(draft) : null);

/** The draft of an edited prompt: its stored draft, else its text. */
export const draftOf = (commit: ContextId, { key, text = '' }: Pick<Entry, 'key' | 'text'>, kept: ForkDraft | undefined): ForkDraft =>
  kept?.key === key ? { ...kept, open: true } : { commit, key, original: text, text, name: '', open: true };

/** Shows the prompt of a commit's turn as an editor, with the stored draft if there is one. False if the context has no prompt. */
export async function editPrompt(commit: ContextId): Promise<boolean> {
  const { project } = route();
  if (project === undefined) return false;
  await loadDrafts();
  const kept = forkDraftOf(project, commit);
  if (kept) keepForkDraft(project, commit, { ...kept, open: true });
  else {
    const { rows } = await loadOutline(project, commit, 'compaction');
    const own = rows.findLastIndex((row) => row.prompt && row.commit === commit);
    const offset = own >= 0 ? own : rows.findLastIndex((row) => row.prompt);
    const [entry] = offset < 0 ? [] : (await api.context.entries({ id: commit, offset, limit: 1 })).entries;
    if (!entry) return false;
    keepForkDraft(project, commit, draftOf(commit, entry, undefined));
  }
  go({ view: 'context', commit, entry: undefined, stop: undefined });
  return true;
}
