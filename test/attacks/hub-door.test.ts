import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { openStore } from '../../src/core/replicas/index.js';
import { push } from '../../src/core/sync/index.js';
import { holdUnpacked } from '../../src/main/hub/body.js';
import { openHubDatabase, openHubObjects, serveHub } from '../../src/main/hub/index.js';
import { hubClient } from '../../src/main/team/index.js';
import { chainWith, startTestHub, type TestHub } from '../support/hub.js';
import { scratch } from '../support/project.js';
import { drip, upgrade } from '../support/raw-web.js';

let hub: TestHub;
beforeAll(async () => {
  hub = await startTestHub();
});
afterAll(() => hub?.close());

/** Sends bytes to the hub and returns the beginning of the answer. The connection stays open until the hub ends it or answers. */
async function send(bytes: string, port = Number(new URL(hub.address).port)): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => {});
  await once(socket, 'connect');
  socket.write(bytes);
  let answer = '';
  for await (const chunk of socket) {
    answer += String(chunk);
    if (answer.includes('\r\n\r\n')) break;
  }
  return answer;
}

const head = (path: string, headers: Readonly<Record<string, string | number>>): string =>
  [`POST ${path} HTTP/1.1`, 'Host: hub', ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`), '', ''].join('\r\n');

const megabyte = 1024 * 1024;
const json = { 'Content-Type': 'application/json' };

/** Another hub process with limits of its own. */
async function limited(limits: Parameters<typeof serveHub>[0]['limits'], spans?: string, slow?: Parameters<typeof serveHub>[0]['slow']) {
  const database = await openHubDatabase(hub.databaseUrl);
  const objects = openHubObjects(openStore('hub', { kind: 'folder', dir: hub.objectsDir }));
  const running = await serveHub({ database, objects, port: 0, host: '127.0.0.1', limits, spans, slow });
  onTestFinished(() => running.close().then(database.close));
  return `http://127.0.0.1:${running.port}`;
}

const post = (address: string, path: string, token: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${address}/rpc/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify({ json: body }),
  });

