import { isObject, type Timestamp } from '../../base/index.js';
import type { ActiveRun, ActiveSpace, Goal, Identity, MemberSpace, Memory, MessageOrigin, Person, Plan, Trigger } from '../../contract/index.js';
import { quoted, quoteId, quoteName, unquoted } from './quote.js';
import { remaining, secondsOf } from './times.js';

interface NamedItem {
  readonly id: string;
  readonly name: string | null;
}

/** A quoted name and the id. Without a name, the id is also the name. */
const named = ({ id, name }: NamedItem): string => `${quoted(name ?? id)} (id: ${quoteId(id)})`;

/** The agent's name, id and current time. */
export const identityBlock = ({ name, entityId }: Identity, now: Timestamp): string =>
  ['IDENTITY:', `  name: ${quoted(name ?? 'Unknown')}`, `  entityId: ${quoted(entityId)}`, `  currentTime: ${quoted(secondsOf(now))}`].join('\n');

/** Why the run started: a message, a plan or a service. */
export const triggerBlock = (trigger: Trigger): string =>
  ['TRIGGER:', `  type: ${trigger.type}`, ...triggerFields(trigger).map((field) => `  ${field}`)].join('\n');

function triggerFields(trigger: Trigger): readonly string[] {
  switch (trigger.type) {
    case 'space_message':
      return [
        `space: ${named(trigger.space)}`,
        `sender: ${quoteName(trigger.sender.name)} (${trigger.sender.type}, id: ${quoteId(trigger.sender.id)})`,
        `message: ${quoted(trigger.message)}`,
        `messageId: ${quoteId(trigger.messageId)}`,
        `timestamp: ${quoted(secondsOf(trigger.timestamp))}`,
        `senderExpectsReply: ${trigger.senderExpectsReply}`,
        `chainDepth: ${trigger.chainDepth}`,
      ];
    case 'plan':
      return [
        `plan: ${named(trigger.plan)}`,
        `instruction: ${quoted(trigger.instruction)}`,
        `scheduledAt: ${quoted(secondsOf(trigger.scheduledAt))}`,
      ];
    case 'service':
      return [`service: ${quoted(trigger.service)}`, `payload: ${spacedJson(trigger.payload ?? null)}`];
  }
}

