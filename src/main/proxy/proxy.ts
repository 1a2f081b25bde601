import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Provider } from '../../core/contract/index.js';
import { closeNow, isOurs, limitSilent, listen, serverOptions, slowLimits } from '../connections/index.js';
import type { ContractClient } from '../launch/index.js';
import { decoded, maxCopyBytes } from './decode.js';
import { jsonWithoutSecrets, secretsOf, withoutSecrets } from './secrets.js';
import { pathAt, providerIn, type Upstreams } from './upstreams.js';

/** A completed call, as the input of `request.capture`. */
export type SeenCall = Parameters<ContractClient['request']['capture']>[0];

export interface ProxyOptions {
  readonly upstreams: Upstreams;
  /** The default is 0: any free port. */
  readonly port?: number;
  readonly record: (call: SeenCall) => Promise<unknown>;
  /** Receives the errors of calls that could not be recorded. */
  readonly problem: (error: Error) => void;
}

export interface RunningProxy {
  readonly port: number;
  /** The base address for clients of a provider. */
  base(provider: Provider): string;
  /** Ends all connections, and resolves when all calls so far are recorded. */
  close(): Promise<void>;
}

/** Loaded when a proxy starts, because these modules load all of Node's network code, which would take a fifth of every command's start. */
const http = () => process.getBuiltinModule('node:http');
const https = () => process.getBuiltinModule('node:https');

/** Starts a proxy on 127.0.0.1. Rejects if the port is in use. */
export async function startProxy({ upstreams, port = 0, record, problem }: ProxyOptions): Promise<RunningProxy> {
  const pending = new Set<Promise<void>>();
  const over = (call: PassedCall): void => {
    const captured = seenCall(call)
      .then((seen) => seen && record(seen))
      .then(() => undefined, problem)
      .finally(() => pending.delete(captured));
    pending.add(captured);
  };
  // The client and the provider decide how long a call may take.
  const server = http().createServer(serverOptions({ ...slowLimits, requestMs: 0 }), (request, response) => {
    const target = isOurs(request) ? providerIn(request.url ?? '') : undefined;
    if (!target) return refuse(response, 404, 'Stemma records calls to /anthropic, /openai and /gemini here, from programs on this machine.');
    pass(request, response, upstreams[target.provider], { ...target, over });
  });
  limitSilent(server);
  const bound = await listen(server, port, '127.0.0.1');
  return {
    port: bound,
    base: (provider) => `http://127.0.0.1:${bound}/${provider}`,
    async close() {
      await closeNow(server);
      while (pending.size > 0) await Promise.all(pending);
    },
  };
}

function refuse(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ error: { type: 'stemma_proxy', message } }));
}

interface PassedCall {
  readonly provider: Provider;
  readonly at: Date;
  readonly path: string;
  readonly request: IncomingMessage;
  readonly body: Copy;
  readonly answer: IncomingMessage | undefined;
  readonly reply: Copy;
}

interface Target {
  readonly provider: Provider;
  readonly rest: string;
  readonly over: (call: PassedCall) => void;
}

/** Forwards a call and its reply piece by piece, no faster than the other end reads. If one connection breaks, the other is closed too. */
function pass(request: IncomingMessage, response: ServerResponse, upstream: URL, { provider, rest, over }: Target): void {
  const at = new Date();
  const path = pathAt(upstream, rest);
  const [body, reply] = [emptyCopy(), emptyCopy()];
  addTo(body, request);
  let answer: IncomingMessage | undefined;
  const send = upstream.protocol === 'https:' ? https().request : http().request;
  // Each call gets its own connection, because the server may close a kept connection just when a call is sent on it.
  const onward = send({
    hostname: upstream.hostname.replace(/^\[|\]$/g, ''),
    port: upstream.port,
    path,
    method: request.method,
    headers: ['Host', upstream.host, ...endToEnd(request.rawHeaders, ['host', 'expect'])],
    agent: false,
  });
  onward.on('response', (incoming) => {
    answer = incoming;
    response.sendDate = false;
    response.writeHead(incoming.statusCode ?? 502, incoming.statusMessage, endToEnd(incoming.rawHeaders));
    response.flushHeaders();
    addTo(reply, incoming);
    incoming.pipe(response);
    // The received part is still written. Then the client must see a broken connection and not a normal end.
    incoming.on('error', () => response.socket?.destroySoon());
  });
  onward.on('error', (error) => {
    if (response.headersSent) response.socket?.destroySoon();
    else refuse(response, 502, `${upstream.host} does not answer: ${error.message}`);
  });
  request.on('error', () => onward.destroy());
  response.on('close', () => {
    if (!response.writableFinished) onward.destroy();
    over({ provider, at, path, request, body, answer, reply });
  });
  request.pipe(onward);
}

