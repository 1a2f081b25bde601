import type { Card } from '../contract/index.js';
import { type OfferedFor, offeredTo, permittedTo } from './offered.js';

/** The tools of Stemma's MCP server that do what a tool of its own models does. Those that are missing have the same name there. */
const served: Readonly<Record<string, readonly string[]>> = {
  delegate_async: ['handover_delegate'],
  fork_join: ['handover_fork_join', 'handover_batch'],
  ask_expert: ['handover_ask_expert', 'handover_batch'],
  launch_principal: ['handover_delegate'],
  read_context: ['entries', 'history'],
  read_cards: ['card_get', 'box_cards'],
  send_message: ['send_message', 'run_send', 'run_timeline'],
  read_messages: ['read_messages', 'run_read'],
  enter_space: ['enter_space', 'run_enter_space'],
  write_cards: ['card_add'],
  create_box: ['box_create'],
  append_to_box: ['box_append'],
  ticket_get: ['ticket_get', 'ticket_thread', 'ticket_start_from'],
  ticket_list: ['ticket_list', 'ticket_overview', 'ticket_mine', 'ticket_events'],
  ticket_transition: ['ticket_transition', 'ticket_acknowledge'],
  // The last message of an agent is its result. Until then, it reads and writes its own turn.
  submit_result: ['agent_input', 'agent_write'],
};

/** Tools in the words of the MCP server. Names of its own, and of its groups, stay. */
export const servedNames = (names: readonly string[]): readonly string[] => [...new Set(names.flatMap((name) => served[name] ?? [name]))];

/** The tools of Stemma's MCP server that a command-line agent is offered (U2): those that a model with its profile would be offered. */
export function servedTo(profile: Card | undefined, work: OfferedFor): readonly string[] {
  const named = permittedTo(profile, work);
  // Without a permission, a model reads only its own cards. The server does not know whose cards they are.
  const permitted = named ?? offeredTo(undefined, work).filter((name) => name !== 'read_cards');
  return servedNames(permitted.filter((name) => typeof name === 'string'));
}
