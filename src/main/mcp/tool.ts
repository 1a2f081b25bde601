import { badRequest, looksLikePerson } from '../../core/base/index.js';
import { contract, describeInvalid, type Entity, type ProcedureName, z } from '../../core/contract/index.js';
import type { ContractClient } from '../launch/index.js';

/** The groups of tools that `stemma mcp --tools` selects. */
export const groups = ['history', 'tickets', 'spaces', 'runs', 'cards', 'handover', 'compose'] as const;
export type ToolGroup = (typeof groups)[number];

/** The agent, entity or person that the server works for, and its run in a space, from the command line. */
export interface McpCaller {
  readonly as?: string | undefined;
  readonly run?: string | undefined;
  /** The only tools that the caller may use, as its profile permits them. The default is all. */
  readonly permitted?: readonly string[] | undefined;
}

type Given = Record<string, unknown>;

/** A tool for an agent: its name, description and input schema, and the procedure behind it. */
export interface AgentTool {
  readonly name: string;
  readonly group: ToolGroup;
  readonly description: string;
  readonly readOnly: boolean;
  readonly inputSchema: { readonly type: 'object'; readonly [word: string]: unknown };
  /** The input field with the name of the caller. If the command line names a caller, the server fills this field and refuses any other name. */
  readonly who: string | undefined;
  /** True if the tool starts a model or writes in the name of others, which only a person or a policy may do. */
  readonly starts: boolean;
  /** The names in which a call would write. */
  names(client: ContractClient, input: Given): Promise<readonly string[]>;
  /** True for a name of an earlier version, which still works and is not listed. */
  readonly isOld: boolean;
  /** Calls the procedure. The contract checks the input. */
  call(client: ContractClient, input: Given, caller: McpCaller): Promise<unknown>;
}

interface More {
  readonly who?: string;
  readonly starts?: boolean;
  readonly isOld?: boolean;
  /** The names in which a call would write. The default is the name at `who`. */
  readonly names?: AgentTool['names'];
  /** Refuses calls on things that belong to others. */
  readonly check?: (client: ContractClient, input: Given, caller: McpCaller) => Promise<unknown>;
}

type Unnamed = Omit<AgentTool, 'name' | 'group'>;

/** The tools of a group, by their names. */
export const toolsOf = (group: ToolGroup, tools: Readonly<Record<string, Unnamed>>): readonly AgentTool[] =>
  Object.entries(tools).map(([name, tool]) => ({ ...tool, name, group }));

/** Defines a tool with its own input, which is checked, and its own call. */
export const custom: typeof define = (effect, description, input, call, more) =>
  define(effect, description, input, (client, given) => call(client, checked(input, given)), more);

/** @throws BAD_REQUEST for an input that does not fit */
function checked<Input>(input: z.ZodType<unknown, Input>, given: Input): Input {
  const { error } = input.safeParse(given);
  if (!error) return given;
  const fieldsAt = (path: readonly string[]) => (path.length === 0 && 'shape' in input ? Object.keys(input.shape as object) : []);
  const { field, message } = describeInvalid(error.issues, given, fieldsAt);
  throw badRequest(field, message);
}

function define<Input>(
  effect: 'reads' | 'writes',
  description: string,
  input: z.ZodType<unknown, Input>,
  call: (client: ContractClient, input: Input) => Promise<unknown>,
  { who, starts = false, isOld = false, check, names = (_client, given) => Promise.resolve(namesAt(given, who?.split('.'))) }: More = {},
): Unnamed {
  return {
    description,
    readOnly: effect === 'reads',
    inputSchema: { ...z.toJSONSchema(input, { io: 'input' }), type: 'object' },
    who,
    starts,
    isOld,
    names,
    async call(client, given, caller) {
      await check?.(client, given, caller);
      return call(client, given as Input);
    },
  };
}

/** The names at a path of an input, in which `[]` stands for each item of a list. */
function namesAt(value: unknown, path: readonly string[] | undefined): readonly string[] {
  if (path === undefined) return [];
  const [first, ...rest] = path;
  if (first === undefined) return typeof value === 'string' ? [value] : [];
  if (first === '[]') return Array.isArray(value) ? value.flatMap((item: unknown) => namesAt(item, rest)) : [];
  return namesAt((value as Given | null | undefined)?.[first], rest);
}

function findMember<Member>(parts: object, procedure: ProcedureName): Member {
  const [namespace = '', name = ''] = procedure.split('.');
  return (parts as Record<string, Record<string, Member>>)[namespace]?.[name] as Member;
}