/** Headers that belong to the connection and not to the message. */
const ofConnection = ['connection', 'keep-alive', 'proxy-authenticate', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade'];

/** Raw headers (alternating names and values) in their order and spelling, without those of the connection. */
function endToEnd(raw: readonly string[], without: readonly string[] = []): string[] {
  const pairs = raw.flatMap((name, at) => (at % 2 === 0 ? [[name, raw[at + 1] ?? ''] as const] : []));
  const named = pairs.flatMap(([name, value]) => (name.toLowerCase() === 'connection' ? value.toLowerCase().split(/\s*,\s*/) : []));
  const left = new Set([...ofConnection, ...named, ...without]);
  return pairs.filter(([name]) => !left.has(name.toLowerCase())).flat();
}

/** A copy of a stream. It is dropped if it exceeds `maxCopyBytes`. */
interface Copy {
  readonly chunks: Buffer[];
  size: number;
}

const emptyCopy = (): Copy => ({ chunks: [], size: 0 });

function addTo(copy: Copy, stream: IncomingMessage): void {
  stream.on('data', (chunk: Buffer) => {
    copy.size += chunk.length;
    if (copy.size <= maxCopyBytes) copy.chunks.push(chunk);
    else copy.chunks.length = 0;
  });
}

/** The paths of calls to a model. Other paths count tokens or list models. */
const asks: Readonly<Record<Provider, RegExp>> = {
  anthropic: /\/messages$/,
  openai: /\/(responses|chat\/completions)$/,
  gemini: /:(generateContent|streamGenerateContent)$/,
};

/** The request headers to record: headers that affect the reply, and the name of the calling program. */
const seenHeaders = ['anthropic-version', 'anthropic-beta', 'openai-beta', 'user-agent'];

/** The input of `request.capture`; undefined if the request was not a call to a model, or if its body is incomplete. */
async function seenCall({ provider, at, path, request, body, answer, reply }: PassedCall): Promise<SeenCall | undefined> {
  const { pathname, searchParams } = new URL(path, 'http://upstream');
  if (request.method !== 'POST' || !asks[provider].test(pathname) || !request.complete) return undefined;
  if (body.size > maxCopyBytes) throw new Error(`a body of ${body.size} bytes is too large to be recorded`);
  const secrets = secretsOf(request.headers, searchParams);
  const sent = jsonWithoutSecrets(await decoded(Buffer.concat(body.chunks), request.headers['content-encoding']), secrets);
  if (!sent) throw new Error(`the body of a call to ${withoutSecrets(pathname, secrets)} is not JSON`);
  const replied = await decoded(Buffer.concat(reply.chunks), answer?.headers['content-encoding']).catch(() => '');
  const headers = seenHeaders.flatMap((name) => {
    const value = request.headers[name];
    return value === undefined ? [] : [[name, withoutSecrets(String(value), secrets)] as const];
  });
  return {
    provider,
    path: withoutSecrets(pathname, secrets),
    at: at.toISOString(),
    headers: Object.fromEntries(headers),
    body: sent.text,
    status: answer?.statusCode ?? null,
    reply: withoutSecrets(replied, secrets),
    ...(sent.found && { withheld: ['credentials'] }),
  };
}
