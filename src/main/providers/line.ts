import { setTimeout as wait } from 'node:timers/promises';
import { ORPCError } from '@orpc/server';
import { EventSourceParserStream } from 'eventsource-parser/stream';
import { attempt, defined } from '../../core/base/index.js';
import type { ReplyPiece } from '../../core/project/index.js';

export interface Endpoint {
  readonly url: string;
  /** Called for each request, because the key may have changed. */
  readonly headers: () => Promise<Readonly<Record<string, string>>>;
  /** The name of the provider in messages. */
  readonly name: string;
}

export type Key = string | (() => Promise<string | undefined>);

/** The server of a provider, with its key if it needs one. */
export interface Server {
  readonly url: string;
  readonly id: string;
  readonly title: string;
  readonly key?: Key | undefined;
}

/** Returns the key. @throws UNAVAILABLE if the provider has no key */
export async function requireKey(key: Key | undefined, name: string): Promise<string> {
  const found = typeof key === 'function' ? await key() : key;
  if (!found) throw unavailable({ name }, 'it has no key. Set one in the settings or in the environment');
  return found;
}

const attempts = 3;
/** The longest wait before a retry, in milliseconds. If a provider asks to wait longer, the call fails and says when to retry. */
const maxWaitMs = 60_000;
const defaultWaitMs = 1_000;
/** HTTP statuses after which to retry: rate limits and an overloaded or failing provider. */
const retryable = new Set([408, 409, 429, 500, 502, 503, 504, 529]);

/** An event of the reply, or a pause before a retry. */
type Incoming =
  | { readonly kind: 'event'; readonly value: Record<string, unknown> }
  | { readonly kind: 'waiting'; readonly ms: number; readonly reason: string };

/** Posts a body and yields the pieces that `read` finds in each event of the reply. It returns whether the reply is then complete. */
export async function* piecesOf(
  endpoint: Endpoint,
  path: string,
  body: unknown,
  signal: AbortSignal | undefined,
  read: (event: Record<string, unknown>) => Generator<ReplyPiece, boolean>,
): AsyncGenerator<ReplyPiece> {
  let isComplete = false;
  for await (const incoming of events(endpoint, path, body, signal))
    if (incoming.kind === 'waiting') yield incoming;
    else if (yield* read(incoming.value)) isComplete = true;
  if (!isComplete && !signal?.aborted) throw unavailable(endpoint, 'the reply is incomplete');
}

/** The usage of a call. The input tokens of these providers include the tokens read from the cache. */
export const countedIn = (input: number | undefined, output: number | undefined, cacheRead: number | undefined) => ({
  kind: 'usage' as const,
  tokens: defined({ input: input === undefined ? undefined : input - (cacheRead ?? 0), output, cacheRead }),
});

/** Posts a body and yields the events of the reply. Retries if the provider asks for it. Ends without an error when the signal aborts. */
async function* events(endpoint: Endpoint, path: string, body: unknown, signal: AbortSignal | undefined): AsyncGenerator<Incoming> {
  try {
    const response = yield* post(endpoint, path, body, signal);
    if (!response.body) throw unavailable(endpoint, 'the reply is empty');
    const stream = response.body.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
    for await (const { data } of stream) {
      if (data === '[DONE]') return;
      yield { kind: 'event', value: eventIn(endpoint, data) };
    }
  } catch (error) {
    if (signal?.aborted) return;
    throw error instanceof ORPCError ? error : unavailable(endpoint, `the reply broke off (${describeError(error)})`);
  }
}

async function* post(endpoint: Endpoint, path: string, body: unknown, signal: AbortSignal | undefined): AsyncGenerator<Incoming, Response> {
  for (let attempt = 1; ; attempt++) {
    const response = await send(endpoint, path, body, signal);
    if (response.ok) return response;
    const said = (await response.text().catch(() => '')).slice(0, 2_000);
    const reason = `it answered ${response.status}: ${reasonIn(said)}`;
    if (!retryable.has(response.status)) throw unavailable(endpoint, reason, { status: response.status });
    const ms = waitOf(response, attempt);
    const facts = { status: response.status, retryAfterMs: ms };
    if (ms > maxWaitMs) throw unavailable(endpoint, `${reason}. Retry in ${Math.ceil(ms / 60_000)} minutes`, facts);
    if (attempt >= attempts) throw unavailable(endpoint, `${reason} (${attempts} times)`, facts);
    yield { kind: 'waiting', ms, reason: `${endpoint.name}: ${reason}` };
    await wait(ms, undefined, { ...(signal && { signal }) });
  }
}

