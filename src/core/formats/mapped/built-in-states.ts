import type { MappingRule } from '../../contract/index.js';
import { call, json, type MappingRules, noted, result, said } from './rules.js';

/** Items of the Responses API, as the OpenAI Agents SDK stores them. */
const items: MappingRule[] = [
  said("@.role == 'user'", 'user', { path: '$.content', texts: true }),
  { when: "@.role == 'user'", each: '$.content[*]', kind: 'text', role: 'user', text: '$.text' },
  { when: "@.role == 'assistant'", each: '$.content[*]', kind: 'text', text: "$['text','refusal']" },
  { when: "@.type == 'reasoning'", each: '$.summary[*]', kind: 'thinking', text: '$.text' },
  call("@.type == 'function_call'", '$.name', '$.call_id', json('$.arguments')),
  call("@.type == 'program'", 'program', '$.call_id', { path: '$.code' }),
  result("@.type == 'function_call_output' || @.type == 'program_output'", '$.call_id', "$['output','result']"),
];

/** The state of a run of the OpenAI Agents SDK that waits, for example for an approval: its input, then the items that it made. */
export const openAiAgentsState: MappingRules = {
  name: 'openai-agents',
  testedOn: 'three states from the tests of the SDK (schemas 1.13 and 1.17)',
  experimental: true,
  recognize: "$['$schemaVersion']",
  session: { id: '$.trace.id' },
  records: "$['original_input','generated_items']",
  entries: [
    said(undefined, 'user', { path: '$', texts: true }),
    { each: '$[?@.role || (@.type && !@.raw_item)]', of: items },
    { each: "$[?@.type != 'tool_approval_item'].raw_item", of: items },
  ],
};

/** Managed agents of Anthropic's API: the calls of its client, one a line, as LangSmith's tests record them. */
export const managedAgents: MappingRules = {
  name: 'managed-agent',
  testedOn: 'a recording from the tests of the LangSmith SDK',
  experimental: true,
  recognize: "$[?@[0] == 'client.beta.sessions.events.stream']",
  record: { id: '$[1].id', at: '$[1].processed_at' },
  entries: [
    said("@[0] == 'client.beta.sessions.create'", 'system', '$[1].agent.system'),
    { when: "@[1].type == 'user.message'", each: '$[1].content[*]', kind: 'text', role: 'user', text: '$.text' },
    { when: "@[1].type == 'agent.thinking'", each: '$[1].content[*]', kind: 'thinking', text: "$['thinking','text']" },
    { when: "@[1].type == 'agent.message'", each: '$[1].content[*]', kind: 'text', text: '$.text' },
    call(
      "@[1].type == 'agent.tool_use' || @[1].type == 'agent.mcp_tool_use' || @[1].type == 'agent.custom_tool_use'",
      '$[1].name',
      '$[1].id',
      '$[1].input',
    ),
    result('@[1].tool_use_id && @[1].content', '$[1].tool_use_id', '$[1].content[*].text', { isError: '@[1].is_error == true' }),
    noted("@[1].type == 'session.error'", 'session.error'),
  ],
};
