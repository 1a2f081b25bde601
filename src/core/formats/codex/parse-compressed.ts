import type { DocumentReader } from '../format.js';
import { expand, isCompressed } from './parse-expand.js';
import { peek, recognize } from './parse-peek.js';

const headLength = 64 * 1024;

/** A rollout that the agent has compressed holds one session, with unchanged lines. */
export const compressed: DocumentReader = {
  keeps: true,
  endings: ['.jsonl.zst'],
  recognize: isCompressed,
  members(document) {
    const lines = expand(document);
    const head = lines.subarray(0, headLength);
    if (recognize(head, '') === 0) return undefined;
    const { sessionId, cwd, title, firstPrompt } = peek(head, lines.subarray(-headLength));
    const name = title ?? firstPrompt;
    return [
      { id: sessionId ?? 'session', lines: () => ({ bytes: lines }), ...(name !== undefined && { title: name }), ...(cwd !== undefined && { cwd }) },
    ];
  },
};
