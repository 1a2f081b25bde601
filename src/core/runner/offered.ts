import type { Card } from '../contract/index.js';
import { dataOf, finalTool } from '../handover/index.js';
import { cardTools } from './card-tools.js';
import { handoverTools } from './handover-tools.js';
import { readingTools } from './reading-tools.js';
import { spaceTools } from './space-tools.js';
import { ticketTools } from './ticket-tools.js';
import type { Tool } from './tool.js';

export type OfferedFor = 'turn' | 'run' | 'ticket';

const toolNames = (tools: readonly Tool[]): string[] => tools.map(({ name }) => name);
const own = toolNames([...handoverTools, ...cardTools, ...spaceTools]);
const project = toolNames(readingTools);
const tickets = toolNames(ticketTools);
/** All tools, in the order in which they are offered. */
const all = [...toolNames(handoverTools), ...project, ...toolNames(spaceTools), ...toolNames(cardTools), ...tickets, finalTool];

/** The tools of work without permissions of a profile: those for the own turn, boxes, spaces, delegation, and the ticket at hand. */
const byDefault: Readonly<Record<OfferedFor, readonly string[]>> = {
  turn: [...own, 'read_cards', finalTool],
  run: [...own, 'read_cards'],
  ticket: [...own, 'read_cards', ...tickets],
};

/** The groups of tools that a policy can name, as Stemma's MCP server does. */
const groups: Readonly<Record<string, readonly string[]>> = {
  history: toolNames(readingTools),
  tickets,
  spaces: toolNames(spaceTools),
  runs: toolNames(spaceTools),
  cards: [...toolNames(cardTools), 'read_cards'],
  handover: toolNames(handoverTools),
};

/**
 * The names of the tools that a model is offered (U2). A profile permits more, or less, with `allowed_internal_tools`, else with `allowed_tools`.
 * @param limit the tools of the job by name or by group, which no profile extends
 */
export function offeredTo(profile: Card | undefined, work: OfferedFor, limit?: readonly string[]): readonly string[] {
  const permitted = permittedTo(profile, work) ?? byDefault[work];
  const within = limit?.flatMap((name) => [name, ...(Object.hasOwn(groups, name) ? (groups[name] ?? []) : [])]);
  return all.filter((name) => permitted.includes(name) && (within === undefined || within.includes(name) || name === finalTool));
}

/** The tools that a profile names; undefined if it names none. */
export function permittedTo(profile: Card | undefined, work: OfferedFor): readonly string[] | undefined {
  const { allowed_internal_tools: internal, allowed_tools: allowed } = dataOf(profile);
  if (Array.isArray(internal)) return internal.filter((name) => work === 'turn' || name !== finalTool) as string[];
  return Array.isArray(allowed) ? ([...allowed, ...(work === 'turn' ? [finalTool] : [])] as string[]) : undefined;
}

/** Whether a profile permits to read cards and boxes of others: it names a tool that reads the project. */
export const mayReadProject = (profile: Card | undefined): boolean => {
  const permitted = permittedTo(profile, 'turn') ?? [];
  return project.some((name) => permitted.includes(name));
};
