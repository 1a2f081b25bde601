import { zstdDecompressSync } from 'node:zlib';
import { isContractProcedure } from '@orpc/contract';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { packParcel, push } from '../../../src/core/sync/index.js';
import { openHubDatabase } from '../../../src/main/hub/index.js';
import { hubContract } from '../../../src/main/team/index.js';
import { chainWith, startTestHub, type TestHub } from '../../support/hub.js';

/** A procedure of the hub and the names of the fields of its input. */
interface Procedure {
  readonly path: string;
  readonly fields: readonly string[];
}

const listed = (node: object, path: string[] = []): Procedure[] => {
  if (!isContractProcedure(node)) return Object.entries(node).flatMap(([name, below]) => listed(below as object, [...path, name]));
  const { shape = {} } = node['~orpc'].inputSchema as unknown as { readonly shape?: object };
  return [{ path: path.join('.'), fields: Object.keys(shape) }];
};
const procedures = listed(hubContract);

let hub: TestHub;
let objects: string[] = [];
let commits: string[] = [];
let tokens: number[] = [];
beforeAll(async () => {
  hub = await startTestHub();
});
beforeEach(async () => {
  if (tokens.length > 0) return;
  for (const name of ['open', 'secret']) await push(chainWith(`what ${name} knows`), await hub.project(name));
  await hub.client().members.add({ project: 'secret', name: 'a secret person', role: 'reader' });
  const of = (table: string, column: string) =>
    `SELECT ${column} AS value FROM ${table} t JOIN project p ON p.no = t.project WHERE p.name = 'secret'`;
  objects = await valuesOf(of('object', "encode(hash, 'hex')"));
  commits = await commitsOf('secret');
  expect(commits).toHaveLength(1);
  tokens = await valuesOf(of('token', 't.no'));
});
afterAll(() => hub?.close());

/** The digests of the commits of a project, by which a share link names them. */
const commitsOf = (project: string): Promise<string[]> =>
  valuesOf(
    `SELECT convert_from(body, 'UTF8')::json->>'digest' AS value FROM item i JOIN project p ON p.no = i.project
      WHERE p.name = '${project}' AND kind = 'context'`,
  );

const valuesOf = async <T>(sql: string): Promise<T[]> => (await hub.query<{ value: T }>(sql)).map(({ value }) => value);

/** A value for every field of every procedure, aimed at the private project. A field without one fails the test. */
const aimed = (): Readonly<Record<string, unknown>> => ({
  project: 'secret',
  items: [['context', commits[0], commits[0]]],
  objects,
  hashes: objects,
  after: 0,
  parcel: new Blob([packParcel({ items: [], objects: [] }) as Uint8Array<ArrayBuffer>]),
  id: tokens[0],
  keep: [],
  commit: commits[0],
  against: commits[0],
  name: 'me',
  identity: 'me@example.com',
  role: 'reader',
  limit: 100,
  days: 30,
  contents: objects.map((hash) => [hash, 'raw-text']),
  hash: objects[0],
  contentType: 'text/plain',
  size: 1,
  parts: objects,
});
const optional = ['expiresAt', 'before'];

const inputFor = ({ path, fields }: Procedure, values: Readonly<Record<string, unknown>>): Record<string, unknown> => {
  const without = fields.filter((field) => values[field] === undefined && !optional.includes(field));
  expect(without, `${path} has new fields: give them values here`).toEqual([]);
  return Object.fromEntries(fields.filter((field) => field in values).map((field) => [field, values[field]]));
};

async function call(token: string, path: string, input: object): Promise<{ readonly code: string; readonly answer?: unknown }> {
  const [namespace = '', name = ''] = path.split('.');
  const client = hub.client(token) as unknown as Record<string, Record<string, (input: object) => Promise<unknown>>>;
  try {
    return { code: 'ok', answer: await client[namespace]?.[name]?.(input) };
  } catch (error) {
    return { code: (error as { code: string }).code };
  }
}

/** All bytes of an answer as text, parcels unpacked. */
async function textOf(answer: unknown): Promise<string> {
  if (answer instanceof Blob) return zstdDecompressSync(Buffer.from(await answer.arrayBuffer())).toString('latin1');
  if (typeof answer !== 'object' || answer === null) return JSON.stringify(answer) ?? '';
  return (await Promise.all(Object.entries(answer).map(async ([key, value]) => key + (await textOf(value))))).join('\n');
}

