import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { built, type ContractClient } from '../../src/main/launch/index.js';
import { type Front, startFront } from '../support/front.js';
import { messageEvents, modelServer, stream } from '../support/model-server.js';
import { builtRoot } from './built.js';
import { turns } from './material.js';

/** The engine as windows reach it: this thread passes their calls on, and other threads read and write. */
export function openWindows(folder: string, at: string): Promise<Front> {
  builtRoot(folder);
  const startup = { paths: [], project: null };
  const options = { dataDir: join(at, 'data'), agentRoots: [], sampleDir: at, startup, platform: process.platform };
  return startFront({ ...options, worker: built('engine', 'work.js') });
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
  const [start, block, piece] = messageEvents({ text: 'some words' });
  const server = await modelServer((response) => {
    stream(response, [start, block], false);
    const timer = setInterval(() => response.write(`data: ${JSON.stringify(piece)}\n\n`), 100);
    response.once('close', () => clearInterval(timer));
  });
  const { url } = server;
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
      server.close();
      void heard.catch(() => {});
    },
  };
}
