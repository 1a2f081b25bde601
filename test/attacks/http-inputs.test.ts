// What a path, a query, a header or a body can hold beyond JSON of the contract: the host answers with 4xx and goes on.
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { contract, describeProcedure, procedureNames } from '../../src/core/contract/index.js';
import { fields, isPlace, put, type Schema, valid } from '../support/bad-inputs.js';
import { ensureBuilt } from '../support/built.js';
import { type Machine, machine, type WebHost } from '../support/machine.js';
import { ask, drip, sendRaw } from '../support/raw-web.js';

let own: Machine;
let host: WebHost;
let project = '';
let bearer: { readonly authorization: string };

beforeAll(async () => {
  await ensureBuilt();
  own = machine();
  host = await own.web();
  const dir = own.path('work', 'p.stemma');
  await own.run('init', dir);
  bearer = { authorization: `Bearer ${host.bearer}` };
  const opened = await ask(host.port, '/api/project/open', { ...bearer, 'content-type': 'application/json' }, 'POST', JSON.stringify({ dir }));
  expect(opened.status).toBe(200);
  project = encodeURIComponent(dir);
});
afterAll(() => own?.[Symbol.asyncDispose]());

const send = (path: string, { method = 'GET', body, headers = {} }: { method?: string; body?: string; headers?: Record<string, string> } = {}) =>
  ask(host.port, path, { ...bearer, 'stemma-project': project, 'content-type': 'application/json', ...headers }, method, body);

/** Sends a request and expects an answer that is neither an error of the host nor none. */
async function expectAnswered(path: string, how?: Parameters<typeof send>[1]): Promise<number> {
  const { status, body } = await send(path, how);
  expect(status, `${how?.method ?? 'GET'} ${path.slice(0, 200)} ${how?.body?.slice(0, 100) ?? ''}: ${body.slice(0, 300)}`).toBeLessThan(500);
  return status;
}

const parts = [
  '%00',
  'a%00b',
  '%ff',
  '%E0%A4%A',
  '%',
  '..',
  '%2e%2e%2f',
  'a%2Fb',
  '%ED%A0%80',
  '__proto__',
  'constructor',
  'x'.repeat(8_000),
  '%F0%9F%98%80',
];

test('[C32] no part of a path makes the host fail', { tags: 'long' }, async () => {
  for (const part of parts)
    for (const path of [
      `/projects/${part}/cards/x`,
      `/projects/p/cards/${part}`,
      `/projects/p/boxes/${part}`,
      `/projects/${part}/boxes/${part}/cards`,
      `/api/${part}`,
      `/api/context/${part}`,
      `/${part}`,
    ]) {
      await expectAnswered(path);
      await expectAnswered(path, { method: 'POST', body: '{}' });
    }
});

test('[C32] no query makes the host fail: duplicates, brackets and NUL are 4xx or ignored', { tags: 'long' }, async () => {
  const deep = `a${'[b]'.repeat(2_000)}=1`;
  const queries = [
    'limit=1&limit=2',
    'limit=%00',
    'limit=-1',
    'limit=1e308',
    'limit=NaN',
    'limit[]=1',
    'limit[a]=1',
    '__proto__[x]=1',
    'a[__proto__][x]=1',
    'hydrate=%00',
    'order=%FF',
    'limit',
    '=',
    '&&&',
    '[]=1',
    deep,
    `a=${'x'.repeat(8_000)}`,
  ];
  for (const query of queries)
    for (const path of ['/projects/p/boxes/b', '/projects/p/boxes/b/cards', '/projects/p/cards/c', '/api/openapi.json', '/'])
      await expectAnswered(`${path}?${query}`);
  expect(({} as { x?: unknown }).x).toBeUndefined();
});

test('[C32] no body and no header makes a call fail', { tags: 'long' }, async () => {
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
  const bodies = [
    '',
    '{',
    'null',
    '[]',
    '"x"',
    '0',
    '\ufeff{}',
    '{"__proto__":{"x":1}}',
    '{"a":1,"a":2}',
    '{"id":"\\u0000"}',
    '{"id":"\\ud800"}',
    deep,
    `{"id":${deep}}`,
    'a=1',
    '\0',
  ];
  for (const body of bodies)
    for (const name of ['context/show', 'ticket/list', 'search/query', 'card/add', 'project/info'])
      await expectAnswered(`/api/${name}`, { method: 'POST', body });
  const headers: readonly Record<string, string>[] = [
    { 'stemma-project': '%00' },
    { 'stemma-project': '%' },
    { 'stemma-project': '%2Fdev%2Fnull' },
    { 'stemma-project': 'x'.repeat(10_000) },
    { 'content-type': 'application/json; charset=utf-16' },
    { 'content-type': 'text/plain' },
    { 'content-encoding': 'gzip' },
  ];
  for (const each of headers) await expectAnswered('/api/project/info', { method: 'POST', body: '{}', headers: each });
});

