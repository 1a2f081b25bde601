import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { MessageChannel } from 'node:worker_threads';
import { createORPCClient } from '@orpc/client';
import { RPCLink } from '@orpc/client/message-port';
import type { Port } from '../../src/main/engine/connection.js';
import { frontBehind } from '../../src/main/engine/front.js';
import { built, type ContractClient, type FromEngine } from '../../src/main/launch/index.js';
import { builtRoot } from './built.js';
import { turns } from './material.js';

/** The engine as windows reach it: this thread passes their calls on, and other threads read and write. */
export interface Windows {
  connect(): ContractClient;
  close(): Promise<void>;
}

export async function openWindows(folder: string, at: string): Promise<Windows> {
  builtRoot(folder);
  const ready = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  const ports: Port[] = [];
  const hear = (message: FromEngine): void => {
    if (message.kind === 'ready') ready.resolve();
    if (message.kind === 'failed') ready.reject(new Error(message.message));
  };
  const tell = frontBehind(hear, () => {
    for (const port of ports) port.close?.();
    ended.resolve();
  });
  const startup = { paths: [], project: null };
  const options = { dataDir: join(at, 'data'), agentRoots: [], sampleDir: at, startup, platform: process.platform };
  tell({ kind: 'start', options: { ...options, worker: built('engine', 'work.js') } });
  await ready.promise;
  return {
    connect: () => {
      const { port1, port2 } = new MessageChannel();
      ports.push(port2 as never);
      tell({ kind: 'connect', connection: ports.length, caller: 'window' }, port2 as never);
      port1.start();
      return createORPCClient(new RPCLink({ port: port1 as never }));
    },
    close: () => {
      tell({ kind: 'stop' });
      return ended.promise;
    },
  };
}

/** A transcript that an agent writes, with a turn every half second, until it is stopped. The engine follows it. */
export async function followAgent(client: ContractClient, at: string): Promise<{ stop(): void }> {
  const next = turns(2_000, 9);
  mkdirSync(join(at, 'live'));
  const path = join(at, 'live', '00000009-0000-4000-8000-000000000009.jsonl');
  let turn = 0;
  const write = (): void => appendFileSync(path, next[turn++] ?? '');
  writeFileSync(path, '');
  write();
  await client.capture.watch({ paths: [path] });
  const timer = setInterval(write, 500);
  return { stop: () => clearInterval(timer) };
}

/** A model that streams a reply of 10 pieces a second until it is stopped, and a job in which it answers. */
export async function runJob(client: ContractClient): Promise<{ stop(): void }> {
  const event = (type: string, more: object): string => `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`;
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const message = { id: 'm', type: 'message', role: 'assistant', model: 'm', content: [], usage: { input_tokens: 100, output_tokens: 1 } };
    response.write(event('message_start', { message }));
    response.write(event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }));
    const timer = setInterval(
      () => response.write(event('content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'some words ' } })),
      100,
    );
    response.once('close', () => clearInterval(timer));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { providers } = await client.provider.set({ title: 'Bench', wire: 'anthropic', url });
  const provider = providers.find((each) => each.url === url)?.id ?? '';
  const entry = { role: 'user' as const, kind: 'text' as const, text: 'Say some words.' };
  const { id } = await client.context.fork({ id: null, edits: [{ op: 'append', entry }] });
  const events = await client.runner.start({ what: { commit: id }, performer: { provider, model: 'claude-sonnet-4-5' } });
  const heard = (async () => {
    for await (const _ of events);
  })();
  return {
    stop: () => {
      server.closeAllConnections();
      server.close();
      void heard.catch(() => {});
    },
  };
}
