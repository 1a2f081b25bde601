import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { zstdCompressSync } from 'node:zlib';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { blake3Of } from '../../../src/core/artifacts/index.js';
import { type Hub, packParcel, pull, push } from '../../../src/core/sync/index.js';
import { createTicket } from '../../../src/core/tickets/index.js';
import { chainWith, startTestHub, type TestHub } from '../../support/hub.js';
import { emptyChain } from '../../support/project.js';

let hub: TestHub;
beforeAll(async () => {
  hub = await startTestHub();
});
let hasProjects = false;
beforeEach(async () => {
  if (hasProjects) return;
  hasProjects = true;
  for (const name of ['open', 'secret']) {
    const remote = await hub.project(name);
    await push(chainWith(`what ${name} knows`), remote);
    // Every table has a row of each project.
    const [{ hash = '' } = {}] = await hub.query<{ hash: string }>(
      `SELECT encode(hash, 'hex') AS hash FROM object o JOIN project p ON p.no = o.project WHERE p.name = '${name}'`,
    );
    await remote.outlines([[hash, 'raw-text']]);
    await remote.join({ hash, contentType: 'text/plain', size: `what ${name} knows`.length, parts: [hash] });
  }
});
afterAll(() => hub?.close());

const tokenFor = async (project: string | null, role: 'reader' | 'reviewer' | 'writer' | 'admin' | 'pusher', expiresAt?: string): Promise<string> =>
  (await hub.client().members.add({ project, name: `${role} of ${project}`, role, expiresAt: expiresAt as never })).token;

