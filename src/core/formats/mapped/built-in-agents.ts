import type { Mapping, MappingRule } from '../../contract/index.js';
import { call, counts, json, result } from './rules.js';

/** The model's own arguments, because `args` also contains changes by OpenHands. If the response has several calls, the right call is unknown. */
const onlyCall =
  '@.tool_call_metadata.total_calls_in_response == 1 && @.tool_call_metadata.model_response.choices[0].message.tool_calls[0].function.arguments';
const openHandsUsage = '$.tool_call_metadata.model_response.usage';
const openHandsCall = {
  kind: 'tool_call',
  toolName: '$.tool_call_metadata.function_name',
  toolCallId: '$.tool_call_metadata.tool_call_id',
  author: '$.tool_call_metadata.model_response.model',
} as const;

/** OpenHands 0.x: a list of events. Actions of the agent are calls; observations with the call's id are results. */
export const openHands: Mapping = {
  stemmaMapping: 1,
  name: 'openhands',
  testedOn: 'a trajectory of OpenHands 0.x (test/fixtures/mapped)',
  recognize: '$[?(@.action || @.observation) && @.source]',
  session: { machine: '$[?@.extras.metadata.hostname != null].extras.metadata.hostname' },
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
      when: "@.source != 'user' && @.action && @.action != 'message' && @.action != 'system' && @.args.thought",
      kind: 'text',
      text: '$.args.thought',
      author: '$.tool_call_metadata.model_response.model',
      usage: {
        ...counts(openHandsUsage, 'prompt_tokens', 'completion_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens'),
        includesCache: true,
      },
    },
    {
      when: `@.action && @.tool_call_metadata.tool_call_id && ${onlyCall}`,
      ...openHandsCall,
      arguments: { path: '$.tool_call_metadata.model_response.choices[0].message.tool_calls[0].function.arguments', json: true },
    },
    { when: `@.action && @.tool_call_metadata.tool_call_id && !(${onlyCall})`, ...openHandsCall, arguments: '$.args' },
    {
      when: "@.source == 'agent' && @.action == 'finish' && !@.tool_call_metadata && @.args.outputs.content",
      kind: 'text',
      text: '$.args.outputs.content',
    },
    result('@.observation && @.tool_call_metadata.tool_call_id', '$.tool_call_metadata.tool_call_id', '$.content', {
      toolName: '$.tool_call_metadata.function_name',
      isError: "@.observation == 'error'",
    }),
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

/** OpenHands 1.x: one event per line. The events of one reply have its id, and the first event has its thought. */
export const openHandsEvents: Mapping = {
  stemmaMapping: 1,
  name: 'openhands',
  testedOn: 'a file of events of OpenHands 1.x (test/fixtures/mapped); the folder of a conversation was made from it',
  recognize: '$[?@.kind && @.source && @.id]',
  session: { machine: '$[?@.observation.metadata.hostname != null].observation.metadata.hostname' },
  record: { id: '$.id', at: '$.timestamp', call: '$.llm_response_id' },
  entries: [
    { when: "@.kind == 'SystemPromptEvent'", kind: 'text', role: 'system', text: '$.system_prompt.text' },
    {
      when: "@.kind == 'MessageEvent'",
      each: '$.llm_message.content[*]',
      of: [{ when: "@.type == 'text'", kind: 'text', role: '^$.llm_message.role', text: '$.text' }],
    },
    { when: "@.kind == 'MessageEvent'", each: '$.llm_message.content[*].image_urls[*]', kind: 'image', role: '^$.llm_message.role', image: '$' },
    { when: "@.kind == 'ActionEvent' && @.reasoning_content", kind: 'thinking', text: '$.reasoning_content' },
    { when: "@.kind == 'ActionEvent'", kind: 'text', text: '$.thought[*].text' },
    call("@.kind == 'ActionEvent' && @.tool_call_id", '$.tool_name', '$.tool_call_id', json('$.tool_call.arguments')),
    result("@.kind == 'ObservationEvent'", '$.tool_call_id', '$.observation.content[*].text', {
      toolName: '$.tool_name',
      isError: '@.observation.is_error == true',
    }),
    result("@.kind == 'AgentErrorEvent' || @.kind == 'UserRejectObservation'", '$.tool_call_id', "$['error', 'rejection_reason']", {
      toolName: '$.tool_name',
      isError: '@.kind',
    }),
    { when: "@.kind == 'Condensation' && @.summary", kind: 'summary', text: '$.summary' },
    {
      when: "@.kind == 'ConversationStateUpdateEvent' || @.kind == 'PauseEvent' || @.kind == 'CondensationRequest' || @.kind == 'LLMCompletionLogEvent'",
      kind: 'event',
      toolName: '$.kind',
    },
  ],
};

/** Antigravity: the log of a conversation. Its steps have no call ids, so a tool's step answers the oldest open call. */
export const antigravity: Mapping = {
  stemmaMapping: 1,
  name: 'antigravity',
  testedOn: 'a shortened log of the command line (test/fixtures/mapped); encrypted conversations are not read',
  recognize: '$[?@.step_index >= 0 && @.source && @.type]',
  record: { at: '$.created_at' },
  entries: [
    { when: "@.type == 'USER_INPUT'", kind: 'text', role: 'user', text: '$.content' },
    { when: '@.thinking', kind: 'thinking', text: '$.thinking' },
    { when: "@.type == 'PLANNER_RESPONSE' && @.content", kind: 'text', text: '$.content' },
    { each: '$.tool_calls[*]', kind: 'tool_call', toolName: '$.name', arguments: '$.args' },
    { when: "@.type == 'CHECKPOINT'", kind: 'summary', text: '$.content' },
    { when: "@.type == 'CONVERSATION_HISTORY' || @.type == 'SYSTEM_MESSAGE'", kind: 'event', toolName: '$.type' },
    {
      when: "@.source == 'MODEL' && @.type != 'PLANNER_RESPONSE'",
      kind: 'tool_result',
      text: '$.content',
      isError: "@.status == 'ERROR'",
    },
  ],
};

