import { call, counts, each, functionCalls, json, type MappingRules, noted, replied, result, said, thought, within } from './rules.js';

/** The model's own arguments, because `args` also contains changes by OpenHands. If the response has several calls, the right call is unknown. */
const onlyInput = 'tool_call_metadata.model_response.choices[0].message.tool_calls[0].function.arguments';
const onlyCall = `@.tool_call_metadata.total_calls_in_response == 1 && @.${onlyInput}`;
const openHandsUsage = '$.tool_call_metadata.model_response.usage';
const openHandsModel = { author: '$.tool_call_metadata.model_response.model' };
const openHandsCall = {
  kind: 'tool_call',
  toolName: '$.tool_call_metadata.function_name',
  toolCallId: '$.tool_call_metadata.tool_call_id',
  ...openHandsModel,
} as const;

/** OpenHands 0.x: a list of events. Actions of the agent are calls; observations with the call's id are results. */
export const openHands: MappingRules = {
  name: 'openhands',
  testedOn: 'a trajectory of OpenHands 0.x (test/fixtures/mapped)',
  recognize: '$[?(@.action || @.observation) && @.source]',
  session: { machine: '$[?@.extras.metadata.hostname != null].extras.metadata.hostname' },
  record: { id: '$.id', at: '$.timestamp' },
  entries: [
    said("@.action == 'system'", 'system', '$.args.content'),
    said("@.action == 'message' && @.source == 'user'", 'user', '$.args.content'),
    replied("@.action == 'message' && @.source == 'agent'", '$.args.content', openHandsModel),
    replied("@.source != 'user' && @.action && @.action != 'message' && @.action != 'system' && @.args.thought", '$.args.thought', {
      ...openHandsModel,
      usage: within(counts(openHandsUsage, 'prompt_tokens', 'completion_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens')),
    }),
    { when: `@.action && @.tool_call_metadata.tool_call_id && ${onlyCall}`, ...openHandsCall, arguments: json(`$.${onlyInput}`) },
    { when: `@.action && @.tool_call_metadata.tool_call_id && !(${onlyCall})`, ...openHandsCall, arguments: '$.args' },
    replied("@.source == 'agent' && @.action == 'finish' && !@.tool_call_metadata && @.args.outputs.content", '$.args.outputs.content'),
    result('@.observation && @.tool_call_metadata.tool_call_id', '$.tool_call_metadata.tool_call_id', '$.content', {
      toolName: '$.tool_call_metadata.function_name',
      isError: "@.observation == 'error'",
    }),
    noted("(@.action || @.observation) && !@.tool_call_metadata && @.action != 'message' && @.action != 'system'", '$.action'),
  ],
};

/** OpenHands 1.x: one event per line. The events of one reply have its id, and the first event has its thought. */
export const openHandsEvents: MappingRules = {
  name: 'openhands',
  testedOn: 'a file of events of OpenHands 1.x (test/fixtures/mapped); the folder of a conversation was made from it',
  recognize: '$[?@.kind && @.source && @.id]',
  session: { machine: '$[?@.observation.metadata.hostname != null].observation.metadata.hostname' },
  record: { id: '$.id', at: '$.timestamp', call: '$.llm_response_id' },
  entries: [
    said("@.kind == 'SystemPromptEvent'", 'system', '$.system_prompt.text'),
    each("@.kind == 'MessageEvent'", '$.llm_message.content[*]', [said("@.type == 'text'", '^$.llm_message.role', '$.text')]),
    { when: "@.kind == 'MessageEvent'", each: '$.llm_message.content[*].image_urls[*]', kind: 'image', role: '^$.llm_message.role', image: '$' },
    thought("@.kind == 'ActionEvent' && @.reasoning_content", '$.reasoning_content'),
    replied("@.kind == 'ActionEvent'", '$.thought[*].text'),
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
    noted(
      "@.kind == 'ConversationStateUpdateEvent' || @.kind == 'PauseEvent' || @.kind == 'CondensationRequest' || @.kind == 'LLMCompletionLogEvent'",
      '$.kind',
    ),
  ],
};

/** Antigravity: the log of a conversation. Its steps have no call ids, so a tool's step answers the oldest open call. */
export const antigravity: MappingRules = {
  name: 'antigravity',
  testedOn: 'a shortened log of the command line (test/fixtures/mapped); encrypted conversations are not read',
  recognize: '$[?@.step_index >= 0 && @.source && @.type]',
  record: { at: '$.created_at' },
  entries: [
    said("@.type == 'USER_INPUT'", 'user', '$.content'),
    thought('@.thinking', '$.thinking'),
    replied("@.type == 'PLANNER_RESPONSE' && @.content", '$.content'),
    { each: '$.tool_calls[*]', kind: 'tool_call', toolName: '$.name', arguments: '$.args' },
    { when: "@.type == 'CHECKPOINT'", kind: 'summary', text: '$.content' },
    noted("@.type == 'CONVERSATION_HISTORY' || @.type == 'SYSTEM_MESSAGE'", '$.type'),
    { when: "@.source == 'MODEL' && @.type != 'PLANNER_RESPONSE'", kind: 'tool_result', text: '$.content', isError: "@.status == 'ERROR'" },
  ],
};

