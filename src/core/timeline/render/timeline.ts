import type { BlockInput, History, Rendered, RoleMessage, TimelineBlock, TimelineInput } from '../../contract/index.js';
import { countTokens } from '../../formats/index.js';
import {
  activeRunsBlock,
  activeSpaceBlock,
  activeSpaceOf,
  agentContextBlock,
  crossSpaceLine,
  goalsBlock,
  identityBlock,
  instructionsBlock,
  memoriesBlock,
  plansBlock,
  spacesBlock,
  triggerBlock,
} from './blocks.js';
import { roleMessages } from './conversion.js';
import { defaultBudget, newestMessages, renderBriefHistory, renderHistory } from './history.js';

type Renderers = { readonly [One in BlockInput as One['block']]: (input: One['input']) => string };

const renderers: Renderers = {
  identity: (input) => identityBlock(input, input.now),
  trigger: triggerBlock,
  activeSpace: (input) => activeSpaceBlock(input),
  history: (input) => ('style' in input ? renderBriefHistory(input) : renderHistory(input).text),
  crossSpace: ({ at, origin, text }) => crossSpaceLine(at, origin, text),
  spaces: spacesBlock,
  goals: ({ goals }) => goalsBlock(goals),
  memories: ({ memories }) => memoriesBlock(memories),
  plans: ({ plans, now }) => plansBlock(plans, now),
  activeRuns: ({ runs }) => activeRunsBlock(runs),
  agentContext: (input) => agentContextBlock({ ...input, ...input.plans }),
  instructions: ({ variant }) => instructionsBlock(variant),
};

/** Renders one block from its own input. */
export const renderBlock = ({ block, input }: BlockInput): string => (renderers[block] as (given: typeof input) => string)(input);

/** The context of an agent when its run starts or resumes: up to seven blocks, in a fixed order and with fixed templates. */
export function renderTimeline(input: TimelineInput): Rendered {
  const blocks = timelineBlocks(input);
  return { system: systemOf(blocks), blocks };
}

/** The same context as messages with roles. The history is in these messages, and therefore not in the system message. */
export function timelineMessages(input: TimelineInput): RoleMessage[] {
  const histories = historiesOf(input);
  const shown = histories.flatMap((each) => newestMessages(each.messages, each.limit ?? defaultBudget, each.triggerMessageId));
  return roleMessages({
    system: systemOf(timelineBlocks(input).filter((block) => block.name !== 'history')),
    selfEntityId: input.identity.entityId,
    messages: shown,
    summary: histories.find(({ summary }) => summary)?.summary,
    resume: histories.find(({ resume }) => resume)?.resume,
  });
}

const systemOf = (blocks: readonly TimelineBlock[]): string => blocks.map((block) => block.text).join('\n\n');

function timelineBlocks(input: TimelineInput): TimelineBlock[] {
  const { identity, trigger, now } = input;
  const active = { trigger, ...input.activeSpace };
  const histories = historiesOf(input).map((each) => renderHistory(each));
  const { space } = activeSpaceOf(active);
  const spaces = { selfEntityId: identity.entityId, activeSpaceId: space?.id, spaces: input.spaces };
  const agentContext = { goals: input.goals ?? [], memories: input.memories ?? [], plans: input.plans ?? [], runs: input.activeRuns ?? [], now };

  const blocks: readonly Omit<TimelineBlock, 'tokens'>[] = [
    { name: 'identity', text: identityBlock(identity, now) },
    { name: 'trigger', text: triggerBlock(trigger) },
    { name: 'activeSpace', text: activeSpaceBlock(active, input.tools) },
    ...histories.map((history) => ({ name: 'history' as const, ...history })),
    { name: 'spaces', text: spacesBlock(spaces) },
    { name: 'agentContext', text: agentContextBlock(agentContext) },
    { name: 'instructions', text: instructionsBlock(trigger.type, { space: movedTo(input, space), tools: input.tools }) },
  ];
  return blocks.flatMap((block) => (block.text !== '' ? [{ ...block, tokens: countTokens(block.text) }] : []));
}

/** The space that the agent is in, if it is not the one that the fixed instructions mean. */
const movedTo = ({ trigger }: TimelineInput, space: ReturnType<typeof activeSpaceOf>['space']): typeof space =>
  space !== null && trigger.type === 'space_message' && trigger.space.id === space.id ? null : space;

/** All histories of a run: of its trigger's space or of the active one, and of further spaces. */
function historiesOf(input: TimelineInput): History[] {
  const first = historyOf(input);
  return [...(first ? [first] : []), ...(input.histories ?? []).map((each) => ({ ...each, limit: input.budget ?? each.limit }))];
}

/** The history of the active space. Runs of plans and services have none until they enter a space. */
function historyOf({ identity, trigger, activeSpace, history, budget }: TimelineInput): History | undefined {
  const { space } = activeSpaceOf({ trigger, ...activeSpace });
  if (!history || (space === null && !history.resume && !history.space)) return undefined;
  return {
    ...history,
    space: history.space ?? space ?? { id: 'unknown', name: null },
    selfEntityId: history.selfEntityId ?? identity.entityId,
    triggerMessageId: history.triggerMessageId === undefined && trigger.type === 'space_message' ? trigger.messageId : history.triggerMessageId,
    limit: budget ?? history.limit,
  };
}
