/** What a model's API answers with 400, by the rules that the providers publish. One sentence for each fault. */
interface Block {
  readonly type: string;
  readonly text?: string;
  readonly id?: string;
  readonly tool_use_id?: string;
  readonly signature?: string;
}
interface Message {
  readonly role: string;
  readonly content: string | readonly Block[] | null;
  readonly tool_calls?: readonly { readonly id: string }[];
  readonly tool_call_id?: string;
}

/** The faults of the messages of a request. */
export function refusals(format: 'anthropic-messages-v1' | 'openai-chat-v1', messages: readonly Message[]): string[] {
  const found = format === 'anthropic-messages-v1' ? anthropic(messages) : chat(messages);
  return isWellFormed(messages) ? found : [...found, 'a text holds half of a character'];
}

const isWellFormed = (value: unknown): boolean =>
  typeof value === 'string'
    ? value.isWellFormed()
    : typeof value !== 'object' || value === null || Object.entries(value).every(([name, one]) => name.isWellFormed() && isWellFormed(one));

const blocksOf = (message: Message | undefined): readonly Block[] =>
  typeof message?.content === 'string' ? [{ type: 'text', text: message.content }] : (message?.content ?? []);

function anthropic(messages: readonly Message[]): string[] {
  const first = messages[0] && messages[0].role !== 'user' ? ['the first message is not the user’s'] : [];
  return messages.reduce<string[]>((found, message, at) => {
    const blocks = blocksOf(message);
    if (blocks.length === 0) found.push(`message ${at} has no content`);
    if (messages[at - 1]?.role === message.role) found.push(`message ${at} has the role of the message before it`);
    for (const { type, text, id, tool_use_id: of, signature } of blocks) {
      if (type === 'text' && (text ?? '').trim() === '') found.push(`message ${at} has an empty text`);
      if (type === 'thinking' && !signature) found.push(`message ${at} has thinking without a signature`);
      if (type === 'tool_result' && !blocksOf(messages[at - 1]).some((one) => one.type === 'tool_use' && one.id === of))
        found.push(`message ${at} has a result without a call`);
      if (type === 'tool_use' && !blocksOf(messages[at + 1]).some((one) => one.type === 'tool_result' && one.tool_use_id === id))
        found.push(`message ${at} has a call without a result`);
    }
    const calls = blocks.flatMap(({ type, id }) => (type === 'tool_use' ? [id] : []));
    if (new Set(calls).size !== calls.length) found.push(`message ${at} has two calls with one id`);
    return found;
  }, first);
}

function chat(messages: readonly Message[]): string[] {
  return messages.flatMap(({ role, tool_call_id: of, tool_calls: calls = [] }, at) => {
    const caller = messages.slice(0, at).findLast((one) => one.role !== 'tool');
    const after = messages.slice(at + 1);
    const next = after.findIndex((one) => one.role !== 'tool');
    const answers = new Set((next < 0 ? after : after.slice(0, next)).map((one) => one.tool_call_id));
    return [
      ...(role === 'tool' && !caller?.tool_calls?.some(({ id }) => id === of) ? [`message ${at} answers no call`] : []),
      ...calls.filter(({ id }) => !answers.has(id)).map(({ id }) => `message ${at} has the call ${id} without an answer`),
    ];
  });
}
