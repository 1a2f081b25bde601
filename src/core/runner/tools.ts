import { z } from 'zod';
import { parseJson, StemmaError } from '../base/index.js';
import type { WriteChain } from '../chain/index.js';
import { agentNamed, askExpert, delegate, forkJoin, launchPrincipal, registerAgent } from '../handover/index.js';
import { cardTools } from './card-tools.js';
import { readingTools } from './reading-tools.js';
import { spaceTools } from './space-tools.js';
import { ticketTools } from './ticket-tools.js';
import { type Actor, type Handed, quoted, type Tool, text, tool } from './tool.js';

/** The agent that hands out turns. Actors of spaces and tickets become agents when they first delegate. */
function agentOf(chain: WriteChain, { who }: Actor): string {
  if (!agentNamed(chain, who)) registerAgent(chain, { agentId: who });
  return who;
}

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
const handoverTools: readonly Tool[] = [
  tool('delegate_async', 'Hands an instruction to another agent and continues without its answer.', task, (chain, actor, input) => {
    const { status, agentId, agentTurnId, turns } = delegate(chain, { sourceAgentId: agentOf(chain, actor), ...taskOf(input) });
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
    (chain, actor, input) => {
      const { turns, batchId } = forkJoin(chain, {
        sourceAgentId: agentOf(chain, actor),
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
      include_history: z.boolean().optional().describe('Pass on the output of this turn so far.'),
    }),
    (chain, actor, input) => {
      const { turns } = askExpert(chain, {
        sourceAgentId: agentOf(chain, actor),
        profileName: input.profile_name,
        question: input.question,
        includeHistory: input.include_history,
      });
      return { handed: { turns, wait: waitsFor('ask_expert') } };
    },
  ),
  tool(
    'launch_principal',
    'Starts a new agent with a profile and an instruction, and continues without its answer.',
    z.strictObject({ profile_name: text('The profile.'), instruction: text('What to do.') }),
    (chain, actor, input) => {
      const { status, agentId, agentTurnId, turns } = launchPrincipal(chain, {
        sourceAgentId: agentOf(chain, actor),
        profileName: input.profile_name,
        instruction: input.instruction,
      });
      return { result: { status, agent_id: agentId, agent_turn_id: agentTurnId }, handed: { turns, wait: false } };
    },
  ),
];

/** All tools of Stemma. */
const tools: readonly Tool[] = [...handoverTools, ...readingTools, ...spaceTools, ...cardTools, ...ticketTools];

const byName = new Map(tools.map((each) => [each.name, each]));

/** Whether the answers of the turns that a tool handed out become its result. */
export const waitsFor = (name: string): boolean => name === 'fork_join' || name === 'ask_expert';

/** The tool that ends a turn with a result. The turn itself answers it. */
export const finalTool = 'submit_result';

interface Definition {
  readonly name: string;
  readonly description: string;
  readonly parameters: Record<string, unknown>;
}

const plain = <Value>(value: Value): Value => parseJson(JSON.stringify(value)) as Value;

const defined: readonly Definition[] = [
  ...tools.map(({ name, description, schema }) => ({
    name,
    description,
    parameters: plain({ ...z.toJSONSchema(schema, { io: 'input' }), $schema: undefined }),
  })),
];

const final: Definition = {
  name: finalTool,
  description: 'Ends the turn with its result: a text, an object, or { fields: [{ name, value }] } where fields are required.',
  parameters: { type: 'object', properties: { result: {} }, required: ['result'] },
};

const isOffered =
  (only: readonly string[] | undefined) =>
  ({ name }: Definition) =>
    only === undefined || only.includes(name);

/** The definitions of the tools of a card turn, in the form of chat completions. `only` restricts them. */
export const definitions = (only?: readonly string[]): Record<string, unknown>[] =>
  [...defined.filter(isOffered(only)), final].map((each) => ({ type: 'function', function: each }));

/** The definitions of the tools of a conversation, in the form of the Messages API. `only` restricts them. */
export const conversationTools = (only?: readonly string[]): Record<string, unknown>[] =>
  defined.filter(isOffered(only)).map(({ name, description, parameters }) => ({ name, description, input_schema: parameters }));

/** The answer of a tool of Stemma. A refusal is also an answer, which the model reads. */
export interface ToolAnswer {
  readonly status: 'success' | 'failed';
  readonly result: unknown;
  readonly handed?: Handed | undefined;
  readonly pauses?: boolean | undefined;
}

/**
 * Answers a call with a tool of Stemma. Undefined if Stemma has no tool of this name. Bugs are thrown.
 * @param only the tools that the performer is offered; a call of another one is refused
 * @param keep stores the answer in the same transaction as the effect of the tool. A tool that refuses has no effect.
 */
export function answered(
  chain: WriteChain,
  only: readonly string[] | undefined,
  actor: Actor,
  name: string,
  given: unknown,
  keep: (answer: ToolAnswer) => void = () => {},
): ToolAnswer | undefined {
  const found = byName.get(name);
  if (!found) return undefined;
  const isOffered = only === undefined || only.includes(name);
  const kept = (work: () => ToolAnswer): ToolAnswer =>
    chain.artifacts.transaction(() => {
      const answer = work();
      keep(answer);
      return answer;
    });
  const refused = (result: string): ToolAnswer => kept(() => ({ status: 'failed', result }));
  if (!isOffered) return refused(`UNAUTHORIZED: you are not offered the tool ${name}.`);
  const input = found.schema.safeParse(given);
  if (!input.success) return refused(`The arguments of ${name} are not valid: ${z.prettifyError(input.error)}`);
  try {
    return kept(() => {
      const { result = null, ...more } = found.run(chain, actor, input.data);
      return { status: 'success', result: found.quotes ? quoted(result) : result, ...more };
    });
  } catch (error) {
    if (!(error instanceof StemmaError)) throw error;
    return refused(`${error.code}: ${error.message}`);
  }
}
