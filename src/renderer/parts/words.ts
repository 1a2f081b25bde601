import type { CardContent, GraphRow, JobStatus, TicketStatus } from '../../core/contract/index.js';
import { continuedName } from '../state';
import { firstLine } from './numbers';

export const statusNames: Readonly<Record<TicketStatus, string>> = {
  open: 'Open',
  in_progress: 'In progress',
  review: 'In review',
  blocked: 'Blocked',
  deferred: 'Deferred',
  closed: 'Closed',
};

export const jobStatusWords: Readonly<Record<JobStatus, string>> = {
  running: 'running',
  success: 'finished',
  failed: 'failed',
  stopped: 'stopped',
  limit: 'stopped at its limit',
  interrupted: 'interrupted: Stemma was closed',
};

/** What the name of a commit depends on. Rows and single commits have it. */
interface Titled extends Pick<GraphRow, 'fork' | 'continues'> {
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

/** The content of a card as text for rows and previews. */
export function textOfContent(content: CardContent): string {
  if (content.kind === 'text') return content.text;
  if (content.kind === 'json') return factsIn(content.data);
  return content.fields.map(({ name, description }) => (description ? `${name}: ${description}` : name)).join('\n');
}

/** Flat data as one line per field, nested data as JSON. */
function factsIn(data: unknown): string {
  const parts = typeof data === 'object' && data !== null && !Array.isArray(data) ? Object.entries(data) : [];
  const isFlat = parts.length > 0 && parts.every(([, value]) => value === null || typeof value !== 'object');
  return isFlat ? parts.map(([name, value]) => `${name}: ${value}`).join('\n') : JSON.stringify(data);
}

/** The names in a text that separates them by commas. */
export const namesIn = (text: string): string[] => text.split(',').flatMap((name) => name.trim() || []);
