import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { limitSilent, listen, serverOptions, slowLimits } from '../connections/index.js';
import { built, type ClientKind, type EngineOptions } from '../launch/index.js';
import { sayError } from '../terminal/index.js';
import { answerFor, answerWith, type FileAnswer, plain, securityHeaders } from '../window/index.js';
import { cookieName, type DoorSecrets, findCaller, mayAct, refuseForeign } from './doorkeeper.js';
import { type Engines, openEngines } from './engines.js';
import { type LinkCodes, linkCodes, newSecret } from './link.js';
import type { SpanDoor } from './otlp.js';
import { newLinkPath, signInAnswer } from './sign-in.js';
import { openSockets, refuseUpgrade } from './sockets.js';

export interface Host {
  /** The link that opens a session in a browser, once. */
  readonly url: string;
  readonly port: number;
  /** Ends all connections and the engine. */
  close(): Promise<void>;
}

export interface HostOptions {
  readonly engine: EngineOptions;
  readonly version: string;
  /** 0 takes any free port. */
  readonly port?: number;
  readonly address?: string;
  /** The bearer token that scripts send. Without it, scripts are refused. */
  readonly bearer?: string | undefined;
  /** Shows a person a new link that a browser requested. */
  readonly onNewLink?: (url: string) => void;
}

/** Whether an address is one of this machine's loopback addresses. */
export const isLoopback = (address: string): boolean => address === 'localhost' || address === '::1' || /^127(\.\d{1,3}){3}$/.test(address);

/** Connections that may be open at once: far more than windows need, and few enough for a machine to hold. */
const maxConnections = 500;

interface Context {
  readonly options: HostOptions;
  readonly door: DoorSecrets & { readonly sessions: Set<string> };
  readonly links: LinkCodes;
  readonly engines: Engines;
  /** Receives spans from the first export on. */
  spans?: Promise<SpanDoor>;
  linkUrl(code: string): string;
}

/** Serves the window and the contract on loopback. @throws Error for another address, a taken port, or an engine that does not start */
export async function startHost(options: HostOptions): Promise<Host> {
  const { address = '127.0.0.1' } = options;
  if (!isLoopback(address)) throw new Error(`Stemma serves on loopback only. ${address} is not a loopback address (127.0.0.1, ::1, localhost).`);
  const engines = openEngines(options.engine);
  // An import of this module would load all of Node's code for the network, which is a tenth of the start.
  const server = process.getBuiltinModule('node:http').createServer(serverOptions(), (request, response) => {
    answer(context, request, response).catch((error: unknown) => {
      sayError(error);
      if (!response.headersSent) send(request, response, plain(500, 'Stemma could not answer because of an internal error. The terminal shows it.'));
      else response.destroy();
    });
  });
  server.maxConnections = maxConnections;
  limitSilent(server, slowLimits, true);
  const port = await listen(server, options.port ?? 0, address).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'EADDRINUSE' ? new Error(`Port ${options.port} is taken. Name another one with --port; 0 takes any free port.`) : error;
  });
  const context: Context = {
    options,
    door: { port, sessions: new Set(), bearer: options.bearer },
    links: linkCodes(),
    engines,
    linkUrl: (code) => `http://${address === '::1' ? '[::1]' : address}:${port}/?token=${code}`,
  };
  const sockets = openSockets();
  server.on('upgrade', (request, socket, head) => {
    // Without a listener, an error of this socket would end the process.
    socket.on('error', () => socket.destroy());
    const caller = admitUpgrade(context.door, request, socket);
    if (caller) sockets.accept(request, socket, head, () => engines.connect(caller));
  });
  const close = async (): Promise<void> => {
    sockets.close();
    server.close();
    server.closeAllConnections();
    await context.spans?.then((spans) => spans.close());
    await engines.close();
  };
  // Starts the engine now, so that a failure is known before the first window connects.
  await engines.start().catch(async (error: unknown) => {
    await close().catch(() => undefined);
    throw error;
  });
  return { url: context.linkUrl(context.links.current() ?? ''), port, close };
}

/** The path and query of a request; undefined if its target is not a path. */
function parseTarget({ url = '/' }: IncomingMessage): URL | undefined {
  return url.startsWith('/') && URL.canParse(`http://host${url}`) ? new URL(`http://host${url}`) : undefined;
}

/** Whether a path is a procedure of the contract, whose errors must have the contract's form. */
const isCall = ({ pathname }: URL): boolean => pathname.startsWith('/api/') || pathname.startsWith('/projects/');

