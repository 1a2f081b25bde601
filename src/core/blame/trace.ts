import type { ReadChain } from '../chain/index.js';
import type { BlameSpan } from '../contract/index.js';
import { type BlameInput, blameFile, findFile } from './blame.js';

/** The version of Agent Trace that is written. */
export const traceVersion = '0.1.0';

/** An Agent Trace record of a file: the ranges that a conversation wrote. Lines of unknown origin are left out. */
export function traceFile(chain: ReadChain, input: BlameInput): Record<string, unknown> {
  const { name } = findFile(input);
  return {
    version: traceVersion,
    id: chain.newId(),
    timestamp: new Date(chain.clock()).toISOString(),
    files: [{ path: name, conversations: conversationsOf(chain, input) }],
  };
}

/** The conversations that wrote lines of a file, as Agent Trace names them. */
export function conversationsOf(chain: ReadChain, { path, repository }: BlameInput): object[] {
  const bySession = Map.groupBy(
    blameFile(chain, { path, repository }).filter(({ basis }) => basis === 'replayed'),
    ({ sessionId }) => sessionId ?? '',
  );
  return [...bySession].map(([session, spans]) => ({
    url: `stemma:session/${encodeURIComponent(session)}`,
    contributor: contributorOf(spans),
    ranges: spans.map(rangeOf),
  }));
}

const contributorOf = ([first]: readonly BlameSpan[]) => ({ type: 'ai', ...(first?.model !== undefined && { model_id: first.model }) });

const rangeOf = ({ start, end, turnId, model }: BlameSpan) => ({
  start_line: start,
  end_line: end,
  contributor: { type: 'ai', ...(model !== undefined && { model_id: model }) },
  ...(turnId !== null && { metadata: { turn: turnId } }),
});
