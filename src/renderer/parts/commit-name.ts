import type { GraphRow } from '../../core/contract/index.js';
import { continuedName } from '../state';
import { firstLine } from './numbers';

/** What the name of a commit depends on. Rows and single commits have it. */
export interface Titled extends Pick<GraphRow, 'fork' | 'continues'> {
  readonly commit: Pick<GraphRow['commit'], 'summary' | 'type' | 'damaged' | 'checkpoint' | 'messageCount'>;
}

/** The name of a commit in every part of the window, on one line. An answer to an edited prompt is named by the edit: both are one turn. */
export function commitName({ commit, fork, continues }: Titled): string {
  const { summary, type, damaged, checkpoint, messageCount } = commit;
  if (continues) return continuedName;
  const words = firstLine(fork?.title ?? summary ?? '');
  if (words !== '') return words;
  if (damaged) return 'Title not shown';
  if (type === 'compaction') return 'Compaction';
  return checkpoint === 'session_end' && messageCount === 0 ? 'Session ended' : 'No title';
}
