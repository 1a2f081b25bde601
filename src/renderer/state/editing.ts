import type { ContextId, Entry } from '../../core/contract/index.js';
import { api } from '../client';
import { loadOutline } from './contexts';
import { type ForkDraft, forkDraftOf, keepForkDraft, loadDrafts } from './drafts';
import { go, route } from './navigation';

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
