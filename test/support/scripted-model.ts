import type { ReplyPart } from '../../src/core/contract/index.js';
import type { ModelProvider, ModelRequest, ReplyPiece } from '../../src/core/turns/index.js';

/** A model with scripted replies that records its requests. Its id is the name of the wire format. */
export function scripted(wire: ModelProvider['wire'], ...replies: (readonly ReplyPiece[] | Error)[]): ModelProvider & { asked: ModelRequest[] } {
  const asked: ModelRequest[] = [];
  return {
    id: wire,
    title: `A script over ${wire}`,
    wire,
    asked,
    models: async () => ({ models: ['m'] }),
    async *stream(request) {
      asked.push(structuredClone(request));
      const reply = replies[asked.length - 1] ?? [];
      if (reply instanceof Error) throw reply;
      yield* reply;
    },
  };
}

/** Runs a stream to its end. Returns its parts and its result. */
export async function drained<T>(generator: AsyncGenerator<ReplyPart, T>, seen: (part: ReplyPart) => void = () => {}) {
  const parts: ReplyPart[] = [];
  for (;;) {
    const step = await generator.next();
    if (step.done) return { parts, result: step.value };
    parts.push(step.value);
    seen(step.value);
  }
}
