import { setTimeout as wait } from 'node:timers/promises';
import { ORPCError } from '@orpc/server';
import { EventSourceParserStream } from 'eventsource-parser/stream';

/** Where a provider is, and what opens it. */
export interface Endpoint {
  readonly url: string;
  /** Asked for with each call: a key may have been changed since the last. */
  readonly headers: () => Promise<Readonly<Record<string, string>>>;
  /** How the provider is called in what a person reads. */
  readonly name: string;
}

/** A key, or where it is fetched from each time that it is needed. */
export type Key = string | (() => Promise<string | undefined>);

/** @throws UNAVAILABLE where there is none. */
export async function keyOf(key: Key, name: string): Promise<string> {
  const found = typeof key === 'string' ? key : await key();
  if (!found) throw unavailable({ name }, 'it has no key: give it one in the settings, or in the environment of the process');
  return found;
}

const attempts = 3;
/** A provider that asks for more is not waited for: the person is told when to come back. */
const longestWaitMs = 60_000;
const usualWaitMs = 1_000;
/** Answers that say "later": limits, and a provider that is overloaded or out of order. */
const later = new Set([408, 409, 429, 500, 502, 503, 504, 529]);

/** What comes of a call: an event of the answer as a JSON value, or that the provider is asked again after a while. */
export type Incoming =
  | { readonly kind: 'event'; readonly value: Record<string, unknown> }
  | { readonly kind: 'waiting'; readonly ms: number; readonly reason: string };

/** Posts a body and gives the events of the answer; asks again where the provider says later. Ends quietly when it is to stop. */
export async function* events(endpoint: Endpoint, path: string, body: unknown, signal: AbortSignal | undefined): AsyncGenerator<Incoming> {
  try {
    const response = yield* posted(endpoint, path, body, signal);
    if (!response.body) throw unavailable(endpoint, 'it answered with nothing');
    const stream = response.body.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
    for await (const { data } of stream) {
      if (data === '[DONE]') return;
      yield { kind: 'event', value: eventIn(endpoint, data) };
    }
  } catch (error) {
    if (signal?.aborted) return;
    throw error instanceof ORPCError ? error : unavailable(endpoint, `its reply broke off (${messageOf(error)})`);
  }
}

async function* posted(endpoint: Endpoint, path: string, body: unknown, signal: AbortSignal | undefined): AsyncGenerator<Incoming, Response> {
  for (let attempt = 1; ; attempt++) {
    const response = await reached(endpoint, path, body, signal);
    if (response.ok) return response;
    const said = (await response.text().catch(() => '')).slice(0, 2_000);
    const reason = `it answered ${response.status}: ${reasonIn(said)}`;
    if (!later.has(response.status)) throw unavailable(endpoint, reason, { status: response.status });
    const ms = waitOf(response, attempt);
    if (ms > longestWaitMs)
      throw unavailable(endpoint, `${reason}. It asks to come back in ${Math.ceil(ms / 60_000)} minutes`, {
        status: response.status,
        retryAfterMs: ms,
      });
    if (attempt >= attempts) throw unavailable(endpoint, `${reason} (${attempts} times)`, { status: response.status, retryAfterMs: ms });
    yield { kind: 'waiting', ms, reason: `${endpoint.name}: ${reason}` };
    await pause(ms, signal);
  }
}

async function reached(endpoint: Endpoint, path: string, body: unknown, signal: AbortSignal | undefined): Promise<Response> {
  const headers = await endpoint.headers();
  try {
    return await fetch(endpoint.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
      redirect: 'error',
      ...(signal && { signal }),
    });
  } catch (error) {
    throw unavailable(endpoint, `it cannot be reached (${messageOf(error)})`);
  }
}

/** A provider's own word on when to come back: in seconds, or as a date. */
function waitOf(response: Response, attempt: number): number {
  const said = response.headers.get('retry-after') ?? '';
  const ms = Number(said) * 1_000 || Date.parse(said) - Date.now();
  return Number.isFinite(ms) && ms > 0 ? ms : usualWaitMs * 2 ** (attempt - 1);
}

const pause = (ms: number, signal: AbortSignal | undefined): Promise<void> => wait(ms, undefined, { ...(signal && { signal }) });

function eventIn(endpoint: Endpoint, data: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(data);
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  } catch {
    // Said below, with what came.
  }
  throw unavailable(endpoint, `its reply cannot be read: ${data.slice(0, 200)}`);
}

/** The provider's words where they are where all wires put them, else what came. */
function reasonIn(said: string): string {
  try {
    const { error } = JSON.parse(said) as { error?: { message?: unknown } };
    if (typeof error?.message === 'string') return error.message;
  } catch {
    // Not JSON: shown as it is.
  }
  return said || 'no reason given';
}

const messageOf = (error: unknown): string => {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return cause instanceof Error ? cause.message : String(cause);
};

export const unavailable = (endpoint: Pick<Endpoint, 'name'>, what: string, data: Record<string, unknown> = {}): ORPCError<string, unknown> =>
  new ORPCError('UNAVAILABLE', { message: `${endpoint.name} did not answer: ${what}`, data: { provider: endpoint.name, ...data }, status: 503 });

const unlisted = new Set([404, 405, 501]);

function namesIn(list: string): string[] {
  try {
    const { data, models } = JSON.parse(list) as { data?: unknown; models?: unknown };
    if (Array.isArray(data)) return data.flatMap((model: { id?: unknown } | null) => (typeof model?.id === 'string' ? [model.id] : []));
    return Array.isArray(models) ? models.flatMap(answeringModel) : [];
  } catch {
    return [];
  }
}

/** Gemini lists models that answer nothing, too: those for embeddings, for one. */
function answeringModel(model: { name?: unknown; supportedGenerationMethods?: unknown } | null): string[] {
  const methods = model?.supportedGenerationMethods;
  if (typeof model?.name !== 'string' || (Array.isArray(methods) && !methods.includes('generateContent'))) return [];
  return [model.name.replace(/^models\//, '')];
}

/** How long a provider has to list its models, where nothing else is said. */
const usualListMs = 5_000;

/** The names of the models that an endpoint lists, in either form that there is. */
export async function modelsOf(endpoint: Endpoint, path: string, timeoutMs = usualListMs): Promise<{ models: string[]; problem?: string }> {
  try {
    const response = await fetch(endpoint.url + path, {
      headers: await endpoint.headers(),
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
    });
    // Some endpoints answer, but list nothing: they can still be asked, by a model's name.
    if (unlisted.has(response.status)) return { models: [] };
    if (!response.ok) return { models: [], problem: `it answered ${response.status} when asked for its models` };
    return { models: namesIn(await response.text()) };
  } catch (error) {
    return { models: [], problem: `it cannot be reached (${messageOf(error)})` };
  }
}

/** What a model wrote as arguments; what is no JSON stays the text that it is. */
export function argumentsIn(json: string): unknown {
  if (json.trim() === '') return {};
  try {
    return JSON.parse(json);
  } catch {
    return json;
  }
}
