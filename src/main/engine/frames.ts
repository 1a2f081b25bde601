import type { Frame } from '../launch/index.js';

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

/** Finds which call a frame belongs to, without parsing it. `continues`: it stops or follows an earlier call. Undefined if oRPC wrote it otherwise. */
export function readCall(frame: unknown, maxBytes: number): CallFrame | 'continues' | undefined {
  if (typeof frame !== 'string' || frame.length > maxBytes) return undefined;
  const start = frame.slice(0, headLength);
  if (later.test(start)) return 'continues';
  const found = head.exec(start);
  if (!found) return undefined;
  const [, id = '', namespace = '', procedure = ''] = found;
  return { id, path: `${namespace}.${procedure}`, about: commit.exec(start)?.[1] ?? '' };
}

const event = /^\{"i":"([\w-]{1,40})","t":3,"p":\{"e":"(\w+)"/;
const stopped = /^\{"i":"([\w-]{1,40})","t":4\b/;

/** An event of a stream: the number of its call, and whether it is the last one. */
export function eventIn(frame: unknown): { readonly id: string; readonly isLast: boolean } | undefined {
  const found = typeof frame === 'string' ? event.exec(frame.slice(0, headLength)) : undefined;
  return found?.[1] === undefined ? undefined : { id: found[1], isLast: found[2] !== 'message' };
}

/** The number of the call that its caller stops. */
export const stoppedBy = (frame: unknown): string | undefined =>
  typeof frame === 'string' ? stopped.exec(frame.slice(0, headLength))?.[1] : undefined;

/** Whether an answer begins a stream. */
export const beginsStream = (answer: unknown): boolean =>
  typeof answer === 'string' && /^\{"i":"[\w-]{1,40}","p":\{"h":\{[^{}]*"content-type":"text\/event-stream"/.test(answer.slice(0, headLength));

/** The call of a stream of changes, so that it goes on after an event: after the commit and the stand that the event names. */
export function continued(call: Frame, after: Frame | undefined): Frame {
  if (typeof call !== 'string' || typeof after !== 'string') return call;
  const message = JSON.parse(call) as { p: { b?: { json?: object } } };
  const { cursor, stand } = (JSON.parse(after) as { p: { d: { json: { cursor: number; stand: string } } } }).p.d.json;
  return JSON.stringify({ ...message, p: { ...message.p, b: { ...message.p.b, json: { ...message.p.b?.json, after: cursor, since: stand } } } });
}

/** The end of a stream by an error. */
export const brokenStream = (id: string): Frame => JSON.stringify({ i: id, t: 3, p: { e: 'error' } });

/** The number of the call that a frame answers, if it is the answer and not an event of a stream. */
export function answeredBy(frame: unknown): string | undefined {
  if (typeof frame !== 'string') return undefined;
  const found = answered.exec(frame.slice(0, headLength));
  return found && found[2] === undefined ? found[1] : undefined;
}
