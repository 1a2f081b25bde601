import { type JsonObject, StemmaError, stringAt } from '../../core/base/index.js';
import type { AgentOrder, AgentPiece } from '../../core/project/index.js';
import { arrayAt, type LineProgram, numberIn, objectAt } from './lines.js';

/** The parts of a turn that differ between agents. */
export interface AcpSession {
  readonly title: string;
  readonly program: LineProgram;
  readonly order: AgentOrder;
  readonly mcp:
    | { readonly command: string; readonly args: readonly string[]; readonly env: Readonly<Record<string, string | undefined>> }
    | undefined;
  /** The id under which the agent knows the session to load; undefined for a new one. */
  readonly load: string | undefined;
  /** Called with the id of the session as soon as it is known. */
  opened(sessionId: string): void;
}

const ids = { initialize: 1, session: 2, model: 3, prompt: 4 } as const;

/** One turn over the Agent Client Protocol 1, a JSON message a line. No files or terminals are offered: the agent uses its own and asks. */
export async function* runAcp({ title, program, order, mcp, load, opened }: AcpSession): AsyncGenerator<AgentPiece> {
  const send = (id: number, method: string, params: object): void => program.send({ jsonrpc: '2.0', id, method, params });
  const calls: Calls = new Map();
  const reply: Reply = { text: '', cost: null };
  let sessionId = load ?? '';
  let isPrompted = false;
  const prompt = (): void => {
    isPrompted = true;
    send(ids.prompt, 'session/prompt', {
      sessionId,
      prompt: [order.rules, order.prompt].flatMap((text) => text ?? []).map((text) => ({ type: 'text', text })),
    });
  };
  send(ids.initialize, 'initialize', {
    protocolVersion: 1,
    clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
    clientInfo: { name: 'stemma', title: 'Stemma', version: '1' },
  });
  for await (const message of program.messages()) {
    if (message.method !== undefined) {
      if (message.id !== undefined) yield* requestIn(message, calls, program);
      // Messages before the prompt are ignored, because an agent repeats the history that it loads.
      else if (isPrompted) yield* replyIn(message, calls, reply);
      continue;
    }
    const error = objectAt(message, 'error');
    if (error) throw new StemmaError('UNAVAILABLE', `${title} refused the work: ${stringAt(error, 'message') ?? 'no reason given'}`);
    const result = objectAt(message, 'result');
    switch (message.id) {
      case ids.initialize: {
        const mcpServers = mcp ? [{ name: 'stemma', command: mcp.command, args: mcp.args, env: variables(mcp.env) }] : [];
        if (load === undefined) send(ids.session, 'session/new', { cwd: order.folder, mcpServers });
        else send(ids.session, 'session/load', { sessionId: load, cwd: order.folder, mcpServers });
        break;
      }
      case ids.session:
        sessionId = load ?? stringAt(result, 'sessionId') ?? '';
        opened(sessionId);
        yield { kind: 'session', sessionId, path: order.resume?.path };
        if (order.model === undefined) prompt();
        else send(ids.model, 'session/set_config_option', { sessionId, configId: 'model', value: order.model });
        break;
      case ids.model:
        prompt();
        break;
      case ids.prompt:
        // The cost of a loaded session contains that of earlier turns.
        yield* endPieces(result, load === undefined ? reply : { ...reply, cost: null });
        return;
    }
  }
}

/** The reply so far: the text after its last call, and the cost of the session. */
interface Reply {
  text: string;
  cost: number | null;
}

/** The pieces of the reply in an update, which are added to the reply. */
function* replyIn(message: JsonObject, calls: Calls, reply: Reply): Generator<AgentPiece> {
  const update = objectAt(objectAt(message, 'params'), 'update');
  if (!update) return;
  reply.cost = numberIn(objectAt(update, 'cost')?.amount) ?? reply.cost;
  for (const piece of updateIn(update, calls)) {
    if (piece.kind === 'text') reply.text += piece.delta;
    if (piece.kind === 'call') reply.text = '';
    yield piece;
  }
}

