import { decodeText, defined, isObject, type Json, type JsonObject, parseJson, stringAt } from '../../base/index.js';
import type { DocumentReader } from '../format.js';
import { isDeep, writeLines } from '../shared/jsonl.js';
import { hasMembers } from '../shared/top-members.js';
import { secondLine } from './parse-second.js';
import { isMessage } from './schema.js';

/** The output of `opencode export`: one whole session. */
export const document: DocumentReader = {
  keeps: true,
  recognize: (head) => hasMembers(decodeText(head), { info: /^\{[\s\S]*?"id"\s*:\s*"ses/ }),
  members(bytes) {
    const value = parseJson(decodeText(bytes));
    const id = isObject(value) ? stringAt(value.info, 'id') : undefined;
    if (!isObject(value) || isDeep(value) || !id?.startsWith('ses') || !Array.isArray(value.messages)) return undefined;
    const info = value.info as JsonObject;
    const title = stringAt(info, 'title');
    const cwd = stringAt(info, 'directory') ?? stringAt(info.location, 'directory');
    const parent = stringAt(info, 'parentID');
    const messages = value.messages.map((message): JsonObject => lineIn(message, id) ?? { row: message });
    const session = { ...info, ...(cwd !== undefined && { directory: cwd }), ...(parent !== undefined && { parent_id: parent }) };
    return [{ id, lines: () => writeLines([...messages, { session }]), ...defined({ title, cwd }) }];
  },
};

/** A message as a line. Those of version 2 are records without parts. */
function lineIn(message: Json, sessionId: string): JsonObject | undefined {
  if (!isObject(message)) return undefined;
  if (isMessage(message)) return message;
  const [type, id] = [stringAt(message, 'type'), stringAt(message, 'id')];
  const created = isObject(message.time) ? Number(message.time.created) : Number.NaN;
  return type === undefined || id === undefined ? undefined : secondLine(type, id, sessionId, message, created);
}
