import type { JsonObject } from '../../../../src/core/base/index.js';

/** A session of Copilot CLI as the agent (1.0.102) writes it: two calls with a failed tool, a subagent, an error and a compaction. */
let number = 0;
const event = (type: string, data: object, more: object = {}): JsonObject => {
  const id = `e${String(++number).padStart(4, '0')}`;
  return { type, data: data as JsonObject, id, timestamp: `2026-11-22T09:00:${String(number % 60).padStart(2, '0')}.000Z`, parentId: null, ...more };
};
const usage = (apiCallId: string, inputTokens: number, cacheReadTokens: number, more: object = {}): JsonObject =>
  event('session.usage_record', { usage: { model: 'm', inputTokens, outputTokens: 10, cacheReadTokens, cacheWriteTokens: 0, apiCallId } }, more);
const call = (toolCallId: string, name: string, input: object) => ({ toolCallId, name, arguments: input, type: 'function' });
const agent = { agentId: 'agent-1' };

export const session: readonly JsonObject[] = [
  event('session.start', { sessionId: 's-1', version: 1, copilotVersion: '1.0.102', context: { cwd: '/work/demo' } }),
  event('user.message', { content: 'Fix it', transformedContent: '<now/>\n\nFix it', attachments: [] }),
  event('system.message', { role: 'system', content: 'You help.' }),
  event('assistant.turn_start', { turnId: '0' }),
  usage('api-1', 100, 40),
  event('assistant.message', {
    messageId: 'm-1',
    model: 'm',
    content: 'Let me look.',
    reasoningText: 'First look.',
    toolRequests: [call('c-1', 'view', { path: 'a' }), call('c-2', 'view', { path: 'b' })],
    apiCallId: 'api-1',
  }),
  event('tool.execution_start', { toolCallId: 'c-1', toolName: 'view', arguments: { path: 'a' } }),
  event('tool.execution_complete', { toolCallId: 'c-2', success: false, error: { message: 'Path does not exist', code: 'failure' } }),
  event('tool.execution_complete', { toolCallId: 'c-1', success: true, result: { content: 'one', detailedContent: '+one' } }),
  event('assistant.turn_end', { turnId: '0' }),
  usage('api-2', 200, 100),
  event('assistant.message', {
    messageId: 'm-2',
    model: 'm',
    content: '',
    toolRequests: [call('c-3', 'task', { prompt: 'Check' })],
    apiCallId: 'api-2',
  }),
  event('subagent.started', { toolCallId: 'c-3', agentName: 'general-purpose' }, agent),
  event('user.message', { content: 'Check', source: 'agent-s-1' }, agent),
  usage('api-3', 50, 0, agent),
  event(
    'assistant.message',
    { messageId: 'm-3', model: 'm', content: 'It is fine.', toolRequests: [], apiCallId: 'api-3', parentToolCallId: 'c-3' },
    agent,
  ),
  event('subagent.completed', { toolCallId: 'c-3' }, agent),
  event('tool.execution_complete', { toolCallId: 'c-3', success: true, result: { content: 'It is fine.' } }),
  event('assistant.message', { messageId: 'm-4', model: 'm', content: 'Done.', toolRequests: [], apiCallId: 'api-4' }),
  event('session.shutdown', { shutdownType: 'routine' }),
  event('session.resume', { resumeTime: '2026-11-22T09:10:00.000Z' }),
  event('user.message', { content: 'Overload' }),
  event('session.error', { errorType: 'query', message: '400 stand-in', statusCode: 400 }),
  event('session.compaction_start', { trigger: 'manual' }),
  event('session.compaction_complete', { success: true, summaryContent: 'What happened so far.', checkpointNumber: 1 }),
  event('user.message', { content: 'Go on' }),
  event('new.kind_of_event', { anything: true }),
  event('assistant.message', { messageId: 'm-5', model: 'm', content: 'OK', toolRequests: [] }),
];

export const linesOf = (events: readonly JsonObject[]): string => events.map((one) => `${JSON.stringify(one)}\n`).join('');
