import { isObject, type Json } from '../base/index.js';
import type { ContextRow, ReadChain } from '../chain/index.js';
import type { SessionOptions } from '../formats/index.js';
import { getRequest, listRequests } from '../requests/index.js';

/** Known facts about the calls of a context: their usage, and the system prompt and tools of the last call. */
export function callsKnown(chain: ReadChain, tip: ContextRow): Pick<SessionOptions, 'system' | 'tools' | 'calls'> {
  const rows = listRequests(chain, { id: tip.id, stop: 'root' });
  const calls = new Map(
    rows.flatMap(({ replyKey, tokens }) =>
      replyKey === null || Object.values(tokens).every((count) => count === null) ? [] : [[replyKey as string, tokens] as const],
    ),
  );
  const last = rows.at(-1);
  const body = last && getRequest(chain, last.requestId).body;
  const system = joinSystemTexts(body?.system as Json | undefined);
  const tools = Array.isArray(body?.tools) ? (body.tools as readonly Json[]).flatMap(functionOf) : [];
  return { calls, ...(system !== undefined && { system }), ...(tools.length > 0 && { tools }) };
}

function joinSystemTexts(system: Json | undefined): string | undefined {
  if (typeof system === 'string') return system;
  if (!Array.isArray(system)) return undefined;
  const texts = system.flatMap((block) => (isObject(block) && typeof block.text === 'string' ? [block.text] : []));
  return texts.length > 0 ? texts.join('\n') : undefined;
}

/** A tool in the shape of chat completions, which exchange formats use. */
function functionOf(tool: Json): Json[] {
  if (!isObject(tool)) return [];
  if (isObject(tool.function)) return [tool];
  if (typeof tool.name !== 'string') return [];
  const { name, description } = tool;
  const parameters = tool.input_schema ?? tool.parameters ?? { type: 'object', properties: {} };
  return [{ type: 'function', function: { name, ...(description !== undefined && { description }), parameters } }];
}
