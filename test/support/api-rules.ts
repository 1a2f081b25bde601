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

interface Item {
  readonly type?: string;
  readonly call_id?: string;
}
interface Content {
  readonly role: string;
  readonly parts: readonly { readonly functionCall?: object; readonly functionResponse?: object }[];
}

const rules = {
  'anthropic-messages-v1': anthropic as (list: readonly never[]) => string[],
  'openai-chat-v1': chat as (list: readonly never[]) => string[],
  responses: responses as (list: readonly never[]) => string[],
  gemini: gemini as (list: readonly never[]) => string[],
};

/** The faults of the messages of a request. */
export function refusals(format: keyof typeof rules, messages: readonly never[]): string[] {
  const found = rules[format](messages);
  return [
    ...found,
    ...(isWellFormed(messages) ? [] : ['a text holds half of a character']),
    ...(hasLarge(messages) ? ['an image has more than 5 MB'] : []),
  ];
}

const hasLarge = (value: unknown): boolean =>
  typeof value === 'string' ? value.length > 5 * 1024 * 1024 : typeof value === 'object' && value !== null && Object.values(value).some(hasLarge);

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

function responses(items: readonly Item[]): string[] {
  const ids = (type: RegExp) => items.flatMap((item) => (type.test(item.type ?? '') && item.call_id !== undefined ? [item.call_id] : []));
  const [calls, outputs] = [ids(/^(function|custom_tool)_call$/), ids(/_call_output$/)];
  return [
    ...outputs.filter((id) => !calls.includes(id)).map((id) => `the output ${id} has no call`),
    ...calls.filter((id) => !outputs.includes(id)).map((id) => `the call ${id} has no output`),
  ];
}

function gemini(contents: readonly Content[]): string[] {
  const count = (content: Content | undefined, name: 'functionCall' | 'functionResponse') =>
    content?.parts.filter((part) => part[name] !== undefined).length ?? 0;
  return contents.flatMap((content, at) => [
    ...(content.parts.length === 0 ? [`content ${at} has no parts`] : []),
    ...(count(content, 'functionCall') > 0 && count(content, 'functionCall') !== count(contents[at + 1], 'functionResponse')
      ? [`content ${at} has another number of calls than the next has results`]
      : []),
    ...(count(content, 'functionResponse') > 0 && count(content, 'functionResponse') !== count(contents[at - 1], 'functionCall')
      ? [`content ${at} has results without a call`]
      : []),
  ]);
}