const otherRole = "@.role && @.role != 'system' && @.role != 'user' && @.role != 'assistant' && @.role != 'tool'";

/** SWE-agent: the history of one run. Demonstrations are sent but belong to no run. */
export const sweAgent: MappingRules = {
  name: 'swe-agent',
  testedOn: 'a trajectory of SWE-agent 1.x (test/fixtures/mapped)',
  recognize: '$.history[?@.role && @.content]',
  sessions: '$',
  records: '$.history[*]',
  entries: [
    said("@.role == 'system'", 'system', '$.content'),
    said("@.role == 'user' && !@.is_demo", 'user', '$.content'),
    said("@.role == 'user' && @.is_demo == true", 'system', '$.content'),
    said("@.role == 'user' && @.is_demo == false", 'user', '$.content'),
    replied("@.role == 'assistant'", '$.content', { agent: '$.agent' }),
    { when: '@.tool_calls', ...functionCalls('$.tool_calls[*]') },
    result("@.role == 'tool'", '$.tool_call_ids[0]', '$.content'),
    noted(otherRole, '$.role'),
  ],
};

const miniEntries: MappingRules['entries'] = [
  said("@.role == 'system'", 'system', '$.content'),
  said("@.role == 'user'", 'user', '$.content', { isAdded: "search(@.content, '^<returncode>')" }),
  replied("@.role == 'assistant'", '$.content', { author: '$.extra.response.model' }),
  { when: '@.tool_calls', ...functionCalls('$.tool_calls[*]') },
  result("@.role == 'tool'", '$.tool_call_id', '$.content'),
  // Such as `exit`.
  noted(otherRole, '$.role'),
];

/** mini-swe-agent 1.x and 2.x: the messages as they were sent, with facts about the run. */
export const miniSweAgent: MappingRules = {
  name: 'mini-swe-agent',
  recognize: '$.messages[?@.role && @.content]',
  records: '$.messages[*]',
  record: { at: '$.extra.timestamp' },
  entries: miniEntries,
};

/** The oldest files of mini-swe-agent: the messages alone. */
export const miniSweAgentMessages: MappingRules = {
  name: 'mini-swe-agent',
  testedOn: 'a trajectory of mini-swe-agent 1.x, which is a list of messages (test/fixtures/mapped)',
  recognize: '$[?@.role && @.content]',
  entries: miniEntries,
};

/** Droid (Factory): messages with Anthropic's blocks. */
export const droid: MappingRules = {
  name: 'droid',
  testedOn: 'a session file of Droid from early 2026 (test/fixtures/mapped)',
  recognize: "$[?@.type == 'session_start']",
  session: { id: "$[?@.type == 'session_start'].id", title: "$[?@.type == 'session_start'].title", cwd: "$[?@.type == 'session_start'].cwd" },
  record: { id: '$.id', at: '$.timestamp' },
  entries: [
    each("@.type == 'message'", '$.message.content[*]', [
      said("@.type == 'text'", '^$.message.role', '$.text'),
      thought("@.type == 'thinking'", '$.thinking', { signature: '$.signature' }),
      call("@.type == 'tool_use'", '$.name', '$.id', '$.input'),
      result("@.type == 'tool_result'", '$.tool_use_id', '$.content', { isError: '@.is_error == true' }),
    ]),
    { when: "@.type == 'compaction_state'", kind: 'summary', text: '$.summaryText' },
    noted("@.type == 'todo_state' || @.type == 'agent_turn_outcome'", '$.type'),
  ],
};

/** Kimi Code: the wire file of an agent. */
export const kimi: MappingRules = {
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
    said("@.type == 'config.update' && @.systemPrompt", 'system', '$.systemPrompt'),
    each("@.type == 'context.append_message' && @.message.origin.kind == 'injection'", '$.message.content[*]', [
      said("@.type == 'text'", '^$.message.role', '$.text', { isAdded: '@' }),
    ]),
    each("@.type == 'context.append_message' && @.message.origin.kind != 'injection'", '$.message.content[*]', [
      said("@.type == 'text'", '^$.message.role', '$.text'),
      thought("@.type == 'think'", '$.think'),
    ]),
    thought("@.event.type == 'content.part' && @.event.part.type == 'think'", '$.event.part.think'),
    replied("@.event.type == 'content.part' && @.event.part.type == 'text'", '$.event.part.text'),
    call("@.event.type == 'tool.call'", '$.event.name', '$.event.toolCallId', '$.event.args'),
    result("@.event.type == 'tool.result'", '$.event.toolCallId', '$.event.result.output', { isError: '@.event.result.isError == true' }),
    { when: "@.type == 'context.apply_compaction'", kind: 'summary', text: '$.contextSummary' },
    noted("@.type == 'usage.record' && @.usageScope == 'session'", 'compaction', {
      author: '$.model',
      usage: counts('$.usage', 'inputOther', 'output', 'inputCacheRead', 'inputCacheCreation'),
    }),
    noted("@.type == 'llm.request'", 'llm.request', { author: '$.model' }),
  ],
};
