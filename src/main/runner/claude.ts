import { isObject, type Json, type JsonObject, stringAt } from '../../core/base/index.js';
import type { AgentOrder, AgentPiece, AgentProgram } from '../../core/project/index.js';
import { allowedEnvironment, noticeOf } from './environment.js';
import { arrayAt, type LineProgram, numberIn, objectAt, startLines } from './lines.js';
import { abilities, findAgent, type Machine, mcpServer } from './machine.js';

const title = 'Claude Code';
const [name, variable] = ['claude', 'STEMMA_CLAUDE'] as const;

/** Claude Code (2.1.329), headless: messages as JSON lines on standard input and output, permission requests among them. */
export const claudeCode = (machine: Machine): AgentProgram => ({
  agent: 'claude-code',
  ...abilities(machine, title, name, variable),
  run: (order, signal) => runClaude(machine, order, signal),
});

async function* runClaude(machine: Machine, order: AgentOrder, signal: AbortSignal): AsyncGenerator<AgentPiece> {
  const allowed = allowedEnvironment(machine.env, 'anthropic', order.environment);
  const env = { ...allowed.env, DISABLE_AUTOUPDATER: '1' };
  yield* noticeOf(title, allowed);
  const command = findAgent(machine, name, variable) ?? name;
  const program = startLines(title, command, argumentsFor(machine, order), { cwd: order.folder, env }, signal);
  program.send({ type: 'user', message: { role: 'user', content: order.prompt } });
  const heard: Heard = { calls: new Map(), counted: new Set(), session: undefined };
  for await (const message of program.messages()) {
    yield* readPieces(message, heard, program);
    if (message.type === 'result') program.end();
  }
}

function argumentsFor(machine: Machine, { permissions, model, resume, rules, mcp }: AgentOrder): string[] {
  const servers = mcp && JSON.stringify({ mcpServers: { stemma: mcpServer(machine, mcp) } });
  return [
    ...['-p', '--input-format', 'stream-json', '--output-format', 'stream-json', '--verbose', '--include-partial-messages'],
    ...['--permission-prompt-tool', 'stdio', '--permission-mode', permissions],
    ...(model === undefined ? [] : ['--model', model]),
    ...(rules === undefined ? [] : ['--append-system-prompt', rules]),
    ...(resume === undefined ? [] : ['--resume', resume.sessionId]),
    ...(servers === undefined ? [] : ['--mcp-config', servers, '--allowedTools', 'mcp__stemma']),
  ];
}

interface Heard {
  readonly calls: Map<string, string>;
  readonly counted: Set<string>;
  session: string | undefined;
}

function* readPieces(message: JsonObject, heard: Heard, program: LineProgram): Generator<AgentPiece> {
  const sessionId = stringAt(message, 'session_id');
  if (sessionId !== undefined && sessionId !== heard.session) {
    heard.session = sessionId;
    yield { kind: 'session', sessionId, path: undefined };
  }
  switch (message.type) {
    case 'system':
      for (const server of arrayAt(message, 'mcp_servers'))
        if (stringAt(server, 'status') === 'failed')
          yield { kind: 'notice', text: `The MCP server ${stringAt(server, 'name') ?? ''} did not start.` };
      return;
    case 'stream_event': {
      const delta = objectAt(objectAt(message, 'event'), 'delta');
      const [text, thinking] = [stringAt(delta, 'text'), stringAt(delta, 'thinking')];
      if (text !== undefined) yield { kind: 'text', delta: text };
      if (thinking !== undefined) yield { kind: 'thinking', delta: thinking };
      return;
    }
    case 'assistant':
      yield* assistantPieces(objectAt(message, 'message'), heard);
      return;
    case 'user':
      for (const part of arrayAt(objectAt(message, 'message'), 'content'))
        if (isObject(part) && part.type === 'tool_result')
          yield { kind: 'result', text: joinWords(part.content), toolName: heard.calls.get(stringAt(part, 'tool_use_id') ?? '') ?? 'tool' };
      return;
    case 'control_request':
      yield* permissionIn(message, program);
      return;
    case 'result':
      yield { kind: 'end', text: stringAt(message, 'result') ?? '', isError: message.is_error === true };
  }
}

function* assistantPieces(message: JsonObject | undefined, heard: Heard): Generator<AgentPiece> {
  const id = stringAt(message, 'id') ?? '';
  for (const part of arrayAt(message, 'content'))
    if (isObject(part) && part.type === 'tool_use') {
      const toolName = stringAt(part, 'name') ?? 'tool';
      heard.calls.set(stringAt(part, 'id') ?? '', toolName);
      yield { kind: 'call', text: JSON.stringify(part.input ?? {}), toolName };
    }
  const usage = objectAt(message, 'usage');
  if (!usage || heard.counted.has(id)) return;
  heard.counted.add(id);
  const tokens = {
    input: numberIn(usage.input_tokens),
    output: numberIn(usage.output_tokens),
    cacheRead: numberIn(usage.cache_read_input_tokens),
    cacheWrite: numberIn(usage.cache_creation_input_tokens),
  };
  yield { kind: 'usage', tokens, model: stringAt(message, 'model') ?? null, cost: null };
}

/** Handles a permission request and sends the answer to the agent. Other requests of the agent are refused, so that it does not wait for them. */
function* permissionIn(message: JsonObject, program: LineProgram): Generator<AgentPiece> {
  const requestId = stringAt(message, 'request_id') ?? '';
  const request = objectAt(message, 'request');
  const reply = (response: object): void => program.send({ type: 'control_response', response: { request_id: requestId, ...response } });
  if (request?.subtype !== 'can_use_tool') return reply({ subtype: 'error', error: 'Stemma does not support this request.' });
  yield {
    kind: 'question',
    requestId,
    toolName: stringAt(request, 'tool_name') ?? 'tool',
    arguments: request.input ?? {},
    answer: (allow, note) =>
      reply({
        subtype: 'success',
        response: allow
          ? { behavior: 'allow', updatedInput: request.input ?? {} }
          : { behavior: 'deny', message: note ?? 'A person refused this in Stemma.' },
      }),
  };
}

function joinWords(content: Json | undefined): string {
  if (typeof content === 'string') return content;
  return Array.isArray(content) ? content.map((part) => stringAt(part, 'text') ?? '').join('\n') : '';
}
