import type { ContextId } from '../../core/contract/index.js';
import { api } from '../client';
import { notify, openComparison } from '../state';

/** Compares an edited prompt and its answer with the turn in whose place they stand, from the fork, from the answer or from the original turn. */
export async function compareWithOriginal(id: ContextId): Promise<void> {
  const { fork, answer, original } = await api.turn.original({ id });
  const commit = answer ?? fork;
  if (commit === null) return notify('Nothing was forked from this turn');
  const against = original ?? (await api.context.show({ id: commit })).parent;
  if (against === null) return notify('The branch has no original to compare with');
  openComparison(commit, against);
}
