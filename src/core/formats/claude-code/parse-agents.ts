import { type JsonObject, stringAt } from '../../base/index.js';
import { bufferOf, scanLines } from './parse-lines.js';
import { agentCallsOf, resultIdsOf } from './schema.js';

/** Finds the call in a session's file that started the subagent, for subagent files without a metadata file. */
export function agentIn(session: Uint8Array, agentId: string): { readonly toolUseId: string; readonly agentType?: string } | undefined {
  const answer = linesWith(session, JSON.stringify(agentId)).find(
    (record) => record.type === 'user' && stringAt(record.toolUseResult, 'agentId') === agentId,
  );
  const toolUseId = answer && resultIdsOf(answer)[0];
  if (!answer || toolUseId === undefined) return undefined;
  const calls = linesWith(session, JSON.stringify(toolUseId)).flatMap(agentCallsOf);
  const agentType = stringAt(answer.toolUseResult, 'agentType') ?? calls.find(({ id }) => id === toolUseId)?.type;
  return { toolUseId, ...(agentType === undefined ? {} : { agentType }) };
}

/** The records of the lines that contain the text. Other lines are not read. */
function linesWith(file: Uint8Array, text: string): JsonObject[] {
  const buffer = bufferOf(file);
  const found: JsonObject[] = [];
  for (let at = buffer.indexOf(text); at >= 0; ) {
    const start = at === 0 ? 0 : buffer.lastIndexOf(0x0a, at) + 1;
    const newline = buffer.indexOf(0x0a, at);
    const end = newline < 0 ? buffer.length : newline + 1;
    found.push(...scanLines(buffer.subarray(start, end)).pieces.flatMap(({ record }) => (record ? [record] : [])));
    at = end >= buffer.length ? -1 : buffer.indexOf(text, end);
  }
  return found;
}
