import type { ContextId } from '../../base/index.js';
import { timestampOf } from '../../base/index.js';
import { type Chain, commitOf, entries } from '../../chain/index.js';
import { renderTimeline } from '../render/timeline.js';
import { transcriptTimeline } from '../render/transcript.js';
import type { RunTimeline } from './input.js';

/** How many messages of a transcript are shown by default. */
const defaultTranscriptBudget = 200;

/** Any commit's context as a timeline. Writes nothing. */
export function contextTimeline(chain: Chain, query: { readonly id: ContextId; readonly budget?: number | undefined }): RunTimeline {
  const commit = commitOf(chain, query.id);
  const { title } = chain.db.one<{ title: string | null }>(
    'SELECT title FROM source WHERE project = ? AND sessionId = ? LIMIT 1',
    chain.project,
    commit.sessionId,
  ) ?? { title: null };
  const input = transcriptTimeline(entries(chain, { id: commit.id }).entries, {
    space: { id: commit.sessionId ?? commit.id, name: title },
    agent: { id: commit.template, name: commit.template },
    at: timestampOf(commit.createdAt),
    budget: query.budget ?? defaultTranscriptBudget,
  });
  return { input, rendered: renderTimeline(input) };
}
