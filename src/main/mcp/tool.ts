import { z } from 'zod';
import type { ContractClient } from '../launch/index.js';

/** The groups of tools that `stemma mcp --tools` selects. */
export const groups = ['history', 'tickets', 'spaces', 'runs', 'cards', 'handover', 'compose'] as const;
export type Group = (typeof groups)[number];

/** For whom the server works, from its command line: an agent, entity or person, and its run in a space. */
export interface Caller {
  readonly as?: string | undefined;
  readonly run?: string | undefined;
}

type Given = Record<string, unknown>;

/** A tool for an agent: its name, description and input schema, and the procedure behind it. */
export interface AgentTool {
  readonly name: string;
  readonly group: Group;
  readonly description: string;
  readonly readOnly: boolean;
  readonly inputSchema: { readonly type: 'object'; readonly [word: string]: unknown };
  /** The field that says who calls. A named caller sets it, and no call can name somebody else. */
  readonly who: string | undefined;
  /** Whether it needs a model, which only a person or a policy starts. */
  readonly starts: boolean;
  /** Calls the procedure. The contract checks the input. */
  call(client: ContractClient, input: Given, caller: Caller): Promise<unknown>;
}

interface More {
  readonly who?: string;
  readonly starts?: boolean;
  /** Refuses what is not the caller's own. */
  readonly check?: (client: ContractClient, input: Given, caller: Caller) => Promise<void>;
}

/** Defines the tools of a group. */
export const toolsOf =
  (group: Group) =>
  <Input>(
    name: string,
    effect: 'reads' | 'writes',
    description: string,
    input: z.ZodType<unknown, Input>,
    call: (client: ContractClient, input: Input) => Promise<unknown>,
    { who, starts = false, check }: More = {},
  ): AgentTool => ({
    name,
    group,
    description,
    readOnly: effect === 'reads',
    inputSchema: { ...z.toJSONSchema(input, { io: 'input' }), type: 'object' },
    who,
    starts,
    async call(client, given, caller) {
      await check?.(client, given, caller);
      return call(client, given as Input);
    },
  });

/** The input schema of a procedure. */
export const inputOf = <Schema>(procedure: { '~orpc': { inputSchema?: Schema } }): NonNullable<Schema> =>
  procedure['~orpc'].inputSchema as NonNullable<Schema>;

/** A call in somebody else's name, or on what belongs to somebody else. */
export class NotYours extends Error {}

/** @throws NotYours unless the run is the caller's */
export async function ownRun(client: ContractClient, { runId }: Given, { as, run }: Caller): Promise<void> {
  if (run !== undefined && runId !== run) throw new NotYours(`You work in the run ${run}, not in ${String(runId)}.`);
  if (as === undefined) return;
  const { entityId } = await client.run.get({ runId: String(runId) });
  if (entityId !== as) throw new NotYours(`The run ${String(runId)} belongs to ${entityId}, not to ${as}.`);
}

/** @throws NotYours unless the turn is the caller's */
export async function ownTurn(client: ContractClient, { agentTurnId }: Given, { as }: Caller): Promise<void> {
  if (as === undefined) return;
  const { turns } = await client.handover.map({});
  const turn = turns.find((each) => each.agentTurnId === agentTurnId);
  if (turn && turn.agentId !== as) throw new NotYours(`The turn ${String(agentTurnId)} belongs to ${turn.agentId}, not to ${as}.`);
}

/** Makes the caller an agent that can hand out turns, when it does so for the first time. */
export async function ownAgent(client: ContractClient, _input: Given, { as }: Caller): Promise<void> {
  if (as === undefined) return;
  const { agents } = await client.handover.map({});
  if (!agents.some(({ agentId }) => agentId === as)) await client.agent.register({ agentId: as });
}