test('[C32] a NUL as the whole input of every procedure is refused', { tags: 'long' }, async () => {
  for (const name of procedureNames(contract)) {
    const status = await expectAnswered(`/api/${name.replace('.', '/')}`, { method: 'POST', body: '"\\u0000"' });
    // Cards and boxes can also be read at addresses of their own.
    expect([400, 404, 405], name).toContain(status);
  }
});

/** Sends a body to a procedure and returns the status of its answer. A stream is ended after its status. */
async function statusOf(name: string, body: string): Promise<number> {
  const answer = await fetch(`http://127.0.0.1:${host.port}/api/${name.replace('.', '/')}`, {
    method: 'POST',
    headers: { ...bearer, 'stemma-project': project, 'content-type': 'application/json' },
    body,
  });
  void answer.body?.cancel().catch(() => {});
  return answer.status;
}

const levels = 20_000;
/** With STEMMA_PROPERTY_RUNS=all, every field of every procedure gets a bad value, which takes a minute. Otherwise some do, in turn. */
const isWhole = process.env.STEMMA_PROPERTY_RUNS === 'all';
/** Malformed texts that stand where a JSON value should be. */
const rawValues = [
  '"\\u0000"',
  '"\\ud800"',
  `${'['.repeat(levels)}${']'.repeat(levels)}`,
  '1e999',
  '-1e308',
  '123456789012345678901234567890',
  '{"__proto__":{"x":1},"constructor":1}',
  'null',
  'true',
  '[[],[]]',
  '0.5',
  '"%00"',
];

test('[C32] no body of any procedure over HTTP, field by field, is 5xx, and the host lives', { tags: 'long' }, async () => {
  const hole = 'HOLE-of-the-test';
  const requests: (readonly [name: string, body: string])[] = [];
  for (const [at, name] of procedureNames(contract).entries()) {
    const root = (describeProcedure(contract, name)?.input ?? {}) as Schema;
    const example = valid(root, root, '', new Map()) as object;
    requests.push([name, `{"a":1,"a":2,${JSON.stringify(example).slice(1)}`]);
    const all = [...fields(root, root)];
    for (const [field, [path]] of all.entries()) {
      if (!isWhole && field > 0 && field !== at % all.length) continue;
      const last = path.findLast((step) => step !== '0') ?? '';
      // Places that a person names may be created, so they lead nowhere.
      const value = isPlace(last) ? '"/nowhere/\\u0000"' : (rawValues[(at + field) % rawValues.length] ?? '');
      const text = JSON.stringify(put(example, path, hole)).replace(`"${hole}"`, () => value);
      // The same field twice: the last one counts.
      requests.push([name, at % 2 === 0 && path.length === 1 ? text.replace('{', () => `{${JSON.stringify(path[0])}:1,`) : text]);
    }
  }
  expect(requests.length).toBeGreaterThan(500);
  const failures: string[] = [];
  const sender = async (): Promise<void> => {
    for (let next = requests.shift(); next; next = requests.shift()) {
      const [name, body] = next;
      const status = await statusOf(name, body).catch((error: Error) => String(error.cause ?? error));
      if (!(Number(status) < 500)) failures.push(`${name} ${body.slice(0, 200)}: ${status}`);
    }
  };
  await Promise.all(Array.from({ length: 4 }, sender));
  expect(failures).toEqual([]);
  expect((await send('/api/project/info', { method: 'POST', body: '{}' })).status).toBe(200);
});

test('[E63] hundreds of clients that send a byte now and then keep nobody out', { tags: 'long' }, async () => {
  const slow = Array.from({ length: 600 }, () => drip(host.port, 'GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nA: '));
  // The oldest of them are cut at once, and the others when their headers have taken too long.
  expect(await Promise.race(slow)).toBeLessThan(20_000);
  const info = () => send('/api/project/info', { method: 'POST', body: '{}' });
  // All of them arrive in one moment, in which the connection of this call may be one too many.
  await vi.waitFor(async () => expect((await info()).status).toBe(200), { timeout: 20_000 });
  for (let i = 0; i < 20; i++) expect((await info()).status).toBe(200);
});

test('[C32] a request that is no HTTP ends its own connection, and the host goes on', async () => {
  for (const bytes of [
    'GET /\0 HTTP/1.1\r\nHost: x\r\n\r\n',
    'GET http:// HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
    '\0\0\0\0\r\n\r\n',
    'OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
    `GET /${'x'.repeat(100_000)} HTTP/1.1\r\n\r\n`,
  ])
    expect(await sendRaw(host.port, bytes)).not.toMatch(/^HTTP\/1\.1 5/);
  expect((await send('/api/project/info', { method: 'POST', body: '{}' })).status).toBe(200);
});
