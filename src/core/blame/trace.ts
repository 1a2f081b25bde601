import type { ReadChain } from '../chain/index.js';
import type { BlameSpan } from '../contract/index.js';
import { blameFile, fileOf } from './blame.js';

/** An Agent Trace record (version 0.1.0) of a file: the ranges that a conversation wrote. Lines of unknown origin are left out. */
export function traceFile(chain: ReadChain, input: { readonly path: string; readonly repository?: string | undefined }): Record<string, unknown> {
  const { name } = fileOf(input);
  const bySession = Map.groupBy(
    blameFile(chain, input).filter(({ basis }) => basis === 'replayed'),
    ({ sessionId }) => sessionId ?? '',
  );
  return {
    version: '0.1.0',
    id: chain.newId(),
    timestamp: new Date(chain.clock()).toISOString(),
    files: [
      {
        path: name,
        conversations: [...bySession].map(([session, spans]) => ({
          url: `stemma:session/${encodeURIComponent(session)}`,
          contributor: contributorOf(spans),
          ranges: spans.map(rangeOf),
        })),
      },
    ],
  };
}

const contributorOf = ([first]: readonly BlameSpan[]) => ({ type: 'ai', ...(first?.model !== undefined && { model_id: first.model }) });

const rangeOf = ({ start, end, turnId, model }: BlameSpan) => ({
  start_line: start,
  end_line: end,
  contributor: { type: 'ai', ...(model !== undefined && { model_id: model }) },
  ...(turnId !== null && { metadata: { turn: turnId } }),
});
