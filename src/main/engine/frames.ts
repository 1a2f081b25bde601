/** The call of a frame: the path of its procedure, and the context that it is about, if it names one. */
export interface CallFrame {
  /** The number that oRPC gave the call within its connection. */
  readonly id: string;
  /** The path of the procedure, such as `context.show`. */
  readonly path: string;
  /** The first commit that the input names, so that calls about the same context reach the same thread. */
  readonly about: string;
}

/** oRPC writes the number first, then the address. */
const head = /^\{"i":"([\w-]{1,40})","p":\{"u":"\/([a-zA-Z]+)\/([a-zA-Z]+)"/;
const later = /^\{"i":"[\w-]{1,40}","t":[34]\b/;
const answered = /^\{"i":"([\w-]{1,40})"(,"t":\d)?/;
const commit = /"(ctx-[0-9a-f]{8,64})"/;
/** How far into a frame the input may begin. The rest is content. */
const headLength = 400;

/**
 * Finds out whose call a frame is without parsing it. Undefined if it is no frame that oRPC writes: the engine answers or refuses it.
 * `continues` belongs to an earlier call: its abort, or an event of its input.
 */
export function pathOf(frame: unknown, maxBytes: number): CallFrame | 'continues' | undefined {
  if (typeof frame !== 'string' || frame.length > maxBytes) return undefined;
  const start = frame.slice(0, headLength);
  if (later.test(start)) return 'continues';
  const found = head.exec(start);
  if (!found) return undefined;
  const [, id = '', namespace = '', procedure = ''] = found;
  return { id, path: `${namespace}.${procedure}`, about: commit.exec(start)?.[1] ?? '' };
}

/** The number of the call that a frame answers, if it is the answer and not an event of a stream. */
export function answeredBy(frame: unknown): string | undefined {
  if (typeof frame !== 'string') return undefined;
  const found = answered.exec(frame.slice(0, headLength));
  return found && found[2] === undefined ? found[1] : undefined;
}
