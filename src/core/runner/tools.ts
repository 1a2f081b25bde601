import { z } from 'zod';
import { type ContextId, parseJson, StemmaError } from '../base/index.js';
import { batchCards, boxCards, getCard } from '../cards/index.js';
import { type Chain, entries } from '../chain/index.js';
import type { AgentTurn } from '../contract/index.js';
import { askExpert, delegate, forkJoin, launchPrincipal } from '../handover/index.js';
import { query } from '../search/index.js';

/** The turns that a tool dispatched, which the job carries out. `wait`: the tool's result is what they answered. */
export interface Handed {
  readonly turns: readonly AgentTurn[];
  readonly wait: boolean;
  readonly batchId?: string | undefined;
}

interface Tool {
  readonly name: string;
  readonly description: string;
  readonly schema: z.ZodType;
  run(chain: Chain, agentId: string, input: unknown): { readonly result?: unknown; readonly handed?: Handed };
}

const tool = <Input>(
  name: string,
  description: string,
  schema: z.ZodType<Input>,
  run: (chain: Chain, agentId: string, input: Input) => ReturnType<Tool['run']>,
): Tool => ({
  name,
  description,
  schema,
  run: (chain, agentId, input) => run(chain, agentId, input as Input),
});

const text = (what: string) => z.string().min(1).describe(what);
const task = z.strictObject({
  target_strategy: z.enum(['new', 'reuse', 'clone']).describe('Create an agent of a profile, use an existing agent, or clone one.'),
  target_ref: text('The profile for `new`, or the id of the agent.'),
  instruction: text('What to do.'),
});
const taskOf = ({ target_strategy: targetStrategy, target_ref: targetRef, instruction }: z.output<typeof task>) => ({
  targetStrategy,
  targetRef,
  instruction,
});
/** The most cards, entries or hits that one result holds. */
const most = 50;

const tools: readonly Tool[] = [
  tool('delegate_async', 'Hands an instruction to another agent and goes on without its answer.', task, (chain, sourceAgentId, input) => {
    const { status, agentId, agentTurnId, turns } = delegate(chain, { sourceAgentId, ...taskOf(input) });
    return { result: { status, agent_id: agentId, agent_turn_id: agentTurnId }, handed: { turns, wait: false } };
  }),
  tool(
    'fork_join',
    'Hands tasks to several agents at once and returns all their results.',
    z.strictObject({
      tasks: z.array(task).min(1).max(8).describe('The tasks.'),
      fail_fast: z.boolean().optional().describe('Cancel the other tasks when one fails.'),
      deadline_seconds: z.number().positive().optional().describe('The number of seconds after which open tasks time out.'),
    }),
    (chain, sourceAgentId, input) => {
      const { turns, batchId } = forkJoin(chain, {
        sourceAgentId,
        tasks: input.tasks.map(taskOf),
        failFast: input.fail_fast,
        deadlineSeconds: input.deadline_seconds,
      });
      return { handed: { turns, wait: waitsFor('fork_join'), batchId } };
    },
  ),
  tool(
    'ask_expert',
    'Asks a new agent of a profile a question and returns its answer.',
    z.strictObject({
      profile_name: text('The profile.'),
      question: text('The question.'),
      include_history: z.boolean().optional().describe('Pass on what this turn has produced so far.'),
    }),
    (chain, sourceAgentId, input) => {
      const { turns } = askExpert(chain, {
        sourceAgentId,
        profileName: input.profile_name,
        question: input.question,
        includeHistory: input.include_history,
      });
      return { handed: { turns, wait: waitsFor('ask_expert') } };
    },
  ),
  tool(
    'launch_principal',
    'Starts a new agent with a profile and an instruction, and goes on without its answer.',
    z.strictObject({ profile_name: text('The profile.'), instruction: text('What to do.') }),
    (chain, sourceAgentId, input) => {
      const { status, agentId, agentTurnId, turns } = launchPrincipal(chain, {
        sourceAgentId,
        profileName: input.profile_name,
        instruction: input.instruction,
      });
      return { result: { status, agent_id: agentId, agent_turn_id: agentTurnId }, handed: { turns, wait: false } };
    },
  ),
  tool(
    'read_cards',
    'Returns cards by their ids, or the cards of a box.',
    z.strictObject({
      card_ids: z.array(z.string()).max(most).optional().describe('The ids of the cards.'),
      box_id: z.string().optional().describe('The id of the box.'),
    }),
    (chain, _agentId, input) => {
      if (input.box_id !== undefined) return { result: boxCards(chain, input.box_id) };
      const [only, ...others] = input.card_ids ?? [];
      return { result: only !== undefined && others.length === 0 ? getCard(chain, only) : batchCards(chain, input.card_ids ?? []) };
    },
  ),
  tool(
    'search',
    'Finds entries in all histories of the project that contain all the words.',
    z.strictObject({ text: text('The words to find.'), limit: z.number().int().min(1).max(most).optional().describe('The most hits.') }),
    (chain, _agentId, input) => ({ result: query(chain, { text: input.text, limit: input.limit ?? 10 }) }),
  ),
  tool(
    'read_context',
    'Returns entries of a context: messages, tool calls and results.',
    z.strictObject({
      id: z.string().describe('The commit, such as one that `search` found.'),
      offset: z.number().int().min(0).optional().describe('The first entry.'),
      limit: z.number().int().min(1).max(most).optional().describe('The most entries.'),
    }),
    (chain, _agentId, input) => ({ result: entries(chain, { id: input.id as ContextId, offset: input.offset, limit: input.limit ?? most }) }),
  ),
];

const byName = new Map(tools.map((each) => [each.name, each]));

/** Whether the result of a tool is what the turns answered that it handed out. */
export const waitsFor = (name: string): boolean => name === 'fork_join' || name === 'ask_expert';

/** The tool that ends a turn with a result. The turn itself answers it. */
export const finalTool = 'submit_result';

/** The definitions of all tools, in the form of chat completions. */
export const definitions: readonly Record<string, unknown>[] = [
  ...tools.map(({ name, description, schema }) => ({
    type: 'function',
    function: { name, description, parameters: { ...z.toJSONSchema(schema, { io: 'input' }), $schema: undefined } },
  })),
  {
    type: 'function',
    function: {
      name: finalTool,
      description: 'Ends the turn with its result: a text, an object, or { fields: [{ name, value }] } where fields are required.',
      parameters: { type: 'object', properties: { result: {} }, required: ['result'] },
    },
  },
].map((definition) => parseJson(JSON.stringify(definition)) as Record<string, unknown>);

/** What a tool of Stemma answered. A refusal is an answer too: the model reads it. */
export interface ToolAnswer {
  readonly status: 'success' | 'failed';
  readonly result: unknown;
  readonly handed?: Handed | undefined;
}

/** Answers a call with a tool of Stemma. Undefined if Stemma has no tool of this name. Bugs are thrown. */
export function answered(chain: Chain, agentId: string, name: string, given: unknown): ToolAnswer | undefined {
  const found = byName.get(name);
  if (!found) return undefined;
  const input = found.schema.safeParse(given);
  if (!input.success) return { status: 'failed', result: `The arguments of ${name} are not valid: ${z.prettifyError(input.error)}` };
  try {
    const { result = null, handed } = found.run(chain, agentId, input.data);
    return { status: 'success', result, handed };
  } catch (error) {
    if (!(error instanceof StemmaError)) throw error;
    return { status: 'failed', result: `${error.code}: ${error.message}` };
  }
}