/** Defines a tool that calls a procedure. `limit` applies to calls without a limit of their own. */
const calling =
  (effect: 'reads' | 'writes') =>
  (procedure: ProcedureName, description: string, { limit, ...more }: More & { readonly limit?: number } = {}): Unnamed => {
    const input = readInputSchema(findMember<{ '~orpc': { inputSchema: z.ZodType<unknown, Given> } }>(contract, procedure));
    const call = (client: ContractClient, given: Given) =>
      findMember<(input: Given) => Promise<unknown>>(client, procedure)({ ...(limit !== undefined && { limit }), ...given });
    return define(effect, description, input, call, more);
  };
export const reads = calling('reads');
export const writes = calling('writes');

/** The input schema of a procedure. */
export const readInputSchema = <Schema>(procedure: { '~orpc': { inputSchema?: Schema } }): NonNullable<Schema> =>
  procedure['~orpc'].inputSchema as NonNullable<Schema>;

/** A call in the name of another agent, or on something that belongs to another agent. */
export class NotYours extends Error {}

/** @throws NotYours unless the run is the caller's */
export async function ownRun(client: ContractClient, { runId }: Given, { as, run }: McpCaller): Promise<void> {
  if (run !== undefined && runId !== run) throw new NotYours(`You work in the run ${run}, not in ${String(runId)}.`);
  if (as === undefined) return;
  const { entityId } = await client.run.get({ runId: String(runId) });
  if (entityId !== as) throw new NotYours(`The run ${String(runId)} belongs to ${entityId}, not to ${as}.`);
}

/** @throws NotYours unless the turn is the caller's */
export async function ownTurn(client: ContractClient, { agentTurnId }: Given, { as }: McpCaller): Promise<void> {
  const { turns } = await client.handover.map({});
  const turn = turns.find((each) => each.agentTurnId === agentTurnId);
  if (turn?.received && turn.received.allowedAt === null)
    throw new NotYours(`The turn ${String(agentTurnId)} came from ${senderOf(turn.received)}: it waits until a person of this machine allows it.`);
  if (as !== undefined && turn && turn.agentId !== as)
    throw new NotYours(`The turn ${String(agentTurnId)} belongs to ${turn.agentId}, not to ${as}.`);
}

/** The people who are members of spaces. */
export const peopleOf = async (client: ContractClient): Promise<Entity[]> => (await client.space.entities({})).filter(({ type }) => type === 'human');

/** Refuses to write over profiles, over cards of people, and for a named caller over cards of others. @throws NotYours */
export async function ownCards(client: ContractClient, given: unknown, { as }: McpCaller): Promise<void> {
  const cards = (Array.isArray(given) ? given : []).filter((card): card is Given => typeof card === 'object' && card !== null);
  const cardIds = cards.flatMap(({ cardId }) => (typeof cardId === 'string' ? [cardId] : []));
  if (cardIds.length === 0) return;
  const { cards: known } = await client.card.batch({ cardIds });
  const people = known.length === 0 ? [] : await peopleOf(client);
  for (const { cardId, type, authorId } of known)
    if (type === 'sys.profile' || (as === undefined ? looksLikePerson(authorId, people) : authorId !== as))
      throw new NotYours(`The card ${cardId} is ${type === 'sys.profile' ? 'a profile' : `by ${authorId}`}: write yours as a new card.`);
}

/** @throws NotYours for a start that is for somebody else, or that another machine sent and nobody here allowed */
export async function ownEvent(client: ContractClient, { event }: Given, { as }: McpCaller): Promise<void> {
  const [found] = await client.ticket.events({ after: Number(event) - 1, limit: 1 });
  if (!found || found.event !== event) return;
  if (found.received && found.received.allowedAt === null)
    throw new NotYours(`The start ${String(event)} came from ${senderOf(found.received)}: it waits until a person of this machine allows it.`);
  if (as !== undefined && found.who !== null && found.who !== as)
    throw new NotYours(`The start ${String(event)} is for ${found.who}, not for ${as}.`);
}

const senderOf = ({ name, hub }: { readonly name: string | null; readonly hub: string }): string => `${name ?? 'somebody'} through ${hub}`;

/** Registers the caller as an agent at its first handover, so that it can hand out turns. */
export async function ownAgent(client: ContractClient, _input: Given, { as }: McpCaller): Promise<void> {
  if (as === undefined) return;
  const { agents } = await client.handover.map({});
  if (!agents.some(({ agentId }) => agentId === as)) await client.agent.register({ agentId: as });
}