async function send(endpoint: Endpoint, path: string, body: unknown, signal: AbortSignal | undefined): Promise<Response> {
  const headers = await endpoint.headers();
  const request: RequestInit = {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
    redirect: 'error',
    ...(signal && { signal }),
  };
  try {
    return await fetch(endpoint.url + path, request).catch((error: unknown) => {
      if (!isHungUp(error)) throw error;
      return fetch(endpoint.url + path, request);
    });
  } catch (error) {
    throw unavailable(endpoint, `it cannot be reached (${describeError(error)})`);
  }
}

/** Whether the server closed the connection before it answered, as many close idle ones. The request is then sent once more on a new one. */
function isHungUp(error: unknown): boolean {
  const code = error instanceof Error && error.cause instanceof Error && 'code' in error.cause ? error.cause.code : undefined;
  return code === 'UND_ERR_SOCKET' || code === 'ECONNRESET';
}

/** The wait before the next attempt in milliseconds: from `retry-after` (seconds or a date), else a growing default. */
function waitOf(response: Response, attempt: number): number {
  const said = response.headers.get('retry-after') ?? '';
  const ms = Number(said) * 1_000 || Date.parse(said) - Date.now();
  return Number.isFinite(ms) && ms > 0 ? ms : defaultWaitMs * 2 ** (attempt - 1);
}

function eventIn(endpoint: Endpoint, data: string): Record<string, unknown> {
  const value: unknown = attempt(() => JSON.parse(data));
  if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  throw unavailable(endpoint, `the reply is not JSON: ${data.slice(0, 200)}`);
}

/** The provider's error message, or the text of its reply. */
function reasonIn(said: string): string {
  const answer = attempt(() => JSON.parse(said) as { error?: { message?: unknown } } | null);
  const message = answer?.error?.message;
  return typeof message === 'string' ? message : said || 'no reason given';
}

const describeError = (error: unknown): string => {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return cause instanceof Error ? cause.message : String(cause);
};

/** The error of a provider that cannot answer. */
export const unavailable = (endpoint: Pick<Endpoint, 'name'>, what: string, data: Record<string, unknown> = {}): ORPCError<string, unknown> =>
  new ORPCError('UNAVAILABLE', { message: `${endpoint.name} did not answer: ${what}`, data: { provider: endpoint.name, ...data }, status: 503 });

const unlisted = new Set([404, 405, 501]);

function namesIn(list: string): string[] {
  const { data, models } = attempt(() => JSON.parse(list) as { data?: unknown; models?: unknown } | null) ?? {};
  if (Array.isArray(data)) return data.flatMap((model: { id?: unknown } | null) => (typeof model?.id === 'string' ? [model.id] : []));
  return Array.isArray(models) ? models.flatMap(answeringModel) : [];
}

/** The name of a model, if it can answer. Gemini also lists other models, such as models for embeddings. */
function answeringModel(model: { name?: unknown; supportedGenerationMethods?: unknown } | null): string[] {
  const methods = model?.supportedGenerationMethods;
  if (typeof model?.name !== 'string' || (Array.isArray(methods) && !methods.includes('generateContent'))) return [];
  return [model.name.replace(/^models\//, '')];
}

/** The default time limit for listing models, in milliseconds. */
const defaultListMs = 5_000;

/** Lists the models of an endpoint, in either of the two known forms. */
export async function modelsOf(endpoint: Endpoint, path: string, timeoutMs = defaultListMs): Promise<{ models: string[]; problem?: string }> {
  try {
    const response = await fetch(endpoint.url + path, {
      headers: await endpoint.headers(),
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
    });
    // Some endpoints cannot list models but answer if the request names a model.
    if (unlisted.has(response.status)) return { models: [] };
    if (!response.ok) return { models: [], problem: `it answered ${response.status} when listing its models` };
    return { models: namesIn(await response.text()) };
  } catch (error) {
    return { models: [], problem: `it cannot be reached (${describeError(error)})` };
  }
}

/** Parses the arguments of a call. Text that is not JSON stays text. */
export function argumentsIn(json: string): unknown {
  if (json.trim() === '') return {};
  try {
    return JSON.parse(json);
  } catch {
    return json;
  }
}