/** One-line JSON with spaces inside braces and after colons and commas. */
function spacedJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(spacedJson).join(', ')}]`;
  if (!isObject(value)) return JSON.stringify(value) ?? 'null';
  const members = Object.entries(value).map(([key, member]) => `${JSON.stringify(key)}: ${spacedJson(member)}`);
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
}

/** The active space of the run: the given one, or else the space of the message that started the run. */
export function activeSpaceOf({ space, trigger, autoSetFromTrigger }: ActiveSpace): {
  readonly space: NamedItem | null;
  readonly fromTrigger: boolean;
} {
  const triggered = trigger?.type === 'space_message' ? trigger.space : null;
  if (space === undefined) return { space: triggered, fromTrigger: triggered !== null };
  return { space, fromTrigger: space !== null && (autoSetFromTrigger ?? triggered?.id === space.id) };
}

/** The line that names the active space. */
export function activeSpaceBlock(input: ActiveSpace, tools?: readonly string[]): string {
  const { space, fromTrigger } = activeSpaceOf(input);
  if (space === null) return `ACTIVE SPACE: none${offers(tools, 'enter_space') ? ' (call enter_space to enter a space first)' : ''}`;
  return `ACTIVE SPACE: ${named(space)}${fromTrigger ? '  [auto-set from trigger]' : ''}`;
}

export interface Spaces {
  readonly selfEntityId: string;
  readonly activeSpaceId?: string | null | undefined;
  readonly spaces: readonly MemberSpace[];
}

/** The spaces of the agent, each with its members. */
export function spacesBlock({ selfEntityId, activeSpaceId, spaces }: Spaces): string {
  const member = (person: Person): string => (person.id === selfEntityId ? 'You' : `${quoteName(person.name)} (${person.type})`);
  const line = (space: MemberSpace): string =>
    `  - ${named(space)}${space.id === activeSpaceId ? ' [ACTIVE]' : ''} — ${space.members.map(member).join(', ')}`.trimEnd();
  return ['YOUR SPACES:', ...(spaces.length === 0 ? ['  (none)'] : spaces.map(line))].join('\n');
}

/** The goals by priority, the highest first; goals of equal priority as given. Empty without goals. */
export function goalsBlock(goals: readonly Goal[]): string {
  const sorted = [...goals].sort((a, b) => (b.priority ?? 0) - (a.priority ?? 0));
  return listed('GOALS', sorted.map(goalLine));
}

function goalLine({ description, priority, longTerm }: Goal): string {
  const tags = [...(longTerm ? ['long-term'] : []), ...(priority ? [`priority: ${priority}`] : [])];
  // A description that ends like a tag could be mistaken for one.
  const text = unquoted(description).replace(/\((?=(?:long-term|priority: )[^()]*\)$)/, '\\(');
  return tags.length === 0 ? text : `${unquoted(description)} (${tags.join(', ')})`;
}

/** The memories, newest first if their times are known. Empty without memories. */
export function memoriesBlock(memories: readonly Memory[]): string {
  const sorted = [...memories].sort((a, b) => (b.updatedAt ?? '').localeCompare(a.updatedAt ?? ''));
  return listed('MEMORIES', sorted.map(memoryLine));
}

function memoryLine({ topic, content }: Memory): string {
  const text = unquoted(content);
  if (topic === null || topic === undefined) return text.startsWith('[') ? `\\${text}` : text;
  return `[${unquoted(topic).replaceAll(']', '\\]')}] ${text}`;
}

/** The plans in the given order, which is the order of creation. Empty without plans. */
export const plansBlock = (plans: readonly Plan[], now: Timestamp): string =>
  listed(
    'PLANS',
    plans.map((plan) => planLine(plan, now)),
  );

function planLine({ name, cron, nextRunAt, scheduledAt, runAfter }: Plan, now: Timestamp): string {
  const note = runAfter === null || runAfter === undefined ? '' : `  [created via runAfter: ${quoted(runAfter)}]`;
  if (cron) {
    const next = nextRunAt ? [`next: ${secondsOf(nextRunAt)}`, remaining(now, nextRunAt)] : [];
    return `${quoted(name)} (${['recurring', `cron: ${cronOf(cron)}`, ...next].join(', ')})${note}`;
  }
  const at = scheduledAt ?? nextRunAt;
  return `${quoted(name)} (${['one-time', ...(at ? [`scheduledAt: ${secondsOf(at)}`, remaining(now, at)] : [])].join(', ')})${note}`;
}

const cronOf = (cron: string): string => (/^[\w*/,\-?# ]+$/.test(cron) ? cron : quoted(cron));

/** The runs of the agent that have not ended. Empty without runs. */
export const activeRunsBlock = (runs: readonly ActiveRun[]): string => listed('ACTIVE RUNS', runs.map(runLine));

function runLine({ id, isCurrent, triggeredBy, status, space, waitingFor }: ActiveRun): string {
  const place = space === null || space === undefined ? '' : ` in ${quoted(space)}`;
  const wait = waitingFor === null || waitingFor === undefined ? '' : ` (waiting for ${quoteName(waitingFor)})`;
  if (isCurrent) return `Run ${quoteId(id)} (this run) — triggered by ${quoteName(triggeredBy ?? null)}${place}${wait}`;
  return `Run ${quoteId(id)} — ${quoteName(status ?? 'running')}${place}${wait}`;
}

const listed = (heading: string, lines: readonly string[]): string =>
  lines.length === 0 ? '' : [`${heading}:`, ...lines.map((line) => `  - ${line}`)].join('\n');

export interface AgentContext {
  readonly goals: readonly Goal[];
  readonly memories: readonly Memory[];
  readonly plans: readonly Plan[];
  readonly runs: readonly ActiveRun[];
  readonly now: Timestamp;
}

/** Goals, memories, plans and runs, separated by empty lines. Empty parts are left out. */
export const agentContextBlock = ({ goals, memories, plans, runs, now }: AgentContext): string =>
  [goalsBlock(goals), memoriesBlock(memories), plansBlock(plans, now), activeRunsBlock(runs)].filter((text) => text !== '').join('\n\n');

/** Why the agent wrote a message in a space that did not start its run. */
export function originText(origin: MessageOrigin): string {
  if (origin.type === 'plan') return `[sent because plan ${quoted(origin.planName)} triggered]`;
  if (origin.type === 'service') return `[sent because service ${quoted(origin.service)} triggered]`;
  return `[sent because ${quoteName(origin.senderName)} asked ${quoted(origin.message)} in ${quoted(origin.spaceName)}]`;
}

/** A message of the agent into another space, with its reason. */
export const crossSpaceLine = (at: Timestamp, origin: MessageOrigin, text: string | null): string =>
  `[${secondsOf(at)}] You: ${originText(origin)}\n  ${quoted(text)}`;

/** The end of the second instruction. Only runs of messages start with an active space. */
const spaceInstruction: Readonly<Record<Trigger['type'], string>> = {
  space_message: 'The trigger space is already active — call enter_space only if you need to switch to a different space.',
  plan: 'No space is active yet — call enter_space to enter a space first.',
  service: 'No space is active yet — call enter_space to enter a space first.',
};

const offers = (tools: readonly string[] | undefined, name: string): boolean => tools === undefined || tools.includes(name);

interface Now {
  /** The space that the agent is in, unless it is the trigger's. */
  readonly space?: NamedItem | null;
  /** The tools that the agent is offered. The instructions name no other. */
  readonly tools?: readonly string[] | undefined;
}

function whereNow(variant: Trigger['type'], { space, tools }: Now): string {
  const active = space ? `The space ${quoted(space.name ?? space.id)} is active` : undefined;
  if (!offers(tools, 'enter_space')) return active ? ` ${active}.` : variant === 'space_message' ? ' The trigger space is already active.' : '';
  return ` ${active ? `${active} — call enter_space only if you need to switch to a different space.` : spaceInstruction[variant]}`;
}

/** The fixed instructions for a kind of trigger. */
export function instructionsBlock(variant: Trigger['type'], now: Now = {}): string {
  const sends = offers(now.tools, 'send_message');
  return [
    'INSTRUCTIONS:',
    '  - Your text output is internal reasoning — never shown to anyone. Keep it brief.',
    ...(sends ? [`  - Use send_message to communicate.${whereNow(variant, now)}`] : []),
    ...(offers(now.tools, 'read_messages') ? ['  - Use read_messages to load conversation history from any space you belong to.'] : []),
    '  - If you have nothing to contribute, end this run without sending a message.',
    ...(sends
      ? [
          '  - Set wait=true on send_message to pause until a reply arrives.',
          '  - Provide messageId on send_message to reply to a specific message and resume any waiting run.',
        ]
      : []),
  ].join('\n');
}
