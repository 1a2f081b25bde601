import { randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ensureBuilt } from '../support/built.js';
import { type Machine, machine, type WebHost } from '../support/machine.js';
import { callFrame, frame, opcodes, signIn, upgrade } from '../support/raw-web.js';

type Attack = readonly [does: string, frames: readonly Buffer[]];

const { text, binary } = opcodes;
const json = (value: unknown): Buffer => frame(text, JSON.stringify(value));
const call = (payload: object): Buffer => json({ i: '1', p: { u: '/library/startup', b: { json: {} }, ...payload } });
const form = { 'content-type': 'multipart/form-data; boundary=x' };
const bodyWithMeta = (meta: unknown): Buffer => call({ b: { json: { a: {} }, meta } });

/** Each ends the connection that sent it. The name says what a hostile or broken client does. */
const fatal: readonly Attack[] = [
  // What WebSocket itself forbids.
  ['uses an opcode that does not exist', [frame(opcodes.unknown, 'x')]],
  ['sends text that is not UTF-8', [frame(text, Buffer.from([0xff, 0xfe, 0xfd]))]],
  ['does not mask its payload', [frame(text, 'x', { masked: false })]],
  ['sets a reserved bit', [frame(text, 'x', { reserved: 4 })]],
  ['announces 300 MB', [frame(text, '', { length: 300 * 1024 * 1024 })]],
  ['continues a message that never began', [frame(opcodes.continuation, 'x')]],
  ['closes with a code that does not exist', [frame(opcodes.close, Buffer.from([0, 1]))]],
  ['pings with more than a control frame may hold', [frame(opcodes.ping, Buffer.alloc(200))]],
  // What is no message of oRPC. Each of these ended the engine, and with it every window, before.
  ['sends text that is not JSON', [frame(text, 'hello')]],
  ['sends an empty message', [frame(text, '')]],
  ['sends random bytes', [frame(binary, randomBytes(64))]],
  ['sends null', [frame(text, 'null')]],
  ['sends a number', [frame(text, '7')]],
  ['sends a list', [frame(text, '[1,2,3]')]],
  ['calls without a payload', [json({ i: '1' })]],
  ['calls an address that is a number', [call({ u: 7 })]],
  ['calls an address that does not parse', [call({ u: 'http://[' })]],
  ['sends a message of an unknown type', [json({ i: '1', t: 99, p: {} })]],
  ['sends an event without a payload', [json({ i: '9', t: 3 })]],
  [
    'declares a form that does not parse',
    [frame(binary, Buffer.concat([Buffer.from(JSON.stringify({ i: '1', p: { u: '/library/startup', h: form } })), Buffer.from([0xff, 0x00])]))],
  ],
  ['sends an object as a content type', [call({ h: { 'content-type': { a: 1 } } })]],
  ['sends an object as a content disposition', [call({ h: { 'content-disposition': { a: 1 } } })]],
];

/** Is refused or ignored, and the connection goes on. */
const harmless: readonly Attack[] = [
  ['calls a procedure that does not exist', [call({ u: '/no/such' })]],
  ['calls a procedure by a prototype key', [call({ u: '/__proto__/constructor' })]],
  ['puts a prototype key into the input', [frame(text, '{"i":"1","p":{"u":"/library/startup","b":{"json":{"__proto__":{"hit":1}}}}}')]],
  ['names a prototype key in the metadata', [bodyWithMeta([[1, '__proto__', 'hit']])]],
  ['sends metadata that is a number', [bodyWithMeta(7)]],
  ['sends metadata of the wrong type', [bodyWithMeta([[0, 'a']])]],
  ['calls with headers that are a number', [call({ h: 7 })]],
  ['calls an address that does not decode', [call({ u: '/%ff%zz' })]],
  ['calls a file', [call({ u: 'file:///etc/passwd' })]],
  ['calls by GET with broken data', [json({ i: '1', p: { u: '/library/startup?data=%7B', m: 'GET' } })]],
  ['uses an object as the number of a call', [json({ i: { a: 1 }, p: { u: '/library/startup', b: { json: {} } } })]],
  ['sends an event for a call that it never made', [json({ i: '9', t: 3, p: { e: 'message' } })]],
  ['ends a call that it never made', [json({ i: '9', t: 4 })]],
  [
    'nests its input 100,000 levels deep',
    [frame(text, `{"i":"1","p":{"u":"/library/startup","b":{"json":${'['.repeat(100_000)}${']'.repeat(100_000)}}}}`)],
  ],
  ['sends half of a surrogate pair', [call({ u: '/library/sessions', b: { json: { root: '\ud800' } } })]],
  ['streams an input that fails', [call({ h: { 'content-type': 'text/event-stream' } }), json({ i: '1', t: 3, p: { e: 'error' } })]],
];

let own: Machine;
let host: WebHost;
let page: Awaited<ReturnType<typeof signIn>>;
/** A window that is open the whole time. */
let bystander: Socket;

beforeAll(async () => {
  await ensureBuilt();
  own = machine();
  host = await own.web();
  page = await signIn(host);
  bystander = (await openWindow()).setMaxListeners(0);
});

afterAll(async () => {
  bystander?.destroy();
  await own?.[Symbol.asyncDispose]();
});

async function openWindow(): Promise<Socket> {
  const { status, socket } = await upgrade(host.port, '/rpc', page);
  expect(status).toBe(101);
  return socket;
}

/** Resolves to false when the host closes the WebSocket or the connection under it. */
function closing(socket: Socket): Promise<false> {
  return new Promise((resolve) => {
    const look = (data: Buffer): void => (data[0] === 0x80 + opcodes.close ? done() : undefined);
    const done = (): void => {
      socket.off('data', look).off('close', done);
      resolve(false);
    };
    socket.on('data', look).on('close', done);
  });
}

/** Whether the engine answers a call on this connection; false when the connection ends first. */
async function answers(socket: Socket): Promise<boolean> {
  const answer = new Promise<true>((resolve) => {
    const look = (data: Buffer): void => {
      if (!data.includes('"i":"sound"')) return;
      socket.off('data', look);
      resolve(true);
    };
    socket.on('data', look);
  });
  const end = closing(socket);
  socket.write(callFrame('library.startup', {}, 'sound'));
  return Promise.race([answer, end]);
}

describe('a broken frame ends its own connection and nothing else', () => {
  test.each(fatal)('[T45] a client that %s loses its own connection only', async (_attack, frames) => {
    const socket = await openWindow();
    const end = closing(socket);
    for (const each of frames) socket.write(each);
    await end;
    expect(await answers(bystander)).toBe(true);
    expect(host.said()).not.toContain('the engine ended');
    socket.destroy();
  });

  test.each(harmless)('[T45] a client that %s keeps its connection', async (_attack, frames) => {
    const socket = await openWindow();
    for (const each of frames) socket.write(each);
    expect(await answers(socket)).toBe(true);
    expect(await answers(bystander)).toBe(true);
    socket.destroy();
  });

  test('[T45] a client that begins a message and goes away leaves nothing behind', async () => {
    const socket = await openWindow();
    socket.write(frame(text, '{"i":', { fin: false }));
    socket.resetAndDestroy();
    expect(await answers(bystander)).toBe(true);
  });
});
