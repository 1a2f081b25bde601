import { refuse } from './refusals.js';

/** A message with the ids of its calls and of the calls that it answers. */
interface PairedMessage {
  readonly role: string;
  readonly toolCalls?: readonly string[];
  readonly results?: readonly string[];
}

/** Checks that the results of all calls follow directly: models accept no other list (B-03). @throws BAD_REQUEST: UNPAIRED_TOOL_CALL */
export function checkPairing(messages: readonly PairedMessage[]): void {
  let open: ReadonlySet<string> = new Set();
  for (const message of messages) {
    const results = message.results ?? [];
    const stray = results.filter((id) => !open.has(id));
    if (stray.length > 0) throw unpaired(stray, 'has a result without a call directly before it');
    if (results.length === 0 && open.size > 0) throw unpaired([...open], 'has no result before the next message');
    open = new Set([...[...open].filter((id) => !results.includes(id)), ...(message.toolCalls ?? [])]);
  }
  if (open.size > 0) throw unpaired([...open], 'has no result at the end of the list');
}

const unpaired = (ids: readonly string[], what: string): Error => refuse('UNPAIRED_TOOL_CALL', 'messages', `tool call ${ids.join(', ')} ${what}`);
