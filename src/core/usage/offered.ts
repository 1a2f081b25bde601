import { type ArtifactNo, decodeText, isObject, type Json, parseJson, stringAt } from '../base/index.js';
import type { ReadChain } from '../chain/index.js';
import { countTokens } from '../formats/index.js';
import { type CallRow, requestIds, statedIn } from './rows.js';

/** A part of a recorded request that is not an entry: its system prompt, or a tool that it offers. */
export interface Offered {
  readonly kind: 'system' | 'tools';
  /** The name of the tool. */
  readonly tool?: string | undefined;
  readonly tokens: number;
}

/** The system prompt and tools of a call; empty if its request was not recorded. */
export function offeredIn(chain: ReadChain, call: CallRow): Offered[] {
  const stated = statedIn(chain, requestIds(chain, [call]).recordedId(call));
  const textAt = (no: ArtifactNo | null): string => (no === null ? '' : decodeText(chain.artifacts.read(no)));
  const system = textAt(stated.system);
  const tools = parseJson(textAt(stated.tools));
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

/** The group of the tools of an MCP server, by the names that agents give to tools of servers. */
export function serverGroup(tool: string | undefined): string | undefined {
  const server = /^mcp__(.+?)__/.exec(tool ?? '')?.[1];
  return server && `MCP server ${server}`;
}
