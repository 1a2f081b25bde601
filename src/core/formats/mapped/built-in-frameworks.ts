import { call, counts, each, json, type MappingRules, replied, result, said, thought, within } from './rules.js';

/** Google ADK: the events of a session. */
export const adk: MappingRules = {
  name: 'adk',
  testedOn: 'a session file of ADK’s own tests (test/fixtures/mapped), and a database made from the published schema',
  recognize: '$.events[?@.author]',
  records: '$.events[?@.content && @.partial != true]',
  session: { id: '$.id', title: '$.appName' },
  record: { id: '$.id', at: '$.timestamp' },
  entries: [
    each(undefined, '$.content.parts[*]', [
      thought('@.text && @.thought == true', '$.text'),
      said('@.text && @.thought != true', { path: '^$.content.role', map: { user: 'user', model: 'assistant' }, else: 'assistant' }, '$.text', {
        agent: '^$.author',
      }),
      call('@.functionCall', '$.functionCall.name', '$.functionCall.id', '$.functionCall.args'),
      call('@.function_call', '$.function_call.name', '$.function_call.id', '$.function_call.args'),
      result('@.functionResponse', '$.functionResponse.id', '$.functionResponse.response', { toolName: '$.functionResponse.name' }),
      result('@.function_response', '$.function_response.id', '$.function_response.response', { toolName: '$.function_response.name' }),
    ]),
  ],
};

const pydanticUsage = within(counts('^$.usage', 'input_tokens', 'output_tokens', 'cache_read_tokens', 'cache_write_tokens'));

/** Pydantic AI: the messages of `ModelMessagesTypeAdapter`. */
export const pydanticAi: MappingRules = {
  name: 'pydantic-ai',
  testedOn: 'a file that was made from the published schema (test/fixtures/mapped)',
  experimental: true,
  recognize: "$[?@.kind == 'request' || @.kind == 'response']",
  record: { at: '$.timestamp' },
  entries: [
    each(undefined, '$.parts[*]', [
      said("@.part_kind == 'system-prompt'", 'system', '$.content'),
      said("@.part_kind == 'user-prompt'", 'user', { path: '$.content', texts: true }),
      { when: "@.part_kind == 'user-prompt'", each: "$.content[?@.kind == 'image-url']", kind: 'image', image: '$.url' },
      thought("@.part_kind == 'thinking'", '$.content', { signature: '$.signature', author: '^$.model_name', usage: pydanticUsage }),
      replied("@.part_kind == 'text'", '$.content', { author: '^$.model_name', usage: pydanticUsage }),
      call("@.part_kind == 'tool-call'", '$.tool_name', '$.tool_call_id', json('$.args'), { author: '^$.model_name', usage: pydanticUsage }),
      result("@.part_kind == 'tool-return'", '$.tool_call_id', '$.content', { toolName: '$.tool_name' }),
      result("@.part_kind == 'retry-prompt' && @.tool_name", '$.tool_call_id', '$.content', { toolName: '$.tool_name', isError: '@.part_kind' }),
      said("@.part_kind == 'retry-prompt' && !@.tool_name", 'user', '$.content'),
    ]),
  ],
};

/** Vercel AI SDK 5 and 6: messages of a chat, as apps store them. */
export const vercelAi: MappingRules = {
  name: 'vercel-ai',
  testedOn: 'a file that was made from the published types (test/fixtures/mapped)',
  experimental: true,
  recognize: '$[?@.role && @.parts[?@.type]]',
  record: { id: '$.id', at: '$.metadata.createdAt' },
  entries: [
    each(undefined, '$.parts[*]', [
      said("@.type == 'text'", '^$.role', '$.text', { author: '^$.metadata.model' }),
      thought("@.type == 'reasoning'", '$.text', { signature: '$.providerMetadata.anthropic.signature' }),
      { when: "@.type == 'file'", kind: 'image', role: '^$.role', image: '$.url' },
      call("@.toolCallId && @.type == 'dynamic-tool'", '$.toolName', '$.toolCallId', '$.input'),
      call("@.toolCallId && @.type != 'dynamic-tool'", '$.type', '$.toolCallId', '$.input'),
      // A call with an output has a result, whatever its state is called.
      result("@.toolCallId && @.output && @.state != 'output-error'", '$.toolCallId', '$.output'),
      result('@.toolCallId && @.errorText', '$.toolCallId', '$.errorText', { isError: '@.errorText' }),
    ]),
  ],
};
