import { randomBytes } from 'node:crypto';
import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** An HTTP answer as it came. */
export interface Reply {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly body: string;
}

type Headers = Readonly<Record<string, string>>;

/** Sends one request as given: no header is added but `Host`, and the path is not normalized. */
export function ask(port: number, path: string, headers: Headers = {}, method = 'GET', body?: string): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path, method, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks).toString() }));
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

/** Headers of a window's page: the cookie that the host's link gives, once, and the Origin that browsers add. */
export async function signIn({ port, code, origin }: { port: number; code: string; origin: string }): Promise<{ cookie: string; origin: string }> {
  const reply = await ask(port, `/?token=${code}`);
  const [cookie] = String(reply.headers['set-cookie']).split(';');
  if (reply.status !== 303 || !cookie) throw new Error(`the link was refused with ${reply.status}: ${reply.body}`);
  return { cookie, origin };
}

/** Sends bytes, and then one byte every 20 milliseconds, until the test ends. Resolves with the milliseconds until the connection was closed. */
export function drip(port: number, start: string, one = 'x'): Promise<number> {
  const began = performance.now();
  return new Promise((resolve) => {
    let timer: ReturnType<typeof setInterval> | undefined;
    // Not before the beginning is sent: a byte before it would make the request invalid, and end the connection for another reason.
    const socket = connect(port, '127.0.0.1', () => {
      socket.write(start);
      timer = setInterval(() => socket.writable && socket.write(one), 20);
    });
    onTestFinished(() => void socket.destroy());
    socket.on('error', () => {});
    socket.resume();
    socket.on('close', () => {
      clearInterval(timer);
      resolve(performance.now() - began);
    });
  });
}

/** Sends bytes as they are and returns everything that comes back until the host closes the connection. */
export function sendRaw(port: number, bytes: string | Buffer): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes));
    socket.on('data', (part: Buffer) => {
      text += part.toString('latin1');
    });
    socket.on('error', () => resolve(text));
    socket.on('close', () => resolve(text));
  });
}

/** The answer's status, and the socket where it is 101. */
export function upgrade(port: number, path: string, headers: Headers): Promise<{ status: number; socket: Socket }> {
  const lines = Object.entries({
    Host: `127.0.0.1:${port}`,
    Upgrade: 'websocket',
    Connection: 'Upgrade',
    'Sec-WebSocket-Key': randomBytes(16).toString('base64'),
    'Sec-WebSocket-Version': '13',
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(`GET ${path} HTTP/1.1\r\n${lines.join('')}\r\n`));
    socket.on('error', reject);
    socket.once('data', (data: Buffer) => {
      socket.off('error', reject);
      // An attack may leave the socket in any state.
      socket.on('error', () => {});
      resolve({ status: Number(/^HTTP\/1\.1 (\d+)/.exec(data.toString())?.[1]), socket });
    });
  });
}

interface FrameOptions {
  readonly fin?: boolean;
  /** The reserved bits, 0 to 7. */
  readonly reserved?: number;
  readonly masked?: boolean;
  /** A length in the header that is not the payload's. */
  readonly length?: number;
}

export const opcodes = { continuation: 0, text: 1, binary: 2, unknown: 0xb, close: 8, ping: 9 } as const;

/** A WebSocket frame, sound unless the options break it. */
export function frame(opcode: number, payload: string | Uint8Array, options: FrameOptions = {}): Buffer {
  const { fin = true, reserved = 0, masked = true } = options;
  const bytes = Buffer.from(payload as string);
  const length = options.length ?? bytes.length;
  const head = Buffer.alloc(10);
  head[0] = (fin ? 0x80 : 0) | (reserved << 4) | opcode;
  head[1] = (masked ? 0x80 : 0) | 127;
  head.writeBigUInt64BE(BigInt(length), 2);
  const short = length < 126 ? Buffer.from([head[0], (masked ? 0x80 : 0) | length]) : head;
  if (!masked) return Buffer.concat([short, bytes]);
  const key = randomBytes(4);
  return Buffer.concat([short, key, Buffer.from(bytes.map((byte, at) => byte ^ (key[at % 4] as number)))]);
}

/** A call as the window sends it. */
export const callFrame = (procedure: string, input: unknown, id = '1'): Buffer =>
  frame(opcodes.text, JSON.stringify({ i: id, p: { u: `/${procedure.replaceAll('.', '/')}`, b: { json: input } } }));