/** A message with a role that no other rule reads. */
const otherRole = "@.role && @.role != 'system' && @.role != 'user' && @.role != 'assistant' && @.role != 'tool'";

/** SWE-agent: the history of one run. Demonstrations are sent but belong to no run. */
export const sweAgent: Mapping = {
  stemmaMapping: 1,
  name: 'swe-agent',
  testedOn: 'a trajectory of SWE-agent 1.x (test/fixtures/mapped)',
  recognize: '$.history[?@.role && @.content]',
  sessions: '$',
  records: '$.history[*]',
  entries: [
    { when: "@.role == 'system'", kind: 'text', role: 'system', text: '$.content' },
    { when: "@.role == 'user' && !@.is_demo", kind: 'text', role: 'user', text: '$.content' },
    { when: "@.role == 'user' && @.is_demo == true", kind: 'text', role: 'system', text: '$.content' },
    { when: "@.role == 'user' && @.is_demo == false", kind: 'text', role: 'user', text: '$.content' },
    { when: "@.role == 'assistant'", kind: 'text', text: '$.content', agent: '$.agent' },
    { when: '@.tool_calls', ...openAiCalls },
    result("@.role == 'tool'", '$.tool_call_ids[0]', '$.content'),
    { when: otherRole, kind: 'event', toolName: '$.role' },
  ],
};

const miniEntries: Mapping['entries'] = [
  { when: "@.role == 'system'", kind: 'text', role: 'system', text: '$.content' },
  { when: "@.role == 'user'", kind: 'text', role: 'user', text: '$.content', isAdded: "search(@.content, '^<returncode>')" },
  { when: "@.role == 'assistant'", kind: 'text', text: '$.content', author: '$.extra.response.model' },
  { when: '@.tool_calls', ...openAiCalls },
  result("@.role == 'tool'", '$.tool_call_id', '$.content'),
  // Such as `exit`.
  { when: otherRole, kind: 'event', toolName: '$.role' },
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
  testedOn: 'a trajectory of mini-swe-agent 1.x, which is a list of messages (test/fixtures/mapped)',
  recognize: '$[?@.role && @.content]',
  entries: miniEntries,
};

/** Droid (Factory): messages with Anthropic's blocks. */
export const droid: Mapping = {
  stemmaMapping: 1,
  name: 'droid',
  testedOn: 'a session file of Droid from early 2026 (test/fixtures/mapped)',
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
        call("@.type == 'tool_use'", '$.name', '$.id', '$.input'),
        result("@.type == 'tool_result'", '$.tool_use_id', '$.content', { isError: '@.is_error == true' }),
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
  testedOn: 'the wire file of a subagent of Kimi Code with protocol 1.4 (test/fixtures/mapped); older ones of kimi-cli differ',
  recognize: "$[?@.type == 'metadata' && @.protocol_version]",
  record: {
    at: '$.time',
    call: "$.event['stepUuid', 'uuid']",
    model: '$.model',
    usage: counts('$.event.usage', 'inputOther', 'output', 'inputCacheRead', 'inputCacheCreation'),
  },
  entries: [
    { when: "@.type == 'config.update' && @.systemPrompt", kind: 'text', role: 'system', text: '$.systemPrompt' },
    {
      when: "@.type == 'context.append_message' && @.message.origin.kind == 'injection'",
      each: '$.message.content[*]',
      of: [{ when: "@.type == 'text'", kind: 'text', role: '^$.message.role', text: '$.text', isAdded: '@' }],
    },
    {
      when: "@.type == 'context.append_message' && @.message.origin.kind != 'injection'",
      each: '$.message.content[*]',
      of: [
        { when: "@.type == 'text'", kind: 'text', role: '^$.message.role', text: '$.text' },
        { when: "@.type == 'think'", kind: 'thinking', text: '$.think' },
      ],
    },
    { when: "@.event.type == 'content.part' && @.event.part.type == 'think'", kind: 'thinking', text: '$.event.part.think' },
    { when: "@.event.type == 'content.part' && @.event.part.type == 'text'", kind: 'text', text: '$.event.part.text' },
    call("@.event.type == 'tool.call'", '$.event.name', '$.event.toolCallId', '$.event.args'),
    result("@.event.type == 'tool.result'", '$.event.toolCallId', '$.event.result.output', { isError: '@.event.result.isError == true' }),
    { when: "@.type == 'context.apply_compaction'", kind: 'summary', text: '$.contextSummary' },
    {
      when: "@.type == 'usage.record' && @.usageScope == 'session'",
      kind: 'event',
      toolName: 'compaction',
      author: '$.model',
      usage: counts('$.usage', 'inputOther', 'output', 'inputCacheRead', 'inputCacheCreation'),
    },
    { when: "@.type == 'llm.request'", kind: 'event', toolName: 'llm.request', author: '$.model' },
  ],
};