const unknownCaller = {
  code: 'UNAUTHORIZED',
  message: 'The call has no valid bearer. Scripts send the bearer of stemma web --bearer-file PATH as "Authorization: Bearer …".',
  data: { field: 'authorization' },
};

async function answer(context: Context, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { door, links, engines, options } = context;
  const { headers, method } = request;
  const refusal = refuseForeign(headers, door.port);
  if (refusal) return send(request, response, plain(403, refusal));
  const url = parseTarget(request);
  if (!url) return send(request, response, plain(400, 'The address of the request is not a path.'));
  if (url.pathname === newLinkPath && method === 'POST') return send(request, response, printNewLink(context, headers.accept));

  const isRead = method === 'GET' || method === 'HEAD';
  const caller = findCaller(headers, door);
  const code = url.pathname === '/' && method === 'GET' ? url.searchParams.get('token') : null;
  if (code !== null) {
    const state = links.take(code);
    if (state === 'current') return send(request, response, openSession(door, url));
    // A signed-in browser may open its old link again.
    if (caller === undefined) return send(request, response, signInAnswer(state, headers.accept));
    return send(request, response, redirect(url));
  }
  if (!caller && isCall(url) && !headers.accept?.includes('text/html')) return send(request, response, json(JSON.stringify(unknownCaller), 401));
  if (!caller) return send(request, response, signInAnswer('no link', headers.accept));
  if (!isRead && !mayAct(caller, headers)) return send(request, response, plain(403, 'A request with the cookie must name its Origin.'));

  if (url.pathname === '/api/openapi.json') {
    const { openApi } = await import('./api.js');
    return send(request, response, json(await openApi(options.version)));
  }
  if (caller === 'script' && url.pathname.startsWith('/v1/')) {
    const { isExportPath } = await import('../otlp/index.js');
    if (isExportPath(url.pathname)) return (await spanDoor(context)).answer(request, response, url.pathname);
  }
  if (isCall(url)) {
    const { answerApi } = await import('./api.js');
    for (const [name, value] of Object.entries({ ...securityHeaders, 'cache-control': 'no-store' })) response.setHeader(name, value);
    return answerApi(request, response, await engines.connect(caller), options.engine.startup.project);
  }
  if (!isRead) return send(request, response, plain(405, 'Only GET and HEAD are answered here.'));
  send(request, response, await answerFor(built('renderer'), url.pathname));
}

function spanDoor(context: Context): Promise<SpanDoor> {
  const { engines, options } = context;
  context.spans ??= import('./otlp.js').then(({ openSpanDoor }) =>
    openSpanDoor(() => engines.connect('script'), options.engine.dataDir, options.engine.startup.project),
  );
  return context.spans;
}

/** The caller of an upgrade request, or undefined after the upgrade was refused. */
function admitUpgrade(door: DoorSecrets, request: IncomingMessage, socket: Duplex): ClientKind | undefined {
  const refuse = (status: number, reason: string): undefined => void refuseUpgrade(socket, status, reason);
  if (refuseForeign(request.headers, door.port)) return refuse(403, 'Forbidden');
  const caller = findCaller(request.headers, door);
  if (!caller || !mayAct(caller, request.headers)) return refuse(403, 'Forbidden');
  return parseTarget(request)?.pathname === '/rpc' ? caller : refuse(404, 'Not Found');
}

/** Signs the browser in with a cookie for this host only, and removes the code from its address. */
function openSession(door: Context['door'], url: URL): FileAnswer {
  const session = newSecret();
  door.sessions.add(session);
  const answer = redirect(url);
  return { ...answer, headers: { ...answer.headers, 'set-cookie': `${cookieName(door.port)}=${session}; Path=/; HttpOnly; SameSite=Strict` } };
}

function redirect(url: URL): FileAnswer {
  const query = new URLSearchParams(url.searchParams);
  query.delete('token');
  const search = query.size ? `?${query}` : '';
  return { ...plain(303, ''), headers: { ...securityHeaders, location: `/${search}`, 'cache-control': 'no-store' } };
}

/** Prints a new link in the terminal, which only its owner sees. Anybody may ask: a valid link is not replaced, so repeating does no harm. */
function printNewLink({ links, options, linkUrl }: Context, accept: string | undefined): FileAnswer {
  if (links.current() === undefined) options.onNewLink?.(linkUrl(links.renew()));
  return signInAnswer('printed', accept);
}

const json = (text: string, status = 200): FileAnswer => answerWith(status, 'application/json', text);

function send(request: IncomingMessage, response: ServerResponse, { status, headers, body }: FileAnswer): void {
  response.writeHead(status, { ...headers, 'content-length': body.byteLength });
  response.end(request.method === 'HEAD' ? undefined : body);
}
