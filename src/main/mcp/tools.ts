import { looksLikePerson } from '../../core/base/index.js';
import type { ContractClient } from '../launch/index.js';
import { agentTools } from './agent-tools.js';
import { historyTools } from './history-tools.js';
import { ticketTools } from './ticket-tools.js';
import { type AgentTool, groups, type McpCaller, NotYours, peopleOf } from './tool.js';

const tools: readonly AgentTool[] = [...historyTools, ...ticketTools, ...agentTools];

/** The names that select tools: groups and single tools. */
export const toolNames: readonly string[] = [...groups, ...tools.map(({ name }) => name)];

/** The tools of these groups and names, as a caller sees them. The default is all tools. */
export function toolsFor(names: readonly string[] | undefined, caller: McpCaller): readonly AgentTool[] {
  return tools
    .filter(({ name, group }) => names === undefined || names.includes(group) || names.includes(name))
    .filter(({ name }) => caller.permitted === undefined || caller.permitted.includes(name))
    .filter(({ starts }) => !(starts && caller.as !== undefined))
    .map((tool) => ownTool(notAsPerson(tool), caller));
}

/** A tool without the fields that the server's command line sets. */
function ownTool(tool: AgentTool, caller: McpCaller): AgentTool {
  const own: Record<string, string> = {
    ...(caller.as !== undefined && tool.who !== undefined && { [tool.who]: caller.as }),
    ...(caller.run !== undefined && hasField(tool, 'runId') && { runId: caller.run }),
  };
  if (Object.keys(own).length === 0) return tool;
  const call = async (client: ContractClient, given: Record<string, unknown>): Promise<unknown> => {
    let input = given;
    for (const [path, value] of Object.entries(own)) input = withOwn(input, path.split('.'), value) as Fields;
    return tool.call(client, input, caller);
  };
  return { ...tool, inputSchema: withoutFields(tool.inputSchema, Object.keys(own)) as AgentTool['inputSchema'], call };
}

/** A tool that refuses to write in the name of a person: who calls it is an agent, whatever name it has or gives. */
const notAsPerson = (tool: AgentTool): AgentTool => ({
  ...tool,
  call: async (client, given, caller) => {
    const names = await tool.names(client, given);
    const people = names.length === 0 ? [] : await peopleOf(client);
    const shown = tool.who === undefined ? '' : ` in ${tool.who.replace('.[]', '')}`;
    for (const name of names)
      if (looksLikePerson(name, people))
        throw new NotYours(`An agent cannot act as the person ${name}. Give your own name${shown}, or start "stemma mcp" with it as --as.`);
    return tool.call(client, given, caller);
  },
});

type Fields = Readonly<Record<string, unknown>>;
const toFields = (value: unknown): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {});
const hasField = ({ inputSchema }: AgentTool, field: string): boolean => field in toFields(inputSchema.properties);

/** @throws NotYours if the call names somebody else */
function withOwn(given: unknown, [first = '', ...rest]: readonly string[], value: string): unknown {
  if (first === '[]') return Array.isArray(given) ? given.map((item: unknown) => withOwn(item, rest, value)) : given;
  const input = toFields(given);
  if (rest.length > 0) return { ...input, [first]: withOwn(input[first], rest, value) };
  if (input[first] !== undefined && input[first] !== value)
    throw new NotYours(`You are ${value}: ${first} cannot be ${JSON.stringify(input[first])}.`);
  return { ...input, [first]: value };
}

/** Removes fields, named by their paths, from a JSON Schema. */
function withoutFields(schema: Fields, paths: readonly string[]): Fields {
  if (paths.some((path) => path.startsWith('[].')))
    return {
      ...schema,
      items: withoutFields(
        toFields(schema.items),
        paths.map((path) => path.slice(3)),
      ),
    };
  const kept: Record<string, unknown> = { ...toFields(schema.properties) };
  for (const path of paths) {
    const [first = '', ...rest] = path.split('.');
    if (rest.length > 0 && kept[first] !== undefined) kept[first] = withoutFields(toFields(kept[first]), [rest.join('.')]);
    else delete kept[first];
  }
  const required = Array.isArray(schema.required) ? schema.required.filter((field) => String(field) in kept) : undefined;
  return { ...schema, properties: kept, ...(required && { required }) };
}
