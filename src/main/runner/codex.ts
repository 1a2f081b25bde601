import { dirname } from 'node:path';
import { defined, isObject, type Json, type JsonObject, parseJson, StemmaError, stringAt } from '../../core/base/index.js';
import { readInside, removeInside, replaceFile } from '../../core/files/index.js';
import type { AgentOrder, AgentPiece, AgentProgram } from '../../core/project/index.js';
import { allowedEnvironment, noticeOf } from './environment.js';
import { type LineProgram, numberIn, objectAt, startLines } from './lines.js';
import { abilities, findAgent, type Machine, mcpServer } from './machine.js';

const title = 'Codex';
const [name, variable] = ['codex', 'STEMMA_CODEX'] as const;

/** Codex (0.169.0), by its app server: JSON-RPC, one message a line. */
export const codex = (machine: Machine): AgentProgram => ({
  agent: 'codex',
  ...abilities(machine, title, name, variable),
  run: (order, signal) => runCodex(machine, order, signal),
});

/** When Codex asks, and what its sandbox allows, by permission mode. */
const policies = {
  default: { approvalPolicy: 'untrusted', sandbox: 'workspace-write' },
  acceptEdits: { approvalPolicy: 'on-request', sandbox: 'workspace-write' },
  plan: { approvalPolicy: 'never', sandbox: 'read-only' },
  bypassPermissions: { approvalPolicy: 'never', sandbox: 'danger-full-access' },
} as const;

const threadSettings = (machine: Machine, { folder, permissions, model, rules, mcp }: AgentOrder): object => ({
  cwd: folder,
  ...policies[permissions],
  ...defined({ model, developerInstructions: rules, config: mcp && { mcp_servers: { stemma: mcpServer(machine, mcp) } } }),
});

const ids = { initialize: 1, thread: 2, turn: 3, config: 4 } as const;

async function* runCodex(machine: Machine, order: AgentOrder, signal: AbortSignal): AsyncGenerator<AgentPiece> {
  const allowed = allowedEnvironment(machine.env, 'openai', order.environment);
  yield* noticeOf(title, allowed);
  const putBack = order.resume && holdSession(order.resume.path);
  const command = findAgent(machine, name, variable) ?? name;
  const program = startLines(title, command, ['app-server'], { cwd: order.folder, env: allowed.env }, signal);
  const send = (id: number, method: string, params: object): void => program.send({ id, method, params });
  send(ids.initialize, 'initialize', { clientInfo: { name: 'stemma', title: 'Stemma', version: '1' } });
  const settings = threadSettings(machine, order);
  let said = '';
  // The turn begins when Stemma's tools are ready, because Codex would offer the model none before.
  let isServed = order.mcp === undefined;
  let begin: (() => void) | undefined;
  for await (const message of program.messages()) {
    if (message.method === undefined) {
      const result = requireResult(message);
      if (message.id === ids.initialize) {
        program.send({ method: 'initialized' });
        send(ids.config, 'config/read', { cwd: order.folder });
      } else if (message.id === ids.config) {
        putBack?.(stringAt(objectAt(result, 'config'), 'model_provider') ?? 'openai', order.rules);
        if (order.resume) send(ids.thread, 'thread/resume', { threadId: order.resume.sessionId, ...settings });
        else send(ids.thread, 'thread/start', settings);
      } else if (message.id === ids.thread) {
        const thread = objectAt(result, 'thread');
        const threadId = stringAt(thread, 'id') ?? '';
        yield { kind: 'session', sessionId: threadId, path: stringAt(thread, 'path') ?? order.resume?.path };
        begin = () => send(ids.turn, 'turn/start', { threadId, input: [{ type: 'text', text: order.prompt, text_elements: [] }] });
      }
    } else if (message.id !== undefined) yield* requestIn(message, program);
    else {
      const params = objectAt(message, 'params') ?? {};
      said = saidIn(message.method, params) ?? said;
      isServed ||= isServing(message.method, params);
      yield* notified(stringAt(message, 'method') ?? '', params);
      if (message.method === 'turn/completed') {
        yield endPiece(objectAt(params, 'turn'), said);
        return;
      }
    }
    if (isServed && begin) {
      begin();
      begin = undefined;
    }
  }
}

/** @throws UNAVAILABLE if Codex answered a request with an error. */
function requireResult(message: JsonObject): JsonObject | undefined {
  const error = objectAt(message, 'error');
  if (error && message.id !== undefined)
    throw new StemmaError('UNAVAILABLE', `Codex refused the work: ${stringAt(error, 'message') ?? 'no reason given'}`);
  return objectAt(message, 'result');
}

/** The text of a message that Codex has completed. */
const saidIn = (method: Json, params: JsonObject): string | undefined => {
  const item = method === 'item/completed' ? objectAt(params, 'item') : undefined;
  return item?.type === 'agentMessage' ? stringAt(item, 'text') : undefined;
};

/** Whether Stemma's tools are ready, or did not start. */
const isServing = (method: Json, { name: server, status }: JsonObject): boolean =>
  method === 'mcpServer/startupStatus/updated' && server === 'stemma' && status !== 'starting';

