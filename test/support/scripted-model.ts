import type { ReplyPart } from '../../src/core/contract/index.js';
import type { ModelProvider, ModelRequest, ReplyPiece } from '../../src/core/turns/index.js';

/** A model that says what a script says, in either wire, and remembers what it was asked; its id is the wire's name. */
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

/** A reply to its end: its parts, and what was returned at last. */
export async function drained<T>(generator: AsyncGenerator<ReplyPart, T>, seen: (part: ReplyPart) => void = () => {}) {
  const parts: ReplyPart[] = [];
  for (;;) {
    const step = await generator.next();
    if (step.done) return { parts, result: step.value };
    parts.push(step.value);
    seen(step.value);
  }
}