const variables = (env: Readonly<Record<string, string | undefined>>) =>
  Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [{ name, value }]));

function* endPieces(result: JsonObject | undefined, { text, cost }: Reply): Generator<AgentPiece> {
  const usage = objectAt(result, 'usage');
  const [input, output] = [numberIn(usage?.inputTokens), numberIn(usage?.outputTokens)];
  const tokens = { input, output, cacheRead: numberIn(usage?.cachedReadTokens), cacheWrite: numberIn(usage?.cachedWriteTokens) };
  yield { kind: 'usage', tokens, model: null, cost };
  const reason = stringAt(result, 'stopReason') ?? 'no reason';
  yield reason === 'end_turn' ? { kind: 'end', text, isError: false } : { kind: 'end', text: `it stopped (${reason})`, isError: true };
}

interface Call {
  readonly name: string;
  readonly input: JsonObject;
  readonly isTold: boolean;
}
type Calls = Map<string, Call>;

function* updateIn(update: JsonObject, calls: Calls): Generator<AgentPiece> {
  const delta = stringAt(objectAt(update, 'content'), 'text') ?? '';
  switch (update.sessionUpdate) {
    case 'agent_message_chunk':
      yield { kind: 'text', delta };
      return;
    case 'agent_thought_chunk':
      yield { kind: 'thinking', delta };
      return;
    case 'tool_call':
    case 'tool_call_update':
      yield* callIn(update, calls);
  }
}

/** A call is reported when its arguments are complete: when it runs, or when a person is asked about it. */
function* callIn(update: JsonObject, calls: Calls, isAsked = false): Generator<AgentPiece> {
  const toolCallId = stringAt(update, 'toolCallId') ?? '';
  const known = calls.get(toolCallId);
  const input = { ...known?.input, ...objectAt(update, 'rawInput') };
  const call: Call = { name: known?.name ?? stringAt(update, 'title') ?? 'tool', input, isTold: known?.isTold ?? false };
  calls.set(toolCallId, call);
  if (!call.isTold && (isAsked || update.status !== 'pending')) {
    calls.set(toolCallId, { ...call, isTold: true });
    yield { kind: 'call', text: JSON.stringify(input), toolName: call.name, toolCallId, input };
  }
  if (update.status !== 'completed' && update.status !== 'failed') return;
  const words = arrayAt(update, 'content').map((part) => stringAt(objectAt(part, 'content'), 'text') ?? '');
  yield { kind: 'result', text: words.join('\n') || (stringAt(objectAt(update, 'rawOutput'), 'output') ?? ''), toolName: call.name, toolCallId };
}

/** Handles a request of the agent. A permission request goes to a person; any other request is refused, so that the agent does not wait for it. */
function* requestIn(message: JsonObject, calls: Calls, program: LineProgram): Generator<AgentPiece> {
  const { id } = message;
  if (message.method !== 'session/request_permission')
    return program.send({ jsonrpc: '2.0', id, error: { code: -32601, message: 'Stemma does not support this request.' } });
  const params = objectAt(message, 'params');
  const asked = objectAt(params, 'toolCall') ?? {};
  yield* callIn({ ...asked, status: 'pending' }, calls, true);
  const toolCallId = stringAt(asked, 'toolCallId') ?? '';
  const { name = 'tool', input = {} } = calls.get(toolCallId) ?? {};
  const optionFor = (kind: string): string | undefined =>
    arrayAt(params, 'options')
      .filter((option) => stringAt(option, 'kind') === kind)
      .map((option) => stringAt(option, 'optionId'))[0];
  yield {
    kind: 'question',
    requestId: `${toolCallId}:${JSON.stringify(id)}`,
    toolName: name,
    arguments: input,
    answer: (allow) => {
      const optionId = optionFor(allow ? 'allow_once' : 'reject_once');
      const outcome = optionId === undefined ? { outcome: 'cancelled' } : { outcome: 'selected', optionId };
      program.send({ jsonrpc: '2.0', id, result: { outcome } });
    },
  };
}
