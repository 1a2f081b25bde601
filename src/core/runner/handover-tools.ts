import type { WriteChain } from '../chain/index.js';
import { longestSeconds, z } from '../contract/index.js';
import { agentNamed, askExpert, delegate, forkJoin, launchPrincipal, registerAgent } from '../handover/index.js';
import { type Actor, type Done, type Tool, text, tool } from './tool.js';

/** Whether the answers of the turns that a tool handed out become its result. */
export const waitsFor = (name: string): boolean => name === 'fork_join' || name === 'ask_expert';

/** The agent that hands out turns. Actors of spaces and tickets become agents when they first delegate. */
function ensureAgent(chain: WriteChain, { who }: Actor): string {
  if (!agentNamed(chain, who)) registerAgent(chain, { agentId: who });
  return who;
}

const task = z.strictObject({
  target_strategy: z.enum(['new', 'reuse', 'clone']).describe('Create an agent of a profile, use an existing agent, or clone one.'),
  target_ref: text('The profile for `new`, or the id of the agent.'),
  instruction: text('What to do.'),
});
const taskOf = (each: z.output<typeof task>) => ({ targetStrategy: each.target_strategy, targetRef: each.target_ref, instruction: each.instruction });
/** The answer about a turn that an agent handed out and does not wait for. */
const started = ({ status, agentId, agentTurnId, turns }: ReturnType<typeof delegate>): Done => ({
  result: { status, agent_id: agentId, agent_turn_id: agentTurnId },
  handed: { turns, wait: false },
});

export const handoverTools: readonly Tool[] = [
  tool('delegate_async', 'Hands an instruction to another agent and continues without its answer.', task, (chain, actor, input) =>
    started(delegate(chain, { sourceAgentId: ensureAgent(chain, actor), ...taskOf(input) })),
  ),
  tool(
    'fork_join',
    'Hands tasks to several agents at once and returns all their results.',
    z.strictObject({
      tasks: z.array(task).min(1).max(8).describe('The tasks.'),
      fail_fast: z.boolean().optional().describe('Cancel the other tasks when one fails.'),
      deadline_seconds: z.number().positive().max(longestSeconds).optional().describe('The number of seconds after which open tasks time out.'),
    }),
    (chain, actor, { tasks, fail_fast: failFast, deadline_seconds: deadlineSeconds }) => {
      const { turns, batchId } = forkJoin(chain, { sourceAgentId: ensureAgent(chain, actor), tasks: tasks.map(taskOf), failFast, deadlineSeconds });
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
    (chain, actor, { profile_name: profileName, question, include_history: includeHistory }) => {
      const { turns } = askExpert(chain, { sourceAgentId: ensureAgent(chain, actor), profileName, question, includeHistory });
      return { handed: { turns, wait: waitsFor('ask_expert') } };
    },
  ),
  tool(
    'launch_principal',
    'Starts a new agent with a profile and an instruction, and continues without its answer.',
    z.strictObject({ profile_name: text('The profile.'), instruction: text('What to do.') }),
    (chain, actor, { profile_name: profileName, instruction }) =>
      started(launchPrincipal(chain, { sourceAgentId: ensureAgent(chain, actor), profileName, instruction })),
  ),
];
