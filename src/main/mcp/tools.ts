import type { ContractClient } from '../launch/index.js';
import { agentTools } from './agent-tools.js';
import { historyTools } from './history-tools.js';
import { ticketTools } from './ticket-tools.js';
import { type AgentTool, type Caller, groups, NotYours } from './tool.js';

const tools: readonly AgentTool[] = [...historyTools, ...ticketTools, ...agentTools];

/** The names that select tools: groups and single tools. */
export const toolNames: readonly string[] = [...groups, ...tools.map(({ name }) => name)];

/** The tools of these groups and names, as a caller sees them. The default is all tools. */
export function toolsFor(names: readonly string[] | undefined, caller: Caller): readonly AgentTool[] {
  return tools
    .filter(({ name, group }) => names === undefined || names.includes(group) || names.includes(name))
    .filter(({ name }) => caller.permitted === undefined || caller.permitted.includes(name))
    .filter(({ starts }) => !(starts && caller.as !== undefined))
    .map((tool) => ownTool(caller.as === undefined && tool.who !== undefined ? notAsPerson(tool, tool.who.split('.')) : tool, caller));
}

/** A tool without the fields that the server's command line sets. */
function ownTool(tool: AgentTool, caller: Caller): AgentTool {
  const own: Record<string, string> = {
    ...(caller.as !== undefined && tool.who !== undefined && { [tool.who]: caller.as }),
    ...(caller.run !== undefined && hasField(tool, 'runId') && { runId: caller.run }),
  };
  if (Object.keys(own).length === 0) return tool;
  const call = async (client: ContractClient, given: Record<string, unknown>): Promise<unknown> => {
    let input = given;
    for (const [path, value] of Object.entries(own)) input = withOwn(input, path.split('.'), value);
    return tool.call(client, input, caller);
  };
  return { ...tool, inputSchema: withoutFields(tool.inputSchema, Object.keys(own)) as AgentTool['inputSchema'], call };
}

/** A tool of a server that names no caller. Agents choose their own names, but none of them is the person of a machine. */
const notAsPerson = (tool: AgentTool, path: readonly string[]): AgentTool => ({
  ...tool,
  call: async (client, given, caller) => {
    const name = path.reduce<unknown>((value, field) => fieldsOf(value)[field], given);
    if (typeof name === 'string' && /^user(?:@|$)/i.test(name.trim()))
      throw new NotYours(`An agent cannot act as the person ${name}. Give your own name in ${path.join('.')}, or start "stemma mcp" with --as.`);
    return tool.call(client, given, caller);
  },
});

type Fields = Readonly<Record<string, unknown>>;
const fieldsOf = (value: unknown): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {});
const hasField = ({ inputSchema }: AgentTool, field: string): boolean => field in fieldsOf(inputSchema.properties);

/** @throws NotYours if the call names somebody else */
function withOwn(input: Record<string, unknown>, [first = '', ...rest]: readonly string[], value: string): Record<string, unknown> {
  if (rest.length > 0) return { ...input, [first]: withOwn({ ...fieldsOf(input[first]) }, rest, value) };
  if (input[first] !== undefined && input[first] !== value)
    throw new NotYours(`You are ${value}: ${first} cannot be ${JSON.stringify(input[first])}.`);
  return { ...input, [first]: value };
}

/** Removes fields, named by their paths, from a JSON Schema. */
function withoutFields(schema: Fields, paths: readonly string[]): Fields {
  const kept: Record<string, unknown> = { ...fieldsOf(schema.properties) };
  for (const path of paths) {
    const [first = '', ...rest] = path.split('.');
    if (rest.length > 0 && kept[first] !== undefined) kept[first] = withoutFields(fieldsOf(kept[first]), [rest.join('.')]);
    else delete kept[first];
  }
  const required = Array.isArray(schema.required) ? schema.required.filter((field) => String(field) in kept) : undefined;
  return { ...schema, properties: kept, ...(required && { required }) };
}