describe('the door of a hub', () => {
  test('[E63] a call without a valid token is refused before its body is read', async () => {
    // No byte of the body is sent, so an answer proves that the hub does not wait for it.
    for (const token of ['stm_none', 'a.b.c', ''])
      for (const path of ['/rpc/sync/send', '/rpc/sync/lack', '/rpc/members/add'])
        expect(await send(head(path, { ...json, Authorization: `Bearer ${token}`, 'Content-Length': 50 * megabyte })), path).toMatch(
          /^HTTP\/1.1 401 /,
        );
    const { token } = await hub.client().members.add({ project: null, name: 'reads', role: 'reader' });
    const refused = await send(head('/rpc/sync/send', { ...json, Authorization: `Bearer ${token}`, 'Content-Length': 50 * megabyte }));
    expect(refused).toMatch(/^HTTP\/1.1 401 /);
  });

  test('[E63] a body needs a length within its limit, few parts and few levels', async () => {
    const headers = { ...json, Authorization: `Bearer ${hub.admin}` };
    expect(await send(head('/rpc/sync/send', { ...headers, 'Transfer-Encoding': 'chunked' }))).toMatch(/^HTTP\/1.1 411 /);
    expect(await send(head('/rpc/sync/send', { ...headers, 'Content-Length': 65 * megabyte }))).toMatch(/^HTTP\/1.1 413 /);
    expect(await send(head('/rpc/sync/lack', { ...headers, 'Content-Length': 9 * megabyte }))).toMatch(/^HTTP\/1.1 413 /);
    expect(await send(head('/rpc/sync/lack', { ...headers, 'Content-Encoding': 'gzip', 'Content-Length': 9 }))).toMatch(/^HTTP\/1.1 415 /);
    const deep = `{"json":${'['.repeat(200_000)}${']'.repeat(200_000)}}`;
    expect((await post(hub.address, 'sync/lack', hub.admin, deep)).status).toBe(400);
    const form = new FormData();
    for (let i = 0; i < 2_000; i++) form.append(`f${i}`, 'x');
    const many = await fetch(`${hub.address}/rpc/sync/send`, { method: 'POST', headers: { authorization: `Bearer ${hub.admin}` }, body: form });
    expect(many.status).toBe(400);
  });

  test('[E63] whoever sends many bodies slowly leaves room for those of others', { tags: 'long', timeout: 120_000 }, async () => {
    await hub.client().projects.create({ project: 'room' });
    const { token } = await hub.client().members.add({ project: 'room', name: 'slow', role: 'writer' });
    const large = 40 * megabyte;
    const port = Number(new URL(hub.address).port);
    const block = Buffer.alloc(megabyte, 0x20);
    const answers: string[] = [];
    for (let i = 0; i < 7; i++) {
      const socket = connect(port, '127.0.0.1');
      onTestFinished(() => void socket.destroy());
      socket.on('error', () => {}).once('data', (data) => answers.push(String(data).slice(0, 12)));
      socket.write(head('/rpc/sync/send', { ...json, Authorization: `Bearer ${token}`, 'Content-Length': large }));
      // The last byte never comes.
      for (let sent = 0; sent < large - megabyte; sent += megabyte) socket.write(block);
    }
    await vi.waitFor(() => expect(answers.length).toBeGreaterThan(2), { timeout: 60_000 });
    expect(new Set(answers)).toEqual(new Set(['HTTP/1.1 429']));
    // Longer than what is read at any time.
    const other = await post(hub.address, 'sync/lack', hub.admin, { project: 'room', items: [], objects: [], more: 'x'.repeat(megabyte) });
    expect(other.status).not.toBe(429);
  });

  test('[E64] a token that costs too much is refused for a while, and others are not', { tags: 'long' }, async () => {
    const address = await limited({ token: { running: 2, waiting: 4, budgetMs: 20, refill: 0.001 } });
    await hub.project('costly');
    await push(chainWith('x'), await hub.project('costly'));
    const { token } = await hub.client().members.add({ project: 'costly', name: 'dear', role: 'reader' });
    const answers = await Promise.all(Array.from({ length: 20 }, () => post(address, 'sync/hello', token, { project: 'costly' })));
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThan(5);
    expect(Number(refused[0]?.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await post(address, 'sync/hello', hub.admin, { project: 'costly' })).status).toBe(200);
    const log = await hub.client().audit.list({ project: 'costly' });
    expect(log.filter(({ by, action }) => by === 'dear' && action === 'refused sync.hello')).toHaveLength(1);
    // A client waits as long as the hub says, and then gets its answer.
    const patient = await limited({ token: { running: 2, waiting: 4, budgetMs: 3, refill: 0.5 } });
    for (let i = 0; i < 5; i++) expect((await hubClient({ hub: patient, token }).sync.hello({ project: 'costly' })).name).toBe('dear');
  });

  test('[E64] a token that is refused again and again takes no turns from others of its address', async () => {
    const address = await limited({
      token: { running: 1, waiting: 0, budgetMs: 2, refill: 0.000_01 },
      address: { running: 2, waiting: 1, budgetMs: 300_000, refill: 16 },
    });
    await hub.project('crowded');
    const { token } = await hub.client().members.add({ project: 'crowded', name: 'greedy', role: 'reader' });
    const statuses: number[] = [];
    for (let n = 0; n < 12; n++) statuses.push((await post(address, 'sync/hello', token, { project: 'crowded' })).status);
    expect(statuses.slice(-6)).toEqual(Array.from({ length: 6 }, () => 429));
    // Each refusal kept one of the two turns of the address, so that nobody there was answered any more.
    for (const name of ['one', 'two', 'three']) {
      const { token: other } = await hub.client().members.add({ project: 'crowded', name, role: 'reader' });
      const answer = await Promise.race([post(address, 'sync/hello', other, { project: 'crowded' }), new Promise((end) => setTimeout(end, 5_000))]);
      expect((answer as Response | undefined)?.status, name).toBe(200);
    }
  });

  test('[E64] calls that wait for their token keep no turns of their address', { tags: 'long' }, async () => {
    const address = await limited({
      token: { running: 1, waiting: 40, budgetMs: 60_000, refill: 4 },
      address: { running: 2, waiting: 0, budgetMs: 300_000, refill: 16 },
    });
    await hub.project('queued');
    const [greedy, other] = await Promise.all(
      ['greedy', 'other'].map(async (name) => (await hub.client().members.add({ project: 'queued', name, role: 'reader' })).token),
    );
    const hello = (token = '') => post(address, 'sync/hello', token, { project: 'queued' });
    const many = Array.from({ length: 30 }, () => hello(greedy));
    const statuses: number[] = [];
    for (let n = 0; n < 10; n++) statuses.push((await hello(other)).status);
    expect(statuses).toEqual(Array(10).fill(200));
    expect((await Promise.all(many)).map(({ status }) => status)).toEqual(Array(30).fill(200));
  });

  test('[E64] an address that guesses tokens is stopped; who was let in before is not', async () => {
    const address = await limited({ refused: { atOnce: 5, perSecond: 0.001 } });
    expect((await post(address, 'projects/list', hub.admin, {})).status).toBe(200);
    const statuses: number[] = [];
    for (let i = 0; i < 10; i++) statuses.push((await post(address, 'projects/list', `stm_guess${i}`, {})).status);
    expect(statuses).toEqual([...Array.from({ length: 5 }, () => 401), ...Array.from({ length: 5 }, () => 429)]);
    expect((await post(address, 'projects/list', hub.admin, {})).status).toBe(200);
    // A proxy on this machine names the address that it serves.
    expect((await post(address, 'projects/list', 'stm_other', {}, { 'x-forwarded-for': '192.0.2.7' })).status).toBe(401);
  });

  test('[E64] all addresses of a network of IPv6 count as one', async () => {
    const address = await limited({ refused: { atOnce: 2, perSecond: 0.001 } });
    const from = (name: string) => post(address, 'projects/list', 'stm_guess', {}, { 'x-forwarded-for': name });
    const names = ['2001:db8:1:2::1', '2001:0DB8:1:2:3:4:5:6', '2001:db8:1:2:ffff::9', '2001:db8:1:3::1', '2001:db8:1::1', '192.0.2.1', '192.0.2.2'];
    const statuses: number[] = [];
    for (const name of names) statuses.push((await from(name)).status);
    expect(statuses).toEqual([401, 401, 429, 401, 401, 401, 401]);
  });

  test.each([
    ['a share page', (n: number) => ({ method: 'GET', path: `/share/p/stm_guess${n}` }), 403, 503],
    ['spans', (n: number) => ({ method: 'POST', path: '/v1/traces', headers: { authorization: `Bearer stm_guess${n}` } }), 401, 503],
    ['metrics', (n: number) => ({ method: 'GET', path: '/metrics', headers: { authorization: `Bearer stm_guess${n}` } }), 403, 403],
  ])('[E64] [E65] guesses of tokens by %s are stopped and in the audit log, too', async (doing, guess, refused, stopped) => {
    const address = await limited({ refused: { atOnce: 3, perSecond: 0.001 } }, scratch());
    const statuses: number[] = [];
    for (let n = 0; n < 6; n++) {
      const { path, ...how } = guess(n);
      statuses.push((await fetch(`${address}${path}`, how)).status);
    }
    expect(statuses).toEqual([refused, refused, refused, stopped, stopped, stopped]);
    // The address is known to all doors of this hub.
    expect((await post(address, 'projects/list', 'stm_other', {})).status).toBe(429);
    const action = `refused ${doing.replace(/^a /, '')}`;
    expect(await hub.query(`SELECT count(*)::int AS n FROM audit WHERE action = '${action}' AND what LIKE 'UNAUTHORIZED%'`)).toEqual([{ n: 1 }]);
  });

  test('[E63] many headers, other methods and bodies of another kind are refused', async () => {
    const authorization = `Authorization: Bearer ${hub.admin}`;
    expect(await send(`POST /rpc/sync/hello HTTP/1.1\r\nHost: hub\r\n${'A: b\r\n'.repeat(20_000)}\r\n`)).toMatch(/^HTTP\/1.1 431 /);
    for (const method of ['GET', 'PUT', 'DELETE', 'OPTIONS'])
      expect(await send(`${method} /rpc/sync/hello HTTP/1.1\r\nHost: hub\r\n${authorization}\r\nContent-Length: ${megabyte}\r\n\r\n`)).toMatch(
        /^HTTP\/1.1 405 /,
      );
    expect(await send(`GET /share/a/b HTTP/1.1\r\nHost: hub\r\nContent-Length: ${megabyte}\r\n\r\n`)).toMatch(/^HTTP\/1.1 403 /);
    const deep = `{"json":${'['.repeat(200_000)}${']'.repeat(200_000)}}`;
    const part = (head: string): string => `--b\r\n${head}\r\n\r\n${deep}\r\n--b--\r\n`;
    const named = 'Content-Disposition: form-data; name="data"';
    for (const [type, body] of [
      ['application/x-www-form-urlencoded', 'a&'.repeat(megabyte)],
      ['multipart/form-data; x=boundary=a; boundary=b', part(named)],
      ['multipart/form-data; boundary=b', part(`X: filename="x\r\n${named}`)],
    ] as const) {
      const answer = await post(hub.address, 'sync/send', hub.admin, body, { 'content-type': type });
      expect([answer.status, (await answer.json()) as unknown]).toEqual([
        400,
        { json: expect.objectContaining({ message: expect.stringContaining('does not read this body') }) },
      ]);
    }
    expect((await post(hub.address, 'projects/list', hub.admin, {})).status).toBe(200);
  });

  test('[E63] a client that asks for another protocol is answered', async () => {
    for (const protocol of ['h2c', 'websocket', 'x']) {
      const wanted = { Upgrade: protocol, Connection: 'Upgrade, HTTP2-Settings' };
      const { status, socket } = await upgrade(Number(new URL(hub.address).port), '/health', wanted);
      expect(status, protocol).toBe(200);
      socket.resetAndDestroy();
    }
    expect((await post(hub.address, 'projects/list', hub.admin, {})).status).toBe(200);
  });

  test('[E63] clients that send a byte now and then are cut, and others are answered meanwhile', { tags: 'long' }, async () => {
    const address = await limited({}, undefined, { headersMs: 500, requestMs: 1_000, checkMs: 100, silent: 100 });
    const port = Number(new URL(address).port);
    const known = head('/rpc/sync/send', { ...json, Authorization: `Bearer ${hub.admin}`, 'Content-Length': megabyte });
    const clients = [
      ...Array.from({ length: 20 }, () => drip(port, 'POST /rpc/sync/hello HTTP/1.1\r\nHost: hub\r\nA: ')),
      drip(port, 'GET /share/a/'),
      ...[known, head('/rpc/sync/send', { ...json, 'Content-Length': megabyte }), head('/health', { 'Content-Length': megabyte })].map((each) =>
        drip(port, each, ' '),
      ),
    ];
    expect((await post(address, 'projects/list', hub.admin, {})).status).toBe(200);
    for (const ms of await Promise.all(clients)) expect(ms).toBeLessThan(20_000);
    expect((await post(address, 'projects/list', hub.admin, {})).status).toBe(200);
  });

  test('[E63] too many silent connections end the oldest of them, and keep nobody out', async () => {
    const address = await limited({}, undefined, { headersMs: 600_000, requestMs: 600_000, checkMs: 1_000, silent: 10 });
    let [opened, open] = [0, 0];
    const sockets = Array.from({ length: 40 }, () => connect(Number(new URL(address).port), '127.0.0.1'));
    onTestFinished(() => sockets.forEach((socket) => void socket.destroy()));
    for (const socket of sockets)
      socket
        .on('error', () => {})
        .on('connect', () => {
          opened += 1;
          open += 1;
        })
        .on('close', () => (open -= 1))
        .resume()
        .write('POST /rpc/');
    await vi.waitFor(() => expect([opened, open]).toEqual([40, 10]), { timeout: 20_000 });
    for (let i = 0; i < 30; i++) expect((await post(address, 'projects/list', hub.admin, {})).status).toBe(200);
  });

  test('[E64] a caller who does not read its answers keeps its turns', { tags: 'long' }, async () => {
    const address = await limited({ token: { running: 2, waiting: 0, budgetMs: 60_000, refill: 4 } });
    const chain = chainWith(randomBytes(18 * megabyte).toString('base64'));
    await push(chain, await hub.project('unread'));
    const hashes = chain.db.all<{ hash: Buffer }>('SELECT hash FROM artifact').map(({ hash }) => hash.toString('hex'));
    const { token } = await hub.client().members.add({ project: 'unread', name: 'never reads', role: 'reader' });
    const body = JSON.stringify({ json: { project: 'unread', hashes } });
    const deaf: Socket[] = [];
    const askAndNeverRead = (): void => {
      const socket = connect(Number(new URL(address).port), '127.0.0.1');
      socket.on('error', () => {});
      socket.pause();
      socket.write(`${head('/rpc/sync/objects', { ...json, Authorization: `Bearer ${token}`, 'Content-Length': body.length })}${body}`);
      deaf.push(socket);
    };
    onTestFinished(() => {
      for (const socket of deaf) socket.destroy();
    });
    const hello = (as: string) => post(address, 'sync/hello', as, { project: 'unread' });
    // A question of this test may take the turn of a caller that does not read, which is then refused: another one follows.
    const noTurnIsLeft = async (): Promise<void> => {
      const { status } = await hello(token);
      if (status !== 429) askAndNeverRead();
      expect(status).toBe(429);
    };
    await vi.waitFor(noTurnIsLeft, { timeout: 20_000, interval: 300 });
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect((await hello(token)).status).toBe(429);
    expect((await hello(hub.admin)).status).toBe(200);
    for (const socket of deaf) socket.destroy();
    await vi.waitFor(async () => expect((await hello(token)).status).toBe(200), { timeout: 20_000 });
  });

  test('[E64] asking for the health of a hub costs one connection to its database', async () => {
    const database = await openHubDatabase(hub.databaseUrl);
    const objects = openHubObjects(openStore('hub', { kind: 'folder', dir: hub.objectsDir }));
    let [running, most] = [0, 0];
    const counted: typeof database = {
      ...database,
      inProject: async (...call) => {
        most = Math.max(most, ++running);
        return database.inProject(...call).finally(() => (running -= 1)) as never;
      },
    };
    const served = await serveHub({ database: counted, objects, port: 0, host: '127.0.0.1' });
    onTestFinished(() => served.close().then(database.close));
    const answers = await Promise.all(Array.from({ length: 100 }, () => fetch(`http://127.0.0.1:${served.port}/health`)));
    expect(answers.map(({ status }) => status)).toEqual(Array(100).fill(200));
    expect(most).toBe(1);
  });

  test('[E65] a refused call is in the audit log, with its procedure and code, and no content', async () => {
    await hub.project('watched');
    const { token } = await hub.client().members.add({ project: 'watched', name: 'curious', role: 'reader' });
    await expect(hub.client(token).members.list({ project: 'watched' })).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
    await expect(hub.client(token).sync.hello({ project: 'secret-name' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
    const lines = (await hub.client().audit.list({ project: 'watched' })).filter(({ by }) => by === 'curious');
    expect(lines.map(({ action, what }) => `${action} ${what}`).sort()).toEqual([
      'refused members.list UNAUTHORIZED token',
      'refused sync.hello NOT_FOUND',
    ]);
    // Repeating it does not fill the log.
    for (let i = 0; i < 20; i++)
      await hub
        .client(token)
        .members.list({ project: 'watched' })
        .catch(() => {});
    expect((await hub.client().audit.list({ project: 'watched' })).filter(({ by }) => by === 'curious')).toHaveLength(2);
  });

  test('[E66] no body makes the hub fail: bad requests are 400', { tags: 'long' }, async () => {
    await hub.project('fuzzed');
    const bodies = [
      '',
      '{',
      'null',
      '[]',
      '{"json":null}',
      '{"json":{"project":"fuzzed"},"meta":[[1,"project","x"]]}',
      '{"json":{"project":"fuzzed"},"meta":[["__proto__","constructor"]]}',
      '{"json":{"project":"fuzzed"},"meta":{"length":1}}',
      '{"json":{"project":"fuzzed"},"maps":[["project"]]}',
      '{"json":{"project":{"__proto__":1}}}',
      '{"json":{"project":"fuz\\u0000zed","after":0}}',
      '{"json":{"project":"fuzzed","after":9007199254740991}}',
      '{"json":{"project":"fuzzed","after":1e308}}',
      '{"json":{"project":"fuzzed","hashes":["\\ud800"]}}',
    ];
    for (const path of ['sync/hello', 'sync/items', 'sync/objects', 'sync/send', 'members/add', 'audit/list'])
      for (const body of bodies) {
        const { status } = await post(hub.address, path, hub.admin, body);
        expect([200, 400, 404], `${path} ${body}`).toContain(status);
      }
    for (const type of [
      'multipart/form-data; boundary=x',
      'multipart/form-data',
      'text/html',
      'application/octet-stream',
      'application/x-www-form-urlencoded',
    ])
      for (const body of ['--x\r\n', '--x\r\nContent-Disposition: form-data; name="data"\r\n\r\n{\r\n--x--\r\n', 'a=b', '\0\0'])
        expect([200, 400, 404], `${type} ${body}`).toContain(
          (await post(hub.address, 'sync/send', hub.admin, body, { 'content-type': type })).status,
        );
    const far = { project: 'fuzzed', name: 'x', role: 'reader' as const };
    for (const expiresAt of ['+275760-09-13T00:00:00.000Z', '-271821-04-20T00:00:00.000Z', '9999-12-31T23:59:59.999Z'])
      expect([200, 400]).toContain((await post(hub.address, 'members/add', hub.admin, { ...far, expiresAt })).status);
    expect((await hubClient({ hub: hub.address, token: hub.admin }).sync.hello({ project: 'fuzzed' })).seq).toBe(0);
  });
});

test('[E63] parcels that are unpacked at the same time share one limit', () => {
  const mebibyte = 1024 ** 2;
  const first = holdUnpacked(200 * mebibyte);
  expect(() => holdUnpacked(100 * mebibyte)).toThrow(expect.objectContaining({ code: 'UNAVAILABLE', data: { retryAfterMs: 1_000 } }));
  first();
  first();
  const alone = holdUnpacked(300 * mebibyte);
  expect(() => holdUnpacked(1)).toThrow(/Try again/);
  alone();
  holdUnpacked(256 * mebibyte)();
});
