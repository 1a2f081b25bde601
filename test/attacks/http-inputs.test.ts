// What a path, a query, a header or a body can hold beyond JSON of the contract: the host answers with 4xx and goes on.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { contract, procedureNames } from '../../src/core/contract/index.js';
import { ensureBuilt } from '../support/built.js';
import { type Machine, machine, type WebHost } from '../support/machine.js';
import { ask, sendRaw } from '../support/raw-web.js';

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

test('[C32] no part of a path makes the host fail', async () => {
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

test('[C32] no query makes the host fail: duplicates, brackets and NUL are 4xx or ignored', async () => {
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

test('[C32] no body and no header makes a call fail', async () => {
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

test('[C32] a NUL as the whole input of every procedure is refused', async () => {
  for (const name of procedureNames(contract)) {
    const status = await expectAnswered(`/api/${name.replace('.', '/')}`, { method: 'POST', body: '"\\u0000"' });
    // The reads of cards and boxes have addresses of their own.
    expect([400, 404, 405], name).toContain(status);
  }
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
