import type { Mapping, MappingRule } from '../../contract/index.js';

/** OpenHands 0.x: a list of events. Actions of the agent are calls, observations with their call's id are results. */
export const openHands: Mapping = {
  stemmaMapping: 1,
  name: 'openhands',
  testedOn: 'two trajectories of OpenHands 0.x (test/fixtures/mapped); 1.x keeps a file for each event and is not read',
  recognize: '$[?(@.action || @.observation) && @.source]',
  record: { id: '$.id', at: '$.timestamp' },
  entries: [
    { when: "@.action == 'system'", kind: 'text', role: 'system', text: '$.args.content' },
    { when: "@.action == 'message' && @.source == 'user'", kind: 'text', role: 'user', text: '$.args.content' },
    {
      when: "@.action == 'message' && @.source == 'agent'",
      kind: 'text',
      text: '$.args.content',
      author: '$.tool_call_metadata.model_response.model',
    },
    {
      when: "@.source == 'agent' && @.action && @.action != 'message' && @.action != 'system' && @.args.thought",
      kind: 'text',
      text: '$.args.thought',
      author: '$.tool_call_metadata.model_response.model',
      usage: {
        input: '$.tool_call_metadata.model_response.usage.prompt_tokens',
        output: '$.tool_call_metadata.model_response.usage.completion_tokens',
        cacheRead: '$.tool_call_metadata.model_response.usage.cache_read_input_tokens',
        cacheWrite: '$.tool_call_metadata.model_response.usage.cache_creation_input_tokens',
        includesCache: true,
      },
    },
    {
      when: '@.action && @.tool_call_metadata.tool_call_id',
      kind: 'tool_call',
      toolName: '$.tool_call_metadata.function_name',
      toolCallId: '$.tool_call_metadata.tool_call_id',
      arguments: '$.args',
      author: '$.tool_call_metadata.model_response.model',
    },
    {
      when: "@.source == 'agent' && @.action == 'finish' && !@.tool_call_metadata && @.args.outputs.content",
      kind: 'text',
      text: '$.args.outputs.content',
    },
    {
      when: '@.observation && @.tool_call_metadata.tool_call_id',
      kind: 'tool_result',
      toolName: '$.tool_call_metadata.function_name',
      toolCallId: '$.tool_call_metadata.tool_call_id',
      text: '$.content',
      isError: "@.observation == 'error'",
    },
    {
      when: "(@.action || @.observation) && !@.tool_call_metadata && @.action != 'message' && @.action != 'system'",
      kind: 'event',
      toolName: '$.action',
    },
  ],
};

const openAiCalls: MappingRule = {
  each: '$.tool_calls[*]',
  kind: 'tool_call',
  toolName: '$.function.name',
  toolCallId: '$.id',
  arguments: { path: '$.function.arguments', json: true },
};

/** SWE-agent: the history of one run. Demonstrations are sent but belong to no run. */
export const sweAgent: Mapping = {
  stemmaMapping: 1,
  name: 'swe-agent',
  testedOn: 'three trajectories of SWE-agent 0.x and 1.x (test/fixtures/mapped)',
  recognize: '$.history[?@.role && @.content]',
  sessions: '$',
  records: '$.history[*]',
  session: { title: '$.environment' },
  entries: [
    { when: "@.role == 'system'", kind: 'text', role: 'system', text: '$.content' },
    { when: "@.role == 'user' && !@.is_demo", kind: 'text', role: 'user', text: '$.content' },
    { when: "@.role == 'user' && @.is_demo == true", kind: 'text', role: 'system', text: '$.content' },
    { when: "@.role == 'user' && @.is_demo == false", kind: 'text', role: 'user', text: '$.content' },
    { when: "@.role == 'assistant'", kind: 'text', text: '$.content', author: '$.agent' },
    { when: '@.tool_calls', ...openAiCalls },
    { when: "@.role == 'tool'", kind: 'tool_result', text: '$.content', toolCallId: '$.tool_call_ids[0]' },
  ],
};