function endPiece(turn: JsonObject | undefined, said: string): AgentPiece {
  const failure = stringAt(objectAt(turn, 'error'), 'message');
  return { kind: 'end', text: failure ?? said, isError: turn?.status !== 'completed' };
}

const maxSessionBytes = 512 * 1024 * 1024;

/**
 * Removes the session file that Stemma wrote, and returns a function that writes it back with another model provider. Codex reads all sessions when
 * it starts, resumes a session only with the provider that the session names, and refuses to change it. Rules become the first message of the session.
 */
function holdSession(path: string): (provider: string, rules: string | undefined) => void {
  const text = readInside(dirname(path), path, { limit: maxSessionBytes }).toString('utf8');
  const end = text.indexOf('\n');
  removeInside(dirname(path), path);
  return (provider, rules) => {
    const first = parseJson(text.slice(0, end));
    const meta = objectAt(first, 'payload');
    const named = isObject(first) && meta ? JSON.stringify({ ...first, payload: { ...meta, model_provider: provider } }) : text.slice(0, end);
    // Codex puts its own developer instructions after the session that it resumes.
    const payload = { type: 'message', role: 'developer', content: [{ type: 'input_text', text: rules ?? '' }] };
    const told = rules === undefined ? '' : `\n${JSON.stringify({ timestamp: stringAt(first, 'timestamp'), type: 'response_item', payload })}`;
    replaceFile(path, `${named}${told}${text.slice(end)}`);
  };
}

function* notified(method: string, params: JsonObject): Generator<AgentPiece> {
  const item = objectAt(params, 'item');
  switch (method) {
    case 'item/agentMessage/delta':
      yield { kind: 'text', delta: stringAt(params, 'delta') ?? '' };
      return;
    case 'item/reasoning/textDelta':
    case 'item/reasoning/summaryTextDelta':
      yield { kind: 'thinking', delta: stringAt(params, 'delta') ?? '' };
      return;
    case 'item/started':
      if (item && isTool(item)) yield { kind: 'call', text: JSON.stringify(argumentsOf(item)), toolName: toolOf(item) };
      return;
    case 'item/completed':
      if (item && isTool(item))
        yield { kind: 'result', text: stringAt(item, 'aggregatedOutput') ?? stringAt(item, 'status') ?? '', toolName: toolOf(item) };
      return;
    case 'thread/tokenUsage/updated': {
      const last = objectAt(objectAt(params, 'tokenUsage'), 'last');
      const [input, cacheRead] = [numberIn(last?.inputTokens), numberIn(last?.cachedInputTokens)];
      const tokens = { input: input === null ? null : input - (cacheRead ?? 0), output: numberIn(last?.outputTokens), cacheRead, cacheWrite: null };
      yield { kind: 'usage', tokens, model: null, cost: null };
      return;
    }
    case 'mcpServer/startupStatus/updated':
      if (params.status === 'failed')
        yield { kind: 'notice', text: `The MCP server ${stringAt(params, 'name') ?? ''} did not start: ${stringAt(params, 'error') ?? ''}` };
      return;
    case 'error':
      yield { kind: 'notice', text: stringAt(objectAt(params, 'error'), 'message') ?? 'Codex reported an error.' };
  }
}

const isTool = ({ type }: JsonObject): boolean => type === 'commandExecution' || type === 'fileChange' || type === 'mcpToolCall';
const toolOf = (item: JsonObject): string =>
  item.type === 'mcpToolCall' ? (stringAt(item, 'tool') ?? 'mcp') : item.type === 'fileChange' ? 'apply_patch' : 'shell';
const argumentsOf = ({ command, changes, arguments: given }: JsonObject): Json =>
  given ?? (command === undefined ? { changes: changes ?? [] } : { command });

/** Handles a request of the server. Approvals go to a person; any other request is refused, so that the agent does not wait for it. */
function* requestIn(message: JsonObject, program: LineProgram): Generator<AgentPiece> {
  const params = objectAt(message, 'params') ?? {};
  const isCommand = message.method === 'item/commandExecution/requestApproval';
  const reply = (result: object): void => program.send({ id: message.id, result });
  if (!isCommand && message.method !== 'item/fileChange/requestApproval') {
    // An elicitation would come from Stemma's own MCP server, which never sends one.
    if (message.method === 'mcpServer/elicitation/request') return reply({ action: 'decline', content: null, _meta: null });
    return program.send({ id: message.id, error: { code: -32601, message: 'Stemma does not support this request.' } });
  }
  yield {
    kind: 'question',
    requestId: `${stringAt(params, 'itemId') ?? ''}:${JSON.stringify(message.id)}`,
    toolName: isCommand ? 'shell' : 'apply_patch',
    arguments: isCommand ? { command: params.command ?? null, cwd: params.cwd ?? null } : { reason: params.reason ?? null },
    answer: (allow) => reply({ decision: allow ? 'accept' : 'decline' }),
  };
}
