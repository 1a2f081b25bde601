import type { Mapping, MappingRule } from '../../contract/index.js';

/** Google ADK: the events of a session. */
export const adk: Mapping = {
  stemmaMapping: 1,
  name: 'adk',
  testedOn: 'a session file of ADK’s own tests (test/fixtures/mapped), and a database made from the published schema',
  recognize: '$.events[?@.author]',
  records: '$.events[?@.content && @.partial != true]',
  session: { id: '$.id', title: '$.appName' },
  record: { id: '$.id', at: '$.timestamp' },
  entries: [
    {
      each: '$.content.parts[*]',
      of: [
        { when: '@.text && @.thought == true', kind: 'thinking', text: '$.text' },
        {
          when: '@.text && @.thought != true',
          kind: 'text',
          role: { path: '^$.content.role', map: { user: 'user', model: 'assistant' }, else: 'assistant' },
          text: '$.text',
          agent: '^$.author',
        },
        {
          when: '@.functionCall',
          kind: 'tool_call',
          toolName: '$.functionCall.name',
          toolCallId: '$.functionCall.id',
          arguments: '$.functionCall.args',
        },
        {
          when: '@.function_call',
          kind: 'tool_call',
          toolName: '$.function_call.name',
          toolCallId: '$.function_call.id',
          arguments: '$.function_call.args',
        },
        {
          when: '@.functionResponse',
          kind: 'tool_result',
          toolName: '$.functionResponse.name',
          toolCallId: '$.functionResponse.id',
          text: '$.functionResponse.response',
        },
        {
          when: '@.function_response',
          kind: 'tool_result',
          toolName: '$.function_response.name',
          toolCallId: '$.function_response.id',
          text: '$.function_response.response',
        },
      ],
    },
  ],
};

const pydanticUsage: MappingRule['usage'] = {
  input: '^$.usage.input_tokens',
  output: '^$.usage.output_tokens',
  cacheRead: '^$.usage.cache_read_tokens',
  cacheWrite: '^$.usage.cache_write_tokens',
  includesCache: true,
};

/** Pydantic AI: the messages of `ModelMessagesTypeAdapter`. */
export const pydanticAi: Mapping = {
  stemmaMapping: 1,
  name: 'pydantic-ai',
  testedOn: 'a file that was made from the published schema (test/fixtures/mapped)',
  experimental: true,
  recognize: "$[?@.kind == 'request' || @.kind == 'response']",
  record: { at: '$.timestamp' },
  entries: [
    {
      each: '$.parts[*]',
      of: [
        { when: "@.part_kind == 'system-prompt'", kind: 'text', role: 'system', text: '$.content' },
        { when: "@.part_kind == 'user-prompt'", kind: 'text', role: 'user', text: { path: '$.content', texts: true } },
        { when: "@.part_kind == 'user-prompt'", each: "$.content[?@.kind == 'image-url']", kind: 'image', image: '$.url' },
        {
          when: "@.part_kind == 'thinking'",
          kind: 'thinking',
          text: '$.content',
          signature: '$.signature',
          author: '^$.model_name',
          usage: pydanticUsage,
        },
        { when: "@.part_kind == 'text'", kind: 'text', text: '$.content', author: '^$.model_name', usage: pydanticUsage },
        {
          when: "@.part_kind == 'tool-call'",
          kind: 'tool_call',
          toolName: '$.tool_name',
          toolCallId: '$.tool_call_id',
          arguments: { path: '$.args', json: true },
          author: '^$.model_name',
          usage: pydanticUsage,
        },
        { when: "@.part_kind == 'tool-return'", kind: 'tool_result', toolName: '$.tool_name', toolCallId: '$.tool_call_id', text: '$.content' },
        {
          when: "@.part_kind == 'retry-prompt' && @.tool_name",
          kind: 'tool_result',
          toolName: '$.tool_name',
          toolCallId: '$.tool_call_id',
          text: '$.content',
          isError: '@.part_kind',
        },
        { when: "@.part_kind == 'retry-prompt' && !@.tool_name", kind: 'text', role: 'user', text: '$.content' },
      ],
    },
  ],
};

/** Vercel AI SDK 5 and 6: messages of a chat, as apps store them. */
export const vercelAi: Mapping = {
  stemmaMapping: 1,
  name: 'vercel-ai',
  testedOn: 'a file that was made from the published types (test/fixtures/mapped)',
  experimental: true,
  recognize: '$[?@.role && @.parts[?@.type]]',
  record: { id: '$.id', at: '$.metadata.createdAt' },
  entries: [
    {
      each: '$.parts[*]',
      of: [
        { when: "@.type == 'text'", kind: 'text', role: '^$.role', text: '$.text', author: '^$.metadata.model' },
        { when: "@.type == 'reasoning'", kind: 'thinking', text: '$.text', signature: '$.providerMetadata.anthropic.signature' },
        { when: "@.type == 'file'", kind: 'image', role: '^$.role', image: '$.url' },
        {
          when: "@.toolCallId && @.type == 'dynamic-tool'",
          kind: 'tool_call',
          toolName: '$.toolName',
          toolCallId: '$.toolCallId',
          arguments: '$.input',
        },
        { when: "@.toolCallId && @.type != 'dynamic-tool'", kind: 'tool_call', toolName: '$.type', toolCallId: '$.toolCallId', arguments: '$.input' },
        // A call with an output has a result, whatever its state is called.
        { when: "@.toolCallId && @.output && @.state != 'output-error'", kind: 'tool_result', toolCallId: '$.toolCallId', text: '$.output' },
        { when: '@.toolCallId && @.errorText', kind: 'tool_result', toolCallId: '$.toolCallId', text: '$.errorText', isError: '@.errorText' },
      ],
    },
  ],
};