describe('access to a hub', () => {
  test('[E8] row-level security hides other projects from a query that forgets to ask for one', { tags: 'long' }, async () => {
    const client = new pg.Client({ connectionString: hub.databaseUrl });
    await client.connect();
    try {
      await client.query('BEGIN');
      await client.query('SET LOCAL ROLE stemma_project');
      await client.query("SELECT set_config('stemma.project', (SELECT no::text FROM project WHERE name = 'open'), true)");
      // Every table that names a project.
      const { rows: tables } = await client.query<{ name: string }>(
        `SELECT c.relname AS name FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
          WHERE a.attname = 'project' AND c.relkind IN ('r', 'p') AND c.relname <> 'token' ORDER BY name`,
      );
      expect(tables.map(({ name }) => name)).toEqual(expect.arrayContaining(['item', 'object', 'outline', 'pack', 'whole', 'audit', 'presence']));
      for (const { name } of tables) {
        const { rows } = await client.query(`SELECT DISTINCT project FROM ${name}`);
        expect(rows, name).toHaveLength(1);
      }
      // Projects and tokens, too: the own ones, and tokens of the whole hub by number and name.
      expect((await client.query('SELECT name FROM project')).rows).toEqual([{ name: 'open' }]);
      expect(
        (
          await client.query('SELECT count(*)::integer AS n FROM token WHERE project IS NOT NULL AND project::text <> current_setting($1)', [
            'stemma.project',
          ])
        ).rows,
      ).toEqual([{ n: 0 }]);
      for (const statement of ['SELECT hash FROM token', 'SELECT * FROM token', 'UPDATE item SET kind = kind', 'SELECT * FROM kysely_migration']) {
        await client.query('SAVEPOINT before');
        await expect(client.query(statement), statement).rejects.toThrow(/permission denied/);
        await client.query('ROLLBACK TO SAVEPOINT before');
      }
    } finally {
      await client.end();
    }
  });

  test('[E9] each role may do its own actions and nothing more', { tags: 'long' }, async () => {
    const chain = chainWith('by a pusher');
    createTicket(chain, { title: 'a finding', type: 'task', body: '' });
    const as = async (role: Parameters<typeof tokenFor>[1]): Promise<Hub> => hub.project('open', await tokenFor('open', role));
    await expect(push(chain, await as('reader'))).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
    await expect(push(chain, await as('reviewer'))).rejects.toThrow(/tickets only/);
    await expect(pull(emptyChain(), await as('pusher'))).rejects.toThrow(`The hub ${hub.address} answers: Your role is pusher, which may not pull.`);
    expect((await push(chain, await as('pusher'))).items).toMatchObject({ context: 1, ticket: 1 });
    const reviewer = emptyChain();
    await pull(reviewer, await as('reviewer'));
    createTicket(reviewer, { title: 'another finding', type: 'task', body: '' });
    expect((await push(reviewer, await as('reviewer'))).items).toMatchObject({ ticket: 1 });
    // Tickets need no contents, so a reviewer fills no bucket.
    const bytes = Buffer.from('not a ticket');
    const object = { hash: blake3Of(bytes).toString('hex'), contentType: 'text/plain', bytes };
    await expect((await as('reviewer')).send(packParcel({ items: [], objects: [object] }))).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
  });

  test('[E10] unknown, expired and revoked tokens are refused', async () => {
    await expect(tokenFor('open', 'reader', '2026-01-01T00:00:00.000Z')).rejects.toMatchObject({
      code: 'BAD_REQUEST',
      message: expect.stringMatching(/expiresAt is 2026-01-01T00:00:00.000Z, which has passed: by the clock of the hub it is 2\d{3}-/),
    });
    const expired = await tokenFor('open', 'reader', '2099-01-01T00:00:00.000Z');
    await hub.query("UPDATE token SET expires_at = now() WHERE expires_at = '2099-01-01'");
    const { id, token } = await hub.client().members.add({ project: 'open', name: 'gone', role: 'reader' });
    await hub.client().members.revoke({ id });
    for (const each of ['stm_unknown', expired, token, "' OR 1=1 --"])
      await expect(hub.client(each).projects.list({}), each).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
    // A message names its hub, once.
    await expect(hub.client(token).projects.list({})).rejects.toThrow(new RegExp(`^The hub ${hub.address} does not accept this token: [^:]*$`));
    const stored = JSON.stringify(await hub.query("SELECT encode(hash, 'escape') AS hash, name FROM token"));
    expect(stored).not.toContain(token);
    expect(await hub.query(`SELECT no FROM token WHERE hash = '\\x${createHash('sha256').update(token).digest('hex')}'`)).toHaveLength(1);
  });

  test('[E23] people who work on a project see each other; machines see nobody', async () => {
    const at = async (role: Parameters<typeof tokenFor>[1]) => hub.client(await tokenFor('open', role)).sync.hello({ project: 'open' });
    await at('writer');
    expect((await at('reader')).people).toContain('writer of open');
    expect((await at('pusher')).people).toEqual([]);
    expect((await hub.client(await tokenFor('secret', 'reader')).sync.hello({ project: 'secret' })).people).not.toContain('writer of open');
    // A person who has been away for a while is no longer listed.
    await hub.query("UPDATE presence SET at = now() - interval '5 minutes'");
    expect((await at('admin')).people).toEqual([]);
  });

  test('[E11] what a person reads and writes is in the audit log, without content', async () => {
    const reader = await hub.project('open', await tokenFor('open', 'reader'));
    await pull(emptyChain(), reader);
    const log = await hub.client().audit.list({ project: 'open' });
    expect(log.find(({ by, action }) => by === 'reader of open' && action === 'pull')?.count).toBeGreaterThan(0);
    expect(JSON.stringify(log)).not.toContain('what open knows');
    // It says what was read and written: kinds and numbers of records, and the beginnings of hashes.
    const [{ hash = '' } = {}] = await hub.query<{ hash: string }>(
      "SELECT encode(hash, 'hex') AS hash FROM object o JOIN project p ON p.no = o.project WHERE p.name = 'open' ORDER BY pack LIMIT 1",
    );
    const lineOf = (who: string, what: string) => log.find(({ by, action }) => by === who && action === what)?.what;
    expect(lineOf('reader of open', 'pull')).toMatch(/^context [1-9].* \(records 1 to \d+\)$/);
    expect(lineOf('reader of open', 'objects')).toContain(hash.slice(0, 16));
    expect(log.filter(({ action }) => action === 'push').at(-1)?.what).toBe('context 1 (records 1 to 1)');
    expect(log.at(-1)).toMatchObject({ by: 'admin', action: 'create' });
  });

  test('[E12] a parcel that is damaged, false or too large stores nothing', { tags: 'long' }, async () => {
    const client = hub.client();
    const before = await client.sync.hello({ project: 'open' });
    const send = (bytes: Uint8Array) => client.sync.send({ project: 'open', parcel: new Blob([bytes as Uint8Array<ArrayBuffer>]) });
    const header = (json: unknown, rest = ''): Buffer => {
      const text = Buffer.from(JSON.stringify(json));
      const length = Buffer.alloc(4);
      length.writeUInt32BE(text.length);
      return zstdCompressSync(Buffer.concat([length, text, Buffer.from(rest)]));
    };
    const attacks = [
      Buffer.from('no zstd'),
      zstdCompressSync(Buffer.alloc(2)),
      zstdCompressSync(Buffer.alloc(600 * 1024 * 1024)),
      header({ items: [['ticket']], objects: [] }),
      header({ items: [['constructor', {}]], objects: [] }),
      header({ items: [], objects: [['00'.repeat(32), 4, 'text/plain']] }, 'evil'),
      header({ items: [], objects: [['00'.repeat(32), 1e9, 'text/plain']] }),
      header({ items: [], objects: [['00'.repeat(32), -1, 'text/plain']] }),
    ];
    for (const [i, bytes] of attacks.entries()) await expect(send(bytes), String(i)).rejects.toMatchObject({ code: 'BAD_REQUEST' });
    expect(await client.sync.hello({ project: 'open' })).toEqual(before);
  });

  test('[E13] an object that the bucket holds changed is refused by name and reaches nobody', async () => {
    const remote = await hub.project('damaged');
    await push(chainWith('will be damaged'), remote);
    const [pack] = await hub.query<{ hash: string }>(
      "SELECT encode(k.hash, 'hex') AS hash FROM pack k JOIN project p ON p.no = k.project WHERE p.name = 'damaged'",
    );
    const file = readdirSync(hub.objectsDir, { recursive: true, encoding: 'utf8' }).find((name) => name.endsWith(pack?.hash ?? '-')) ?? '';
    const path = join(hub.objectsDir, file);
    const bytes = readFileSync(path);
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
    writeFileSync(path, bytes);
    await expect(pull(emptyChain(), remote)).rejects.toMatchObject({ code: 'CORRUPT' });
  });

  test('[E14] names of projects and tokens cannot carry SQL or paths', async () => {
    for (const name of ["x'; DROP TABLE item; --", '../../etc', 'A', '', 'a/b', `${'a'.repeat(101)}`])
      await expect(hub.client().projects.create({ project: name }), name).rejects.toMatchObject({ code: 'BAD_REQUEST' });
    const { token } = await hub.client().members.add({ project: 'open', name: "Robert'); DROP TABLE token; --", role: 'reader' });
    expect((await hub.client(token).sync.hello({ project: 'open' })).name).toBe("Robert'); DROP TABLE token; --");
  });
});
