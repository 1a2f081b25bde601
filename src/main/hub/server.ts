import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { sql } from 'kysely';
import { limitSilent, listen, type SlowLimits, serverOptions, slowLimits } from '../connections/index.js';
import { newToken } from './access.js';
import { type HubDatabase, proveUsable } from './database.js';
import { openCommitFormats } from './items.js';
import { openHubMetrics } from './metrics.js';
import type { HubObjects } from './objects.js';
import type { Oidc } from './oidc.js';
import { openRefusals } from './refusals.js';
import { type CallLimits, type HubDoor, openDoor, usualLimits } from './rpc.js';
import { openShareRoute } from './shared-web.js';
import { openShareViews } from './shares.js';
import { openHubSpans } from './spans.js';
import { createTlsServer, type TlsFiles } from './tls.js';

export type RunningHub = Awaited<ReturnType<typeof serveHub>>;

export interface HubOptions {
  readonly database: HubDatabase;
  readonly objects: HubObjects;
  readonly port: number;
  readonly host: string;
  readonly oidc?: Oidc | undefined;
  /** The folder of this process for received spans. Without it, the hub receives no spans. */
  readonly spans?: string | undefined;
  /** Called when background work failed. The message contains no content. */
  readonly onProblem?: ((message: string) => void) | undefined;
  /** Without it, the hub serves HTTP without TLS. */
  readonly tls?: TlsFiles | undefined;
  /** The port on loopback that answers metrics without a token. Without it, metrics need the token of an admin of the hub. */
  readonly metricsPort?: number | undefined;
  readonly limits?: Partial<CallLimits> | undefined;
  /** What a connection that does not get ahead is allowed. */
  readonly slow?: SlowLimits | undefined;
  /** Called for each answered request. The line contains no content. */
  readonly onRequest?: ((entry: { readonly at: string; readonly path: string; readonly status: number; readonly ms: number }) => void) | undefined;
  /** Called after the certificate was read again, with the problem if that failed. */
  readonly onCertificate?: ((problem: string | undefined) => void) | undefined;
}

/**
 * Serves a hub over HTTP, or with TLS: `/rpc` for clients, `/v1/traces` for spans, `/oidc` for clients that sign in, `/health` for load balancers. A
 * hub keeps no shared state in memory, so any number of hubs can serve one database and bucket.
 */
export async function serveHub(options: HubOptions) {
  const { database, oidc, tls, onCertificate = () => {}, onProblem = () => {}, slow = { ...slowLimits, silent: 2_000 } } = options;
  const metrics = openHubMetrics(database.pool);
  const refusals = openRefusals(database);
  const services = { database, objects: options.objects, oidc, viewOf: openShareViews(), formatsIn: openCommitFormats() };
  const door = openDoor({ ...services, metrics, refusals, onProblem }, { ...usualLimits, ...options.limits });
  const answerShare = openShareRoute(services, door);
  const isHealthy = openHealth(database);
  const spans = options.spans === undefined ? undefined : openHubSpans({ ...services, metrics, refusals }, options.spans, onProblem, door);
  const listener: RequestListener = (request, response) => {
    const started = performance.now();
    // The secret of a share link stays out of the log.
    const path = ((request.url ?? '').split('?')[0] ?? '').replace(/^(\/share\/[^/]+\/)[^/]+/, '$1…');
    response.on('close', () =>
      options.onRequest?.({ at: new Date().toISOString(), path, status: response.statusCode, ms: Math.round(performance.now() - started) }),
    );
    if (path === '/health') {
      void isHealthy().then((ok) => response.writeHead(ok ? 200 : 503, { 'content-type': 'application/json' }).end(JSON.stringify({ ok })));
      return;
    }
    if (path === '/metrics')
      return void mayScrape(door, request).then((may) =>
        may
          ? metrics.answer(request, response)
          : response
              .writeHead(403, { 'content-type': 'text/plain' })
              .end('Give a token of an admin of the hub, or start the hub with --metrics-port.\n'),
      );
    if (door.answer(request, response, path) || answerShare(request, response) || spans?.answer(request, response, path)) return;
    if (path === '/oidc' && oidc) return void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(oidc.about));
    response
      .writeHead(404, { 'content-type': 'text/plain', connection: 'close' })
      .end('This is a Stemma hub. Connect with `stemma clone` or `stemma push`.\n');
  };
  const server = tls ? createTlsServer(tls, listener, onCertificate, slow) : createServer(serverOptions(slow), listener);
  limitSilent(server, slow);
  // Longer than clients keep idle connections, so that the hub does not close a connection while a request is on its way.
  server.keepAliveTimeout = idleMs;
  server.setTimeout(stillMs);
  const bound = await listen(server, options.port, options.host);
  const scraped = options.metricsPort === undefined ? undefined : createServer(serverOptions(slow), metrics.answer);
  if (scraped) limitSilent(scraped, slow);
  return {
    port: bound,
    /** The port of the metrics, if they have one of their own. */
    metricsPort: scraped && (await listen(scraped, options.metricsPort as number, '127.0.0.1')),
    close: (): Promise<void> =>
      new Promise((resolve) => {
        scraped?.close();
        scraped?.closeAllConnections();
        server.close(() => void Promise.resolve(spans?.close()).then(refusals.close).then(metrics.close).then(resolve));
        server.closeIdleConnections();
        setTimeout(() => server.closeAllConnections(), closeMs).unref();
      }),
  };
}

/** Milliseconds that running calls get before the hub ends. */
const closeMs = 2_000;
/** Milliseconds after which a connection is closed on which nothing moves, although an answer is on its way: longer than any call takes. */
const stillMs = 120_000;
const idleMs = 75_000;

/** True for admins of the whole hub. */
const mayScrape = (door: HubDoor, request: IncomingMessage): Promise<boolean> =>
  door.admit(request, 'metrics', async ({ grants }) => grants.some(({ role, project }) => role === 'admin' && project === null)).catch(() => false);

/** Asks the database for all who ask at the same time: nobody needs a token for that, so it must not cost a connection for each. */
function openHealth(database: HubDatabase): () => Promise<boolean> {
  let asked: Promise<boolean> | undefined;
  return () => {
    asked ??= proveUsable(database)
      .then(() => true)
      .catch(() => false)
      .finally(() => {
        asked = undefined;
      });
    return asked;
  };
}

/** Makes the first admin token of a hub. Undefined if it has one. */
export async function firstToken({ all }: HubDatabase): Promise<string | undefined> {
  return all.transaction().execute(async (tx) => {
    // The lock makes two hubs that start at once create only one token.
    await sql`LOCK TABLE token IN SHARE ROW EXCLUSIVE MODE`.execute(tx);
    if (await tx.selectFrom('token').select('no').where('role', '=', 'admin').limit(1).executeTakeFirst()) return undefined;
    const { token, hash } = newToken();
    await tx.insertInto('token').values({ hash, name: 'admin', role: 'admin' }).execute();
    return token;
  });
}
