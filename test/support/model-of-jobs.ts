import type { JobEvent, JobResult } from '../../src/core/contract/index.js';
import type { ModelProvider, ReplyPiece } from '../../src/core/turns/index.js';

/** A reply of the scripted model: its pieces, or a function that makes them. */
export type Reply = readonly ReplyPiece[] | ((body: string, signal: AbortSignal | undefined) => AsyncIterable<ReplyPiece> | readonly ReplyPiece[]);

const used: ReplyPiece = { kind: 'usage', tokens: { input: 10, output: 5 } };
/** A reply in words. */
export const says = (text: string): ReplyPiece[] => [{ kind: 'text', delta: text }, used, { kind: 'end', reason: 'end_turn' }];
/** A reply that calls tools. */
export const calls = (...made: [id: string, name: string, input: unknown][]): ReplyPiece[] => [
  ...made.map(([toolCallId, toolName, given]) => ({ kind: 'tool_call' as const, toolCallId, toolName, arguments: given })),
  used,
  { kind: 'end', reason: 'tool_use' },
];

/** A model that picks its reply by the request that it gets. */
export function model(choose: (body: string, number: number) => Reply): ModelProvider & { readonly asked: string[] } {
  const asked: string[] = [];
  return {
    id: 'model',
    title: 'A scripted model',
    wire: 'anthropic',
    asked,
    models: async () => ({ models: ['m-1'] }),
    async *stream(request, signal) {
      const body = JSON.stringify(request.body);
      asked.push(body);
      const reply = choose(body, asked.length - 1);
      yield* typeof reply === 'function' ? reply(body, signal) : reply;
    },
  };
}

/** Reads the stream of a job to its end. */
export async function read(stream: AsyncIterator<JobEvent, JobResult>): Promise<{ events: JobEvent[]; result: JobResult }> {
  const events: JobEvent[] = [];
  for (;;) {
    const next = await stream.next();
    if (next.done) return { events, result: next.value };
    events.push(next.value);
  }
}

/** A call that fails after it began. */
export async function* fail(message: string): AsyncGenerator<ReplyPiece> {
  yield { kind: 'text', delta: '' };
  throw new Error(message);
}

/** A reply that goes on until it is stopped. */
export async function* endless(piece: ReplyPiece, signal: AbortSignal | undefined): AsyncGenerator<ReplyPiece> {
  while (!signal?.aborted) {
    yield piece;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** A reply that never begins. */
export async function* silent(signal: AbortSignal | undefined): AsyncGenerator<ReplyPiece> {
  await new Promise<void>((resolve) => signal?.addEventListener('abort', () => resolve(), { once: true }));
  signal?.throwIfAborted();
}
