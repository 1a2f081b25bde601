import { badRequest, isObject, type Json, notFound, picked, StemmaError } from '../base/index.js';
import { type BoxPlace, boxAt, boxNamed, insertBox, newCardId, type Profile, profileInBox, profileNamed, readProjectId } from '../cards/index.js';
import type { ReadChain, WriteChain } from '../chain/index.js';
import { type Card, type DispatchedOne, type InputOf, type Strategy, strategies, type Task } from '../contract/index.js';
import { type AgentRow, agentNamed, currentOutput, insertAgent, requireAgent } from './agents.js';
import { commitOutput } from './commits.js';
import { dispatchTurn } from './ending.js';
import { packWithInstruction } from './pack.js';
import { dataOf } from './request.js';
import { type AgentTurnRow, toTurn } from './turn-rows.js';

/** Maximum depth of delegation. A turn at this depth cannot delegate. */
export const deepestDelegation = 20;

/** The agent that requests a turn. Without `row`, the turn is launched from outside. */
interface CallingAgent {
  readonly agentId: string;
  readonly row: AgentRow | undefined;
}

type DelegateInput = InputOf<'handover.delegate'>;

/**
 * Dispatches a turn to a new agent of a profile, an existing agent, or a clone (H8 to H11). It packs the turn's context and
 * creates its output box. Either all of it is written, or nothing.
 * @throws BAD_REQUEST, NOT_FOUND, UNAUTHORIZED (H9), CONFLICT
 */
export function delegate(chain: WriteChain, input: DelegateInput): DispatchedOne {
  const tool = 'delegate_async';
  if (input.toolName !== undefined && input.toolName !== tool)
    throw badRequest('toolName', `tool_name mismatch: expected ${tool}, got ${input.toolName}`);
  const caller = { agentId: input.sourceAgentId, row: callerOf(chain, input.sourceAgentId) };
  return handOut(chain, caller, taskOf(input), tool);
}

/** Launches an agent of a profile with only an instruction (H12). */
export function launchPrincipal(chain: WriteChain, input: InputOf<'handover.launchPrincipal'>): DispatchedOne {
  if (!input.profileName.trim() || !input.instruction)
    throw badRequest(input.instruction ? 'profileName' : 'instruction', 'launch_principal: args.profile_name and args.instruction are required');
  const task: Task = { targetStrategy: 'new', targetRef: input.profileName, instruction: input.instruction };
  const { sourceAgentId } = input;
  const caller: CallingAgent = sourceAgentId === undefined ? nobody : { agentId: sourceAgentId, row: callerOf(chain, sourceAgentId) };
  return handOut(chain, caller, task, 'launch_principal');
}

/** The parent pointer of a turn that was launched from outside. */
const nobody: CallingAgent = { agentId: 'user', row: undefined };

/** Asks a new agent of a profile. With history, it gets the caller's current output (H12). */
export function askExpert(chain: WriteChain, input: InputOf<'handover.askExpert'>): DispatchedOne {
  if (!input.profileName.trim()) throw badRequest('profileName', 'ask_expert: args.expert_profile is required');
  if (!input.question) throw badRequest('question', 'ask_expert: args.question is required');
  const row = callerOf(chain, input.sourceAgentId);
  const history = input.includeHistory ? { contextBoxId: currentOutput(row).boxId } : {};
  const task: Task = { targetStrategy: 'new', targetRef: input.profileName, instruction: input.question, ...history };
  return handOut(chain, { agentId: input.sourceAgentId, row }, task, 'ask_expert');
}

/** Finds the calling agent. @throws NOT_FOUND */
export function callerOf(chain: ReadChain, agentId: string): AgentRow {
  const row = agentNamed(chain, agentId);
  if (!row)
    throw notFound(agentId, `caller agent_id not registered in roster: ${agentId} (project_id=${readProjectId(chain)})`, { field: 'sourceAgentId' });
  return row;
}

const required = [['targetStrategy', 'target_strategy'] as const, ['targetRef', 'target_ref'] as const, ['instruction', 'instruction'] as const];

function taskOf(input: DelegateInput): Task {
  const missing = required.find(([field]) => !input[field]);
  if (missing) throw badRequest(missing[0], `delegate_async: args.${missing[1]} is required`);
  const targetStrategy = strategies.find((each) => each === input.targetStrategy.toLowerCase());
  if (!targetStrategy)
    throw badRequest('targetStrategy', `delegate_async: target_strategy ${JSON.stringify(input.targetStrategy)} must be one of new|reuse|clone`);
  return { targetStrategy, targetRef: input.targetRef, instruction: input.instruction, contextBoxId: input.contextBoxId };
}

function handOut(chain: WriteChain, caller: CallingAgent, task: Task, tool: string): DispatchedOne {
  return chain.artifacts.transaction(() => {
    const prepared = prepare(chain, caller, task);
    if (isTooDeep(caller))
      return { status: 'rejected', errorCode: 'recursion_depth_exceeded', turns: [], ...(prepared.agent && { agentId: prepared.agent.agentId }) };
    const turn = toTurn(dispatch(chain, caller, prepared, tool));
    const place = picked(turn, 'agentId', 'agentTurnId', 'turnEpoch', 'contextBoxId', 'outputBoxId', 'profileBoxId');
    return { status: 'accepted', ...place, turns: [turn] };
  });
}

const depthBelow = (caller: CallingAgent): number => (caller.row?.depth ?? 0) + 1;
/** Whether the caller is at the maximum depth. */
export const isTooDeep = (caller: CallingAgent): boolean => depthBelow(caller) >= deepestDelegation;

