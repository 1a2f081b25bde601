import { create } from 'zustand';
import type { ContextId, SearchHit } from '../../core/contract/index.js';
import { go, useNavigation } from './navigation';

/** The entries of the open context that are in view (`from` to `to`), and the entry that another part of the window requested to show. */
export const useReading = create<{
  readonly from: number;
  readonly to: number;
  readonly jump: { readonly entry: number; readonly at: number } | undefined;
}>(() => ({ from: 0, to: 0, jump: undefined }));

/** The open search hit: its entry, and the words to highlight in it. */
export const useHit = create<{ readonly entry: string; readonly words: readonly string[] }>(() => ({ entry: '', words: [] }));

/** Shows an entry in its context and highlights the found words. The breadcrumb shows `session`, if given. */
export function openHit({ commit, entryKey, snippet, matches }: SearchHit, session?: string): void {
  useHit.setState({ entry: entryKey, words: [...new Set(matches.map(({ start, end }) => snippet.slice(start, end)))] });
  go({ view: 'context', commit, entry: entryKey, stop: undefined, ...(session !== undefined && { session }) });
}

/** Scrolls the open context to an entry, by the entry's position in the context. */
export const jumpTo = (entry: number): void => useReading.setState({ jump: { entry, at: performance.now() } });

/** The commit of the current step of a replay, and the commit up to which the replay plays. */
export const useStep = create<{ readonly tip?: ContextId | undefined; readonly commit?: ContextId | undefined }>(() => ({}));

/** The commit that the window shows: the selected one, or in a replay that of the current step. */
export function useCommitInView(): ContextId | undefined {
  const { view, commit } = useNavigation(({ route }) => route);
  const step = useStep();
  return view === 'replay' && step.tip === commit ? (step.commit ?? commit) : commit;
}