const miniEntries: Mapping['entries'] = [
  { when: "@.role == 'system'", kind: 'text', role: 'system', text: '$.content' },
  { when: "@.role == 'user'", kind: 'text', role: 'user', text: '$.content' },
  { when: "@.role == 'assistant'", kind: 'text', text: '$.content', author: '$.extra.response.model' },
  { when: '@.tool_calls', ...openAiCalls },
  { when: "@.role == 'tool'", kind: 'tool_result', text: '$.content', toolCallId: '$.tool_call_id' },
  { when: "@.role == 'exit'", kind: 'event', toolName: 'exit' },
];

/** mini-swe-agent 1.x and 2.x: the messages as they were sent, with facts about the run. */
export const miniSweAgent: Mapping = {
  stemmaMapping: 1,
  name: 'mini-swe-agent',
  recognize: '$.messages[?@.role && @.content]',
  records: '$.messages[*]',
  record: { at: '$.extra.timestamp' },
  entries: miniEntries,
};

/** The oldest files of mini-swe-agent: the messages alone. */
export const miniSweAgentMessages: Mapping = {
  stemmaMapping: 1,
  name: 'mini-swe-agent',
  testedOn: 'two trajectories of mini-swe-agent 1.x, which are lists of messages (test/fixtures/mapped)',
  recognize: '$[?@.role && @.content]',
  entries: miniEntries,
};

/** Droid (Factory): messages with Anthropic's blocks. */
export const droid: Mapping = {
  stemmaMapping: 1,
  name: 'droid',
  testedOn: 'three session files of Droid from early 2026 (test/fixtures/mapped)',
  recognize: "$[?@.type == 'session_start']",
  session: { id: "$[?@.type == 'session_start'].id", title: "$[?@.type == 'session_start'].title", cwd: "$[?@.type == 'session_start'].cwd" },
  record: { id: '$.id', at: '$.timestamp' },
  entries: [
    {
      when: "@.type == 'message'",
      each: '$.message.content[*]',
      of: [
        { when: "@.type == 'text'", kind: 'text', role: '^$.message.role', text: '$.text' },
        { when: "@.type == 'thinking'", kind: 'thinking', text: '$.thinking', signature: '$.signature' },
        { when: "@.type == 'tool_use'", kind: 'tool_call', toolName: '$.name', toolCallId: '$.id', arguments: '$.input' },
        { when: "@.type == 'tool_result'", kind: 'tool_result', toolCallId: '$.tool_use_id', text: '$.content', isError: '@.is_error == true' },
      ],
    },
    { when: "@.type == 'compaction_state'", kind: 'summary', text: '$.summaryText' },
    { when: "@.type == 'todo_state' || @.type == 'agent_turn_outcome'", kind: 'event', toolName: '$.type' },
  ],
};

/** Kimi Code: the wire file of an agent. */
export const kimi: Mapping = {
  stemmaMapping: 1,
  name: 'kimi',
  testedOn: 'two wire files of Kimi Code with protocol 1.4 (test/fixtures/mapped); older ones of kimi-cli differ',
  recognize: "$[?@.type == 'metadata' && @.protocol_version]",
  record: { at: '$.time' },
  entries: [
    { when: "@.type == 'config.update' && @.systemPrompt", kind: 'text', role: 'system', text: '$.systemPrompt' },
    {
      when: "@.type == 'context.append_message'",
      each: '$.message.content[*]',
      of: [
        { when: "@.type == 'text'", kind: 'text', role: '^$.message.role', text: '$.text' },
        { when: "@.type == 'think'", kind: 'thinking', text: '$.think' },
      ],
    },
    { when: "@.event.type == 'content.part' && @.event.part.type == 'think'", kind: 'thinking', text: '$.event.part.think' },
    { when: "@.event.type == 'content.part' && @.event.part.type == 'text'", kind: 'text', text: '$.event.part.text' },
    { when: "@.event.type == 'tool.call'", kind: 'tool_call', toolName: '$.event.name', toolCallId: '$.event.toolCallId', arguments: '$.event.args' },
    {
      when: "@.event.type == 'tool.result'",
      kind: 'tool_result',
      toolCallId: '$.event.toolCallId',
      text: '$.event.result.output',
      isError: '@.event.result.isError == true',
    },
    { when: "@.type == 'context.apply_compaction'", kind: 'summary', text: '$.contextSummary' },
    { when: "@.type == 'llm.request'", kind: 'event', toolName: 'llm.request', author: '$.model' },
  ],
};