/** Checks a task: its target, boxes, policy and depth. Writes nothing. */
export function prepare(chain: ReadChain, caller: CallingAgent, task: Task) {
  const { targetStrategy: strategy, targetRef } = task;
  const agent = strategy === 'new' ? undefined : targetAgent(chain, strategy, targetRef);
  const profile: UsedProfile = agent ? profileOfAgent(chain, agent) : newProfile(chain, targetRef);
  allowDelegation(caller.row?.profileBoxId == null ? undefined : profileInBox(chain, caller.row.profileBoxId), {
    name: profile.name,
    card: profileInBox(chain, profile.profileBoxId),
  });
  const inherited = [task.contextBoxId, agent && strategy === 'clone' ? currentOutput(agent).boxId : undefined];
  return { task, profile, agent, boxIds: validBoxes(chain, inherited) };
}

/**
 * Checks the delegation policy of the caller's profile (H9). `delegation_policy.target_profiles` lists allowed profiles by
 * exact name, null for any. `target_tags` needs one common tag. A profile without a policy allows everything.
 * @throws UNAUTHORIZED
 */
function allowDelegation(caller: Card | undefined, target: { readonly name: string; readonly card: Card | undefined }): void {
  const policy = dataOf(caller).delegation_policy;
  if (policy === undefined) return;
  const denied = (why: string): Error =>
    new StemmaError('UNAUTHORIZED', `the delegation policy of the caller's profile does not let it delegate to ${target.name}: ${why}`, {
      profile: target.name,
    });
  if (!isObject(policy)) throw denied('delegation_policy is not an object');
  const { target_profiles: profiles = null, target_tags: tags } = policy;
  if (profiles !== null && !listed(profiles).includes(target.name)) throw denied('the profile is not among target_profiles');
  const wanted = listed(tags);
  const own = [...listed(dataOf(target.card).tags), ...listed(target.card?.metadata.tags as Json | undefined)];
  if (wanted.length > 0 && !own.some((tag) => wanted.includes(tag))) throw denied('the profile has none of target_tags');
}

const listed = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : []);

function targetAgent(chain: ReadChain, strategy: Strategy, agentId: string): AgentRow {
  const row = agentNamed(chain, agentId);
  if (!row) throw notFound(agentId, `delegate_async: ${strategy === 'clone' ? 'clone source' : 'target'} agent not found: ${agentId}`);
  return row;
}

function newProfile(chain: ReadChain, name: string): Profile {
  const profile = profileNamed(chain, name);
  if (!profile) throw notFound(name, `delegate_async: profile not found: ${name}`);
  return profile;
}

type UsedProfile = Omit<Profile, 'card'>;

function profileOfAgent(chain: ReadChain, agent: AgentRow): UsedProfile {
  if (agent.profile === null || agent.profileBoxId === null)
    throw badRequest('targetRef', `delegate_async: profile_box_id missing for agent ${agent.agentId}`);
  const name = chain.db.value<string>('SELECT name FROM profile WHERE box = ? AND project = ?', agent.profile, chain.project);
  return { name: name ?? agent.displayName, profileBoxId: agent.profileBoxId, boxNo: agent.profile };
}

/** Box ids in order, without repeats and empty ones. @throws NOT_FOUND for an unknown box. */
export function validBoxes(chain: ReadChain, boxIds: readonly (string | null | undefined)[]): string[] {
  const each = [...new Set(boxIds.filter((boxId) => boxId !== undefined && boxId !== null && boxId !== ''))] as string[];
  for (const boxId of each) if (!boxNamed(chain, boxId)) throw notFound(boxId, `inherit_context: box not found: ${boxId}`);
  return each;
}

/** Packs the context, creates the agent if needed, and dispatches the turn. Call it inside a transaction. */
export function dispatch(
  chain: WriteChain,
  caller: CallingAgent,
  { task, profile, agent, boxIds }: ReturnType<typeof prepare>,
  tool: string,
  batch?: { no: number; taskIndex: number },
): AgentTurnRow {
  const packed = packWithInstruction(chain, {
    toolSuffix: `internal.${tool}`,
    sourceAgentId: caller.agentId,
    profileName: profile.name,
    instruction: task.instruction,
    inheritBoxIds: [...boxIds],
  });
  const output: BoxPlace = insertBox(chain, []);
  const target = agent && task.targetStrategy === 'reuse' ? agent : madeAgent(chain, caller, profile, agent);
  // H14: commit the caller's output, so that the new chain can start from it.
  const fromCommit = caller.row ? commitOutput(chain, requireAgent(chain, caller.agentId), 'tool_call') : null;
  return dispatchTurn(chain, target, {
    depth: depthBelow(caller),
    source: caller.agentId,
    parentTurn: caller.row?.turn ?? null,
    fromCommit,
    context: boxAt(chain, packed.contextBoxId).no,
    output: output.no,
    profile: profile.boxNo,
    tool,
    strategy: task.targetStrategy,
    batch: batch?.no ?? null,
    taskIndex: batch?.taskIndex ?? null,
  });
}

/** The parent of a new agent is the caller; of a clone, the cloned agent. */
const madeAgent = (chain: WriteChain, caller: CallingAgent, profile: UsedProfile, cloned: AgentRow | undefined): AgentRow =>
  insertAgent(chain, {
    agentId: `${profile.profileBoxId.toLowerCase()}_${newCardId(chain)}`,
    displayName: profile.name,
    profile: profile.boxNo,
    owner: cloned?.agentId ?? caller.agentId,
    spawnedBy: caller.agentId,
    derivedFrom: cloned?.agentId,
  });
