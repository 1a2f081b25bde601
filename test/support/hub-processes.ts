import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';
import type { Hub } from '../../src/core/sync/index.js';
import { firstToken, openHubDatabase, startEmbedded } from '../../src/main/hub/index.js';
import { hubAt, hubClient } from '../../src/main/team/index.js';
import { root } from './machine.js';
import { scratch } from './project.js';

/** The built command line. Tests of hub processes are skipped without it. */
export const cli = join(root, 'out/cli/stemma.js');

/** A hub as a process of its own. */
export interface HubProcess {
  readonly address: string;
  readonly process: ChildProcess;
  /** Answered requests, from the hub's own log. */
  readonly requests: { readonly path: string; readonly status: number; readonly ms: number }[];
}

/** Starts `stemma hub` as a process of its own. */
async function hubProcess(database: string, objects: string, port = 0): Promise<HubProcess> {
  const child = spawn(process.execPath, [cli, 'hub', '--port', String(port), '--database', database, '--objects', objects], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const requests: HubProcess['requests'] = [];
  createInterface({ input: child.stderr }).on('line', (line) => {
    if (line.startsWith('{')) requests.push(JSON.parse(line));
  });
  for await (const line of createInterface({ input: child.stdout }))
    if (line.startsWith('The hub answers at ')) return { address: line.slice('The hub answers at '.length), process: child, requests };
  throw new Error('The hub ended before it answered.');
}

/** PostgreSQL, a folder of objects, and a project, until the test ends. `start` starts a hub process. */
export async function team(project: string) {
  const dir = scratch();
  const postgres = await startEmbedded(dir);
  const objects = join(dir, 'objects');
  mkdirSync(objects);
  const database = await openHubDatabase(postgres.url);
  const token = (await firstToken(database)) ?? '';
  await database.close();
  onTestFinished(() => postgres.stop());
  const start = (port?: number) => hubProcess(postgres.url, objects, port);
  const create = (hub: HubProcess) => hubClient({ hub: hub.address, token }).projects.create({ project });
  const at = (hub: HubProcess): Hub => hubAt({ hub: hub.address, project, token });
  const items = async (hub: HubProcess) => (await hubClient({ hub: hub.address, token }).sync.hello({ project })).seq;
  return { start, create, at, items, token };
}
