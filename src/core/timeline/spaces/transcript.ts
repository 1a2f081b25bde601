import type { ContextId } from '../../base/index.js';
import { timestampOf } from '../../base/index.js';
import { commitOf, entries, type ReadChain } from '../../chain/index.js';
import type { InputOf, TimelineInput, TimelineMessage, TimelineRows } from '../../contract/index.js';
import { windowOf } from '../render/history.js';
import { renderTimeline } from '../render/timeline.js';
import { transcriptTimeline } from '../render/transcript.js';
import type { RunTimeline } from './input.js';

/** The default number of shown messages of a transcript. */
const defaultTranscriptBudget = 200;
/** The most messages in a page. */
const pageSize = 200;

type Query = InputOf<'timeline.transcript'>;

/** Any commit's context as a timeline. Writes nothing. */
export function contextTimeline(chain: ReadChain, query: Query): RunTimeline & { readonly total: number } {
  const whole = inputOf(chain, query.id);
  const input = { ...whole, budget: query.budget ?? defaultTranscriptBudget };
  return { input: query.window ? inWindow(input) : input, rendered: renderTimeline(input), total: whole.history?.messages.length ?? 0 };
}

type Pages = InputOf<'timeline.rows'>;

/** The messages of a context as a timeline, in pages. */
export function contextMessages(chain: ReadChain, { id, offset = 0, limit = pageSize, longest = Number.MAX_SAFE_INTEGER }: Pages): TimelineRows {
  const messages = inputOf(chain, id).history?.messages ?? [];
  return {
    total: messages.length,
    rows: messages.slice(offset, offset + limit).map((message, place) => ({
      ...message,
      text: message.text?.slice(0, longest) ?? null,
      length: message.text?.length ?? 0,
      silence: silenceBefore(message, messages[offset + place - 1]),
    })),
  };
}

const silenceBefore = ({ at }: TimelineMessage, before: TimelineMessage | undefined): number =>
  before ? Math.max(0, Date.parse(at) - Date.parse(before.at)) : 0;

/** The latest transcript of each project, because its pages are read one after another. */
const latest = new WeakMap<ReadChain, { readonly id: ContextId; readonly input: TimelineInput }>();

function inputOf(chain: ReadChain, given: ContextId): TimelineInput {
  const commit = commitOf(chain, given);
  const known = latest.get(chain);
  if (known?.id === commit.id) return known.input;
  const { title } = chain.db.one<{ title: string | null }>(
    'SELECT title FROM source WHERE project = ? AND sessionId = ? LIMIT 1',
    chain.project,
    commit.sessionId,
  ) ?? { title: null };
  const input = transcriptTimeline(entries(chain, { id: commit.id }).entries, {
    space: { id: commit.sessionId ?? commit.id, name: title },
    agent: { id: commit.template, name: commit.template },
    at: timestampOf(commit.createdAt),
  });
  latest.set(chain, { id: commit.id, input });
  return input;
}

/** Keeps only the messages of the window. The message of the read mark may be outside, so the input also gets the mark's position. */
function inWindow(input: TimelineInput): TimelineInput {
  const { history } = input;
  if (!history) return input;
  const seen = history.messages.find(({ id }) => id === history.lastProcessedMessageId)?.seq;
  const messages = [...windowOf(history.messages, input.budget ?? defaultTranscriptBudget, history.triggerMessageId)];
  return { ...input, history: { ...history, messages, ...(seen !== undefined && { lastProcessedSeq: seen }) } };
}
