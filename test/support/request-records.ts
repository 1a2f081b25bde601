import { createHash } from 'node:crypto';

/** Writes transcripts with request records like Claude Code, and remembers the real calls as the model to compare with. */

type Value = null | boolean | number | string | readonly Value[] | { readonly [key: string]: Value };
export type Message = { readonly role: string; readonly content: string | readonly Block[] };
export type Block = { readonly [key: string]: Value };
export type Mark = { readonly path: readonly (string | number)[]; readonly value: Value };

export interface Shape {
  readonly system: readonly Block[];
  readonly tools: readonly Block[];
}

/** A sent call. */
export interface Sent {
  readonly id: string;
  readonly sessionId: string;
  readonly agentId: string | undefined;
  readonly messages: readonly Message[];
  /** The body as sent, cache marks included. */
  readonly body: Record<string, unknown>;
  readonly digest: string;
  /** Whether it got a reply. */
  answered: boolean;
}

export const sortedJson = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(sortedJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const object = value as Record<string, unknown>;
  return `{${Object.keys(object)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${sortedJson(object[key])}`)
    .join(',')}}`;
};

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const asBlocks = (message: Message): Message =>
  typeof message.content === 'string' ? { ...message, content: [{ type: 'text', text: message.content }] } : message;
export const hashOf = (message: Message): string => sha256(sortedJson(asBlocks(message)));
export const hashOfShape = (shape: Shape): string => sha256(sortedJson(shape));

export interface SendOptions {
  readonly params?: Record<string, Value>;
  readonly marks?: readonly Mark[];
  /** Number of messages to take from the base, at most the shared ones; by default all of them. */
  readonly keep?: number;
  readonly at?: string;
}

export interface Writer {
  /** The lines so far, without line breaks. */
  readonly lines: string[];
  readonly sent: readonly Sent[];
  text(): string;
  /** Starts again, as after a restart or a compaction: writes the full shape, without a base. */
  restart(): void;
  send(shape: Shape, messages: readonly Message[], options?: SendOptions): Sent;
  /** Writes the reply to the last call, one line per block. Returns the message of the first `kept` blocks for the next call. */
  reply(blocks: readonly Block[], kept?: number): Message;
  /** A line of the tree, such as a prompt. */
  prompt(text: string): void;
}

let written = 0;
const newId = (): string => {
  written += 1;
  return `00000000-0000-4000-8000-${String(written).padStart(12, '0')}`;
};
const timeOf = (): string => new Date(Date.parse('2026-01-01T00:00:00.000Z') + written * 10).toISOString();

export function openWriter(sessionId: string, agentId?: string, lines: string[] = []): Writer {
  const sent: Sent[] = [];
  const stated = new Set<string>();
  let base: Sent | undefined;
  let shapeNow = '';
  let parent: string | null = null;
  const write = (record: object): void => void lines.push(JSON.stringify(record));
  const owner = { sessionId, ...(agentId !== undefined && { agentId }) };
  const chained = (type: string, message: object): void => {
    const uuid = newId();
    write({
      parentUuid: parent,
      isSidechain: agentId !== undefined,
      ...owner,
      type,
      message,
      uuid,
      timestamp: timeOf(),
      cwd: '/work',
      version: '2.1.329',
    });
    parent = uuid;
  };
  return {
    lines,
    sent,
    text: () => lines.map((line) => `${line}\n`).join(''),
    restart() {
      base = undefined;
      shapeNow = '';
    },
    send(shape, messages, { params = { model: 'claude-test', max_tokens: 100 }, marks = [], keep, at } = {}) {
      const shapeHash = hashOfShape(shape);
      if (shapeHash !== shapeNow) write({ type: 'api-request-shape', ...owner, shapeHash, timestamp: timeOf(), version: '2.1.329', shape });
      shapeNow = shapeHash;
      const hashes = messages.map(hashOf);
      const before = base?.messages.map(hashOf) ?? [];
      let shared = 0;
      while (shared < before.length && shared < hashes.length && before[shared] === hashes[shared]) shared += 1;
      const kept = Math.min(keep ?? shared, shared);
      messages.slice(kept).forEach((message, index) => {
        const hash = hashes[kept + index] as string;
        if (stated.has(hash)) return;
        stated.add(hash);
        write({ type: 'api-request-blob', ...owner, hash, message });
      });
      const id = newId();
      const marked = structuredClone({ ...params, ...shape, messages: marks.length ? messages.map(asBlocks) : messages }) as Record<string, unknown>;
      for (const { path, value } of marks) putAt(marked, path, value);
      const { betas: _, ...body } = marked as Record<string, unknown>;
      // What is marked as a block is sent as one; what is not stays as it was.
      body.messages = messages.map((message, index) =>
        marks.some(({ path }) => path[0] === 'messages' && path[1] === index) ? (marked.messages as unknown[])[index] : message,
      );
      const digest = sha256(sortedJson({ ...marked, messages: (marked.messages as Message[]).map(asBlocks) }));
      write({
        type: 'api-request',
        ...owner,
        id,
        timestamp: at ?? timeOf(),
        version: '2.1.329',
        querySource: agentId === undefined ? 'sdk' : 'agent:builtin:test',
        shapeHash,
        params,
        ...(base && kept > 0 && { base: base.id }),
        keep: kept,
        tail: hashes.slice(kept),
        cacheControl: marks,
        requestDigest: digest,
      });
      base = { id, sessionId, agentId, messages, body, digest, answered: false };
      sent.push(base);
      return base;
    },
    reply(blocks, kept = blocks.length) {
      const id = `msg_${newId()}`;
      for (const block of blocks)
        chained('assistant', {
          id,
          type: 'message',
          role: 'assistant',
          model: 'claude-test',
          content: [block],
          usage: { input_tokens: 3, output_tokens: 5, cache_read_input_tokens: 7, cache_creation_input_tokens: 11 },
        });
      if (base && blocks.length) base.answered = true;
      const message = { role: 'assistant', content: blocks.slice(0, kept) };
      if (blocks.length) stated.add(hashOf(message));
      return message;
    },
    prompt: (text) => chained('user', { role: 'user', content: text }),
  };
}

function putAt(body: unknown, path: readonly (string | number)[], value: Value): void {
  let place = body as Record<string | number, unknown>;
  for (const step of path) place = place[step] as Record<string | number, unknown>;
  place.cache_control = value;
}
