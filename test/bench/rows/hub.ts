import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { openStore } from '../../../src/core/replicas/index.js';
import { push } from '../../../src/core/sync/index.js';
import { firstToken, openHubDatabase, openHubObjects, serveHub, startEmbedded } from '../../../src/main/hub/index.js';
import { hubAt, hubClient } from '../../../src/main/team/index.js';
import { importAll, openEngine } from '../engine.js';
import { sessionFile } from '../material.js';
import type { Part, Row } from '../measure.js';

const megabyte = 1024 * 1024;
const rounds = 3;

/** T31: a first push of imported sessions, files included, over `git push` of the same files to a git daemon. */
async function pushOverGit(folder: string, { quick }: { readonly quick: boolean }): Promise<Row[]> {
  const at = mkdtempSync(join(folder, 'hub-'));
  const [count, size] = quick ? [2, 2 * megabyte] : [6, 7 * megabyte];
  const files = Array.from({ length: count }, (_, n) => join(at, `session-${n}.jsonl`));
  for (const [n, file] of files.entries()) writeFileSync(file, sessionFile(size, 51 + n));
  const engine = openEngine(join(at, 'p'));
  importAll(engine.chain, files);
  const ours: number[] = [];
  const theirs: number[] = [];
  for (let round = 0; round < rounds; round++) {
    ours.push(await pushTime(join(at, `hub-${round}`), engine.chain));
    theirs.push(await gitTime(join(at, `git-${round}`), files));
  }
  engine.close();
  rmSync(at, { recursive: true, force: true });
  const [oursMs, gitMs] = [median(ours), median(theirs)];
  const what = `push of ${(count * size) / megabyte} MB to a hub over git push of the same files`;
  return [{ id: 'T31', what, ratio: oursMs / gitMs, must: 1.5, stretch: 0.8, better: 'less', figures: { oursMs, gitMs } }];
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

async function pushTime(dir: string, chain: Parameters<typeof push>[0]): Promise<number> {
  const postgres = await startEmbedded(dir);
  mkdirSync(join(dir, 'objects'));
  const database = await openHubDatabase(postgres.url);
  const token = (await firstToken(database)) ?? '';
  const objects = openHubObjects(openStore('hub', { kind: 'folder', dir: join(dir, 'objects') }));
  const running = await serveHub({ database, objects, port: 0, host: '127.0.0.1' });
  const hub = `http://127.0.0.1:${running.port}`;
  await hubClient({ hub, token }).projects.create({ project: 'bench' });
  const began = performance.now();
  await push(chain, hubAt({ hub, project: 'bench', token }));
  const ms = performance.now() - began;
  await running.close();
  await database.close();
  await postgres.stop();
  return ms;
}

async function gitTime(dir: string, files: readonly string[]): Promise<number> {
  const git = (cwd: string, ...words: string[]): void =>
    void execFileSync('git', ['-c', 'user.name=bench', '-c', 'user.email=bench@example.invalid', ...words], { cwd, stdio: 'ignore' });
  const [bare, work] = [join(dir, 'bare.git'), join(dir, 'work')];
  for (const each of [bare, work]) mkdirSync(each, { recursive: true });
  git(bare, 'init', '--bare', '.');
  git(work, 'init', '.');
  git(work, '--work-tree', join(dir, '..'), 'add', '-f', ...files);
  git(work, '--work-tree', join(dir, '..'), 'commit', '-m', 'sessions');
  const port = await freePort();
  const daemon = spawn(
    'git',
    ['daemon', '--export-all', '--enable=receive-pack', `--base-path=${dir}`, `--port=${port}`, '--listen=127.0.0.1', '--reuseaddr'],
    {
      stdio: 'ignore',
      detached: true,
    },
  );
  await answering(port);
  const began = performance.now();
  git(work, 'push', `git://127.0.0.1:${port}/bare.git`, 'HEAD:refs/heads/main');
  const ms = performance.now() - began;
  if (daemon.pid !== undefined) process.kill(-daemon.pid);
  return ms;
}

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });

/** Waits until a server answers on a port. */
async function answering(port: number): Promise<void> {
  const { connect } = await import('node:net');
  const isUp = (): Promise<boolean> =>
    new Promise((resolve) => {
      const socket = connect(port, '127.0.0.1');
      socket.once('connect', () => resolve(Boolean(socket.end())));
      socket.once('error', () => resolve(false));
    });
  while (!(await isUp())) await new Promise((resolve) => setTimeout(resolve, 20));
}

export const hubParts: readonly Part[] = [{ rows: ['T31'], run: pushOverGit }];