const roles = ['reader', 'reviewer', 'writer', 'admin', 'pusher'] as const;
const tokenOf = async (role: (typeof roles)[number]): Promise<string> =>
  (await hub.client().members.add({ project: 'open', name: role, role })).token;

/** Tokens of the open project: one for each role, and share links to its commit. */
async function openTokens(): Promise<ReadonlyMap<string, string>> {
  const tokens = new Map<string, string>();
  for (const role of roles) tokens.set(role, await tokenOf(role));
  const [commit = ''] = await commitsOf('open');
  for (const role of ['reader', 'reviewer'] as const)
    tokens.set(`${role} of a link`, (await hub.client().members.share({ project: 'open', commit, name: 'a link', role })).token);
  return tokens;
}

describe('isolation of projects', () => {
  test('[E7, E18] no procedure opens another project by name, id or hash, for any role or link', { tags: 'long' }, async () => {
    expect(procedures.length).toBeGreaterThan(10);
    for (const [role, token] of await openTokens()) {
      // The pages of links open nothing of it either.
      for (const path of [`/share/secret/${token}`, `/share/secret/${token}/page`]) {
        const page = await fetch(hub.address + path);
        expect([403, 404], `${path.replace(token, '…')} as ${role}`).toContain(page.status);
        expect(await page.text(), `${path.replace(token, '…')} as ${role}`).not.toContain('secret knows');
      }
      for (const procedure of procedures) {
        const where = `${procedure.path} as ${role}`;
        const elsewhere = await call(token, procedure.path, inputFor(procedure, aimed()));
        if (procedure.fields.length > 0) expect(['NOT_FOUND', 'UNAUTHORIZED'], where).toContain(elsewhere.code);
        // The own project does not answer with what the other one holds either.
        const own =
          procedure.path === 'projects.create' ? elsewhere : await call(token, procedure.path, inputFor(procedure, { ...aimed(), project: 'open' }));
        expect(['ok', 'NOT_FOUND', 'UNAUTHORIZED'], where).toContain(own.code);
        const text = await textOf(own.answer);
        expect(text, where).not.toMatch(/secret/);
        if (procedure.path === 'sync.lack' && own.code === 'ok') expect(own.answer, where).toEqual({ items: [0], objects: objects.map((_, i) => i) });
        for (const hash of [...objects, ...commits]) expect(text, where).not.toContain(hash);
      }
      if (role === 'admin') expect((await call(token, 'members.add', { project: null, name: 'me', role: 'admin' })).code).toBe('UNAUTHORIZED');
    }
    expect(await valuesOf(`SELECT no AS value FROM token WHERE no = ${tokens[0]} AND revoked_at IS NULL`)).toHaveLength(1);
  });

  test('[E8] [E62] the role of a project has a policy on every table, and no right too many', { tags: 'long' }, async () => {
    const role = 'stemma_project';
    type Right = { readonly name: string; readonly guarded: boolean; readonly has: boolean };
    const tables = await hub.query<Right>(
      `SELECT c.relname AS name, c.relrowsecurity AND EXISTS (SELECT 1 FROM pg_policy p WHERE p.polrelid = c.oid) AS guarded,
              has_any_column_privilege('${role}', c.oid, 'SELECT, INSERT, UPDATE') OR has_table_privilege('${role}', c.oid, 'SELECT, INSERT, UPDATE') AS has
         FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm', 'f')`,
    );
    expect(tables.filter(({ has }) => has).length).toBeGreaterThan(6);
    expect(tables.filter(({ has, guarded }) => has && !guarded)).toEqual([]);
    const may = (right: string): Promise<string[]> =>
      valuesOf(
        `SELECT c.relname AS value FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND has_table_privilege('${role}', c.oid, '${right}')`,
      );
    for (const right of ['DELETE', 'TRUNCATE', 'REFERENCES', 'TRIGGER']) expect(await may(right), right).toEqual([]);
    expect(
      await valuesOf(`SELECT attname AS value FROM pg_attribute WHERE attrelid = 'token'::regclass AND attnum > 0
        AND has_column_privilege('${role}', 'token', attname, 'SELECT') ORDER BY 1`),
    ).toEqual(['name', 'no', 'project', 'shared']);
    // Nothing runs with the rights of another user, and the role is nobody.
    expect(await valuesOf(`SELECT proname AS value FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND prosecdef`)).toEqual([]);
    expect(await hub.query(`SELECT rolsuper, rolbypassrls, rolcreaterole, rolcreatedb, rolcanlogin FROM pg_roles WHERE rolname = '${role}'`)).toEqual(
      [{ rolsuper: false, rolbypassrls: false, rolcreaterole: false, rolcreatedb: false, rolcanlogin: false }],
    );
    expect(await valuesOf(`SELECT roleid::regrole::text AS value FROM pg_auth_members WHERE member = '${role}'::regrole`)).toEqual([]);
  });

  test('[E8] work on a project neither reads nor writes a row of another one, in any table', async () => {
    const [open] = await valuesOf<number>("SELECT no AS value FROM project WHERE name = 'open'");
    const [secret] = await valuesOf<number>("SELECT no AS value FROM project WHERE name = 'secret'");
    const database = await openHubDatabase(hub.databaseUrl, { connections: 2 });
    const inOpen = <T>(statement: string): Promise<T[]> =>
      database.inProject(open ?? 0, async (tx) => (await sql.raw<T>(statement).execute(tx)).rows, { isRead: true });
    try {
      const tables = await valuesOf<string>(
        "SELECT table_name AS value FROM information_schema.columns WHERE table_schema = 'public' AND column_name = 'project' AND table_name <> 'token'",
      );
      expect(tables.length).toBeGreaterThan(5);
      for (const table of tables) {
        expect(await inOpen(`SELECT 1 FROM ${table} WHERE project <> ${open}`), table).toEqual([]);
        // A change meets no row of another project, and a row cannot move there. Most tables may not be changed at all.
        const moved = await inOpen(`UPDATE ${table} SET project = ${secret} RETURNING 1`).catch(() => []);
        expect(moved, table).toEqual([]);
      }
      for (const statement of [
        `INSERT INTO audit (project, by, action, count) VALUES (${secret}, 'me', 'posed', 1)`,
        `INSERT INTO presence (project, token, name) VALUES (${secret}, ${tokens[0]}, 'me')`,
        `INSERT INTO pack (project, hash, size) VALUES (${secret}, '\\x00', 1)`,
        `INSERT INTO whole (project, hash, type, size, parts) VALUES (${secret}, '\\x00', 't', 1, '{}')`,
        `INSERT INTO outline (project, hash, format, parser, data) VALUES (${secret}, '\\x00', 'f', 1, '\\x00')`,
        `SELECT hash FROM token`,
        `SELECT * FROM token`,
        `INSERT INTO token (hash, name, role) VALUES ('\\x00', 'me', 'admin')`,
        `UPDATE token SET role = 'admin'`,
        `UPDATE project SET retention = 1`,
        `CREATE TABLE mine (x int)`,
        `SET LOCAL ROLE postgres`,
      ])
        await expect(inOpen(statement), statement).rejects.toThrow();
      expect(await inOpen<{ name: string }>('SELECT name FROM token')).not.toContainEqual({ name: 'a secret person' });
      expect(await inOpen<{ name: string }>('SELECT name FROM project')).toEqual([{ name: 'open' }]);
    } finally {
      await database.close();
    }
  });

  test('[E14] no field of any procedure carries SQL or a path, and none makes the hub fail', { tags: 'long' }, async () => {
    const counts = 'SELECT (SELECT count(*) FROM item) + (SELECT count(*) FROM object) + (SELECT count(*) FROM project) AS value';
    const before = await valuesOf(counts);
    const tricks = [
      "x'; DROP TABLE item; --",
      "' OR '1'='1",
      '../../../etc/passwd',
      '..\\..\\x',
      '%00',
      'a\0b',
      '\ud800',
      '$1',
      'a'.repeat(400),
      -1,
      1e300,
    ];
    const token = await tokenOf('admin');
    const open = { ...aimed(), project: 'open', id: 2_000_000_000 };
    for (const procedure of procedures) {
      for (const field of procedure.fields)
        for (const trick of tricks) {
          const listed = Array.isArray(aimed()[field]);
          const values = listed ? [[trick], [[trick, trick, trick]], [['context', trick, commits[0]]]] : [trick];
          for (const value of values) {
            const { code } = await call(token, procedure.path, { ...inputFor(procedure, open), [field]: value });
            expect(['ok', 'BAD_REQUEST', 'NOT_FOUND', 'UNAUTHORIZED'], `${procedure.path} ${field} ${JSON.stringify(value).slice(0, 60)}`).toContain(
              code,
            );
          }
        }
    }
    expect(await valuesOf(counts)).toEqual(before);
  });
});
