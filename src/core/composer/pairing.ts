import { refuse } from './refusals.js';

/** What the check needs of a message: the calls that it makes, or the calls that it answers. */
export interface PairedMessage {
  readonly role: string;
  readonly toolCalls?: readonly string[];
  readonly results?: readonly string[];
}

/**
 * Models take a list only where every call is answered before anything else follows (requirement B-03).
 * @throws BAD_REQUEST with `data.reason` UNPAIRED_TOOL_CALL, naming the calls.
 */
export function checkPairing(messages: readonly PairedMessage[]): void {
  let open: ReadonlySet<string> = new Set();
  for (const message of messages) {
    const results = message.results ?? [];
    const stray = results.filter((id) => !open.has(id));
    if (stray.length > 0) throw unpaired(stray, 'is answered but was not called just before');
    if (results.length === 0 && open.size > 0) throw unpaired([...open], 'has no result where the next message begins');
    open = new Set([...[...open].filter((id) => !results.includes(id)), ...(message.toolCalls ?? [])]);
  }
  if (open.size > 0) throw unpaired([...open], 'has no result at the end of the list');
}

const unpaired = (ids: readonly string[], what: string): Error => refuse('UNPAIRED_TOOL_CALL', 'messages', `tool call ${ids.join(', ')} ${what}`);
