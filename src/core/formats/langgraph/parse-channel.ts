import { isObject, type Json, type JsonObject, stringAt } from '../../base/index.js';
import { readMessage } from './schema.js';

/** A channel after writes, by LangGraph's rule: known ids replace, removals remove, others append. For checkpoints that say no more. */
export function afterWrites(before: readonly Json[], writes: readonly Json[]): readonly Json[] {
  let messages = [...before];
  for (const write of writes) {
    const overwritten = overwriteIn(write);
    if (overwritten !== undefined) {
      messages = [...toList(overwritten)];
      continue;
    }
    for (const message of toList(write)) {
      const removed = removedBy(message);
      if (removed === all) messages = [];
      else if (removed !== undefined) messages = messages.filter((one) => idOf(one) !== removed);
      else put(messages, message);
    }
  }
  return messages;
}

const all = '__remove_all__';

function put(messages: Json[], message: Json): void {
  const id = idOf(message);
  const at = id === undefined ? -1 : messages.findIndex((one) => idOf(one) === id);
  if (at < 0) messages.push(message);
  else messages[at] = message;
}

const toList = (value: Json): readonly Json[] => (Array.isArray(value) ? value : value === null ? [] : [value]);
const idOf = (message: Json): string | undefined => stringAt(readMessage(message)?.fields, 'id');

const isOfClass = (value: Json, name: string): value is JsonObject =>
  isObject(value) && value.type === 'constructor' && Array.isArray(value.id) && value.id.at(-1) === name;

function removedBy(message: Json): string | undefined {
  if (isOfClass(message, 'RemoveMessage')) return stringAt(message.kwargs, 'id');
  return isObject(message) && message.type === 'remove' ? stringAt(message, 'id') : undefined;
}

function overwriteIn(write: Json): Json | undefined {
  if (!isOfClass(write, 'Overwrite')) return undefined;
  if (isObject(write.kwargs)) return write.kwargs.value;
  return Array.isArray(write.args) ? write.args[0] : undefined;
}
