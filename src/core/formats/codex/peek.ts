import type { Peek } from '../format.js';
import { clip } from '../headline.js';
import { sessionOf } from './facts.js';
import { folderOf, isPrompt, type Line, lineOf, promptText, scanLines } from './record.js';

const linesIn = (bytes: Uint8Array): Line[] => scanLines(bytes).pieces.flatMap(({ record }) => (record ? [lineOf(record)] : []));

/** Looks at the first and the last bytes of a rollout (they may overlap); a line cut in two is passed over. */
export function peek(head: Uint8Array, tail: Uint8Array): Peek {
  const lines = linesIn(head);
  const first = lines.find(({ sort }) => sort === 'meta');
  const session = first ? sessionOf(first.payload, first.at) : {};
  const named = [...lines, ...linesIn(tail)].findLast(({ sort, payload }) => sort === 'event' && payload.type === 'thread_name_updated');
  const title = typeof named?.payload.thread_name === 'string' ? clip(named.payload.thread_name) : undefined;
  const prompt = lines.find(({ sort, payload }) => sort === 'item' && isPrompt(payload));
  const firstPrompt = prompt && clip(promptText(prompt.payload));
  const cwd = lines.map(folderOf).find((folder) => folder !== undefined);
  const startedAt = session.startedAt ?? lines.find(({ at }) => at !== undefined)?.at;
  return {
    ...(session.id !== undefined && { sessionId: session.id }),
    ...(cwd !== undefined && { cwd }),
    ...(title !== undefined && { title }),
    ...(firstPrompt !== undefined && { firstPrompt }),
    ...(startedAt !== undefined && { startedAt }),
  };
}
