import { type ArtifactNo, decodeText, isObject, type Json, parseJson, stringAt } from '../base/index.js';
import type { ReadChain } from '../chain/index.js';
import { countTokens } from '../formats/index.js';
import { type CallRow, requestIds } from './rows.js';

/** A part of a recorded request that is not an entry: its system prompt, or a tool that it offers. */
export interface Offered {
  readonly kind: 'system' | 'tools';
  /** The name of the tool. */
  readonly tool?: string | undefined;
  readonly tokens: number;
}

/** The system prompt and tools of a call; empty if its request was not recorded. */
export function offeredIn(chain: ReadChain, call: CallRow): Offered[] {
  const requestId = requestIds(chain, [call]).recordedId(call);
  if (requestId === undefined) return [];
  const row = chain.db.one<{ system: ArtifactNo | null; tools: ArtifactNo | null }>(
    'SELECT s.system, s.tools FROM request r JOIN requestShape s ON s.no = r.shape WHERE r.project = ? AND r.requestId = ?',
    chain.project,
    requestId,
  );
  const textAt = (no: ArtifactNo | null | undefined): string => (no == null ? '' : decodeText(chain.artifacts.read(no)));
  const system = textAt(row?.system);
  const tools = parseJson(textAt(row?.tools));
  return [
    ...(system === '' ? [] : [{ kind: 'system', tokens: countTokens(system) } as const]),
    ...(Array.isArray(tools) ? tools : []).map(
      (tool): Offered => ({ kind: 'tools', tool: toolName(tool), tokens: countTokens(JSON.stringify(tool)) }),
    ),
  ];
}

/** The name of a tool, which some providers put into its `function`. */
const toolName = (tool: Json): string | undefined =>
  stringAt(tool, 'name') ?? (isObject(tool) ? (stringAt(tool.function, 'name') ?? stringAt(tool, 'type')) : undefined);

/** The MCP server of a tool, by the names that agents give to tools of servers. */
export const serverOf = (tool: string | undefined): string | undefined => /^mcp__(.+?)__/.exec(tool ?? '')?.[1];
