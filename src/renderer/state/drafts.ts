import { create } from 'zustand';
import type { ContextId, EntryKey } from '../../core/contract/index.js';
import { api } from '../client';

/** An edited prompt that is not a fork yet. */
export interface ForkDraft {
  readonly commit: ContextId;
  /** The prompt, and its text before the edit. */
  readonly key: EntryKey;
  readonly original: string;
  readonly text: string;
  readonly name: string;
  /** The editor is open. A closed editor keeps its draft. */
  readonly open: boolean;
}

/** The drafts of this machine by their keys. `loaded`: those of earlier runs of Stemma are among them. */
export const useDrafts = create<{ readonly drafts: ReadonlyMap<string, string>; readonly loaded: boolean }>(() => ({
  drafts: new Map(),
  loaded: false,
}));

/** Changes are saved together after this pause, in milliseconds. */
const pause = 250;
const unsaved = new Map<string, string | null>();
let timer: ReturnType<typeof setTimeout> | undefined;

/** Sends what was typed to the engine, which keeps it across reloads and restarts. */
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

// A window that closes saves at once.
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

/** Loads the drafts of earlier runs once. What was typed since then wins. */
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

/** The edited prompt of a context; undefined without one. */
export function useForkDraft(project: string, commit: ContextId | undefined): ForkDraft | undefined {
  return parsed(useDrafts(({ drafts }) => (commit === undefined ? undefined : drafts.get(forkKey(project, commit)))));
}

/** The edited prompt of a context now; undefined without one. */
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
