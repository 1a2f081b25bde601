import { type JsonObject, stringAt } from '../../base/index.js';
import type { FileBytes, Granularity, Progress } from '../format.js';
import { lineProgress, type Meaning } from '../shared/progress.js';
import { dialect, isPrompt, readLine, startsTurn } from './schema.js';

/** The progress of a rollout being written. The flat form of 2025 records no turns: there, a message without calls probably ends one. */
export function progress(fresh: FileBytes, granularity: Granularity): Progress {
  let saysTurns = false;
  return lineProgress(fresh, dialect, granularity, ({ record }) => {
    const meaning: Meaning = record ? meaningOf(record) : { is: 'quiet' };
    saysTurns ||= meaning.is === 'starts';
    return saysTurns ? { ...meaning, mayEndTurn: false } : meaning;
  });
}

export const endsTurn: ReadonlySet<unknown> = new Set(['task_complete', 'turn_complete', 'turn_aborted']);

function meaningOf(record: JsonObject): Meaning {
  const { sort, payload } = readLine(record);
  switch (sort) {
    case 'event':
      return { is: startsTurn(payload) ? 'starts' : endsTurn.has(payload.type) ? 'ends' : 'quiet' };
    case 'compacted':
      return { is: 'last' };
    case 'item':
      return itemMeaning(payload);
    default:
      return { is: 'quiet' };
  }
}

function itemMeaning(item: JsonObject): Meaning {
  const type = stringAt(item, 'type') ?? '';
  if (type === 'message') return item.role === 'assistant' ? { is: 'answer', mayEndTurn: true } : { is: isPrompt(item) ? 'prompt' : 'part' };
  const call = stringAt(item, 'call_id');
  const calls = call === undefined ? [] : [call];
  if (type.endsWith('_output')) return { is: 'result', calls };
  return { is: 'answer', calls: type.endsWith('_call') ? calls : [] };
}
