import { ORPCError } from '@orpc/server';
import { EventSourceParserStream } from 'eventsource-parser/stream';

/** Where a provider is, and what opens it. */
export interface Endpoint {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** How the provider is called in what a person reads. */
  readonly name: string;
}

const attempts = 3;
const longestWaitMs = 30_000;
const usualWaitMs = 1_000;
/** Answers that say "later": limits, and a provider that is overloaded or out of order. */
const later = new Set([408, 409, 429, 500, 502, 503, 504, 529]);

/** Posts a body and gives the events of the answer as JSON values; asks again where the provider says later. */
export async function* events(
  endpoint: Endpoint,
  path: string,
  body: unknown,
  signal: AbortSignal | undefined,
): AsyncGenerator<Record<string, unknown>> {
  const response = await posted(endpoint, path, body, signal);
  if (!response.body) throw unavailable(endpoint, 'it answered with nothing');
  const stream = response.body.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
  try {
    for await (const { data } of stream) {
      if (data === '[DONE]') return;
      yield eventIn(endpoint, data);
    }
  } catch (error) {
    if (signal?.aborted) return;
    throw error instanceof ORPCError ? error : unavailable(endpoint, `its reply broke off (${messageOf(error)})`);
  }
}

async function posted(endpoint: Endpoint, path: string, body: unknown, signal: AbortSignal | undefined): Promise<Response> {
  for (let attempt = 1; ; attempt++) {
    const response = await reached(endpoint, path, body, signal);
    if (response.ok) return response;
    const said = (await response.text().catch(() => '')).slice(0, 2_000);
    if (attempt >= attempts || !later.has(response.status))
      throw unavailable(endpoint, `it answered ${response.status}: ${reasonIn(said)}`, { status: response.status });
    await pause(waitOf(response, attempt), signal);
  }
}

async function reached(endpoint: Endpoint, path: string, body: unknown, signal: AbortSignal | undefined): Promise<Response> {
  try {
    return await fetch(endpoint.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...endpoint.headers },
      body: JSON.stringify(body),
      redirect: 'error',
      ...(signal && { signal }),
    });
  } catch (error) {
    throw unavailable(endpoint, `it cannot be reached (${messageOf(error)})`);
  }
}

/** A provider's own word on when to come back, within reason. */
function waitOf(response: Response, attempt: number): number {
  const seconds = Number(response.headers.get('retry-after'));
  return Math.min(longestWaitMs, Number.isFinite(seconds) && seconds > 0 ? seconds * 1_000 : usualWaitMs * 2 ** (attempt - 1));
}

const pause = (ms: number, signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });

function eventIn(endpoint: Endpoint, data: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(data);
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  } catch {
    // Said below, with what came.
  }
  throw unavailable(endpoint, `its reply cannot be read: ${data.slice(0, 200)}`);
}

/** The provider's words where they are where both wires put them, else what came. */
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

/** The names of the models that an endpoint lists, in the form that both wires share. */
export async function modelsOf(endpoint: Endpoint, path: string, timeoutMs: number): Promise<{ models: string[]; problem?: string }> {
  try {
    const response = await fetch(endpoint.url + path, { headers: endpoint.headers, redirect: 'error', signal: AbortSignal.timeout(timeoutMs) });
    if (!response.ok) return { models: [], problem: `it answered ${response.status} when asked for its models` };
    const { data } = (await response.json()) as { data?: { id?: unknown }[] };
    return { models: (data ?? []).flatMap(({ id }) => (typeof id === 'string' ? [id] : [])) };
  } catch (error) {
    return { models: [], problem: `it cannot be reached (${messageOf(error)})` };
  }
}
