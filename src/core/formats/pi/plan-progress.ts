import { isObject, type JsonObject, stringAt } from '../../base/index.js';
import type { FileBytes, Granularity, Progress } from '../format.js';
import { lineProgress, type Meaning } from '../shared/progress.js';
import { dialect, isChained, readMessage, readRole, roleInTurn } from './schema.js';

/** The progress of a session that pi is still writing. Each answer records why it stopped. After an error the agent may try again. */
export const progress = (fresh: FileBytes, granularity: Granularity): Progress =>
  lineProgress(fresh, dialect, granularity, ({ record }) => (record && isChained(record) ? meaningOf(record) : { is: 'quiet' }));

const stops: ReadonlySet<unknown> = new Set(['stop', 'length', 'aborted']);

function meaningOf(record: JsonObject): Meaning {
  const part = roleInTurn(record);
  switch (part) {
    case 'compaction':
      return { is: 'last' };
    case 'prompt':
      return { is: 'prompt' };
    case 'answer': {
      const { stopReason, content } = readMessage(record);
      if (stops.has(stopReason)) return { is: 'last' };
      return { is: 'answer', calls: callsIn(content), mayEndTurn: stopReason !== 'toolUse' };
    }
    case 'result': {
      const call = stringAt(record.message, 'toolCallId');
      return { is: 'result', calls: call === undefined ? [] : [call] };
    }
    case 'lead':
      return { is: 'part' };
    default:
      return { is: readRole(record) === undefined ? 'quiet' : 'part' };
  }
}

const callsIn = (content: unknown): readonly string[] =>
  Array.isArray(content) ? content.flatMap((block) => (isObject(block) && block.type === 'toolCall' ? (stringAt(block, 'id') ?? []) : [])) : [];
