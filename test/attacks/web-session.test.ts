import { existsSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { ensureBuilt } from '../support/built.js';
import { type Machine, machine, type WebHost } from '../support/machine.js';
import { ask, type Reply, sendRaw, signIn, upgrade } from '../support/raw-web.js';

let own: Machine;
let host: WebHost;

const startHost = async (): Promise<void> => {
  own = machine();
  host = await own.web();
};
const endHost = (): Promise<void> => own[Symbol.asyncDispose]();

beforeAll(ensureBuilt);

const bearer = (secret: string): Record<string, string> => ({ authorization: `Bearer ${secret}` });
const json = { 'content-type': 'application/json' };

async function upgradeStatus(headers: Record<string, string>, path = '/rpc'): Promise<number> {
  const { status, socket } = await upgrade(host.port, path, headers);
  socket.destroy();
  return status;
}

describe('the link', () => {
  beforeEach(startHost);
  afterEach(endHost);

  test('[T40] its code is no bearer, before and after it was used', { tags: 'long' }, async () => {
    // The printed link's token stayed a valid bearer for as long as Stemma ran: it is in the browser's history and in the terminal.
    const attempt = async (): Promise<number[]> => [
      (await ask(host.port, '/api/library/startup', { ...bearer(host.code), ...json }, 'POST', '{}')).status,
      (await ask(host.port, '/', bearer(host.code))).status,
      await upgradeStatus({ ...bearer(host.code), origin: host.origin }),
    ];
    expect(await attempt()).toEqual([401, 401, 403]);
    const { cookie } = await signIn(host);
    expect(await attempt()).toEqual([401, 401, 403]);
    expect(cookie).not.toContain(host.code);
    expect(cookie).not.toContain(host.bearer);
    expect(host.bearer).not.toBe(host.code);
  });

  test('[T40] the code of the link and the bearer are no cookie, and the cookie is no bearer', { tags: 'long' }, async () => {
    const { cookie, origin } = await signIn(host);
    const [name, session = ''] = cookie.split('=');
    for (const secret of [host.code, host.bearer]) expect(await upgradeStatus({ cookie: `${name}=${secret}`, origin })).toBe(403);
    for (const secret of [session, '', ' ', `${host.bearer}x`, host.bearer.slice(1)])
      expect((await ask(host.port, '/', bearer(secret))).status).toBe(401);
  });

  test('[T41] the code works once, also for two that race', { tags: 'long' }, async () => {
    // A second person reads the link over a shoulder or in the terminal's history and opens it at the same moment, or later.
    const all = await Promise.all(Array.from({ length: 20 }, () => ask(host.port, `/?token=${host.code}`)));
    expect(all.map(({ status }) => status).sort()).toEqual([303, ...Array.from({ length: 19 }, () => 401)]);
    expect(all.filter(({ headers }) => headers['set-cookie'])).toHaveLength(1);
    expect((await ask(host.port, `/?token=${host.code}`)).body).toContain('already used');
  });

  test('[T41] no other request uses the code up', { tags: 'long' }, async () => {
    for (const [path, headers, method] of [
      [`/index.html?token=${host.code}`, {}, 'GET'],
      [`/?token=${host.code}`, {}, 'HEAD'],
      [`/?token=${host.code}`, {}, 'POST'],
      [`/?token=${host.code}`, { origin: 'http://evil.example' }, 'GET'],
      [`/?token=${host.code}`, { host: 'evil.example' }, 'GET'],
      [`/?token=${host.code}`, { 'sec-fetch-site': 'same-site' }, 'GET'],
      [`/?token=${host.code.slice(1)}`, {}, 'GET'],
      [`/?token=${host.code}x`, {}, 'GET'],
    ] as const)
      expect((await ask(host.port, path, headers, method)).headers['set-cookie'], `${method} ${path}`).toBeUndefined();
    expect((await ask(host.port, `/?token=${host.code}`)).status).toBe(303);
  });

  test('[T41] anybody may ask for a new link, but only the terminal shows it', { tags: 'long' }, async () => {
    const replies = [await ask(host.port, '/new-link', {}, 'POST')];
    // The first link still works, so that nobody can take it away from its owner.
    expect(host.said()).not.toContain('New link');
    expect((await ask(host.port, `/?token=${host.code}`)).status).toBe(303);
    for (let round = 0; round < 20; round++) replies.push(await ask(host.port, '/new-link', {}, 'POST'));
    await expect.poll(() => host.said()).toContain('New link');
    const codes = [...host.said().matchAll(/New link: \S+token=([\w-]+)/g)].map(([, code]) => code ?? '');
    expect(codes).toHaveLength(1);
    for (const { body, headers } of replies) {
      expect(body).not.toContain(codes[0]);
      expect(headers['set-cookie']).toBeUndefined();
    }
    expect((await ask(host.port, '/new-link', { origin: `http://127.0.0.1:${host.port + 1}` }, 'POST')).status).toBe(403);
    expect((await ask(host.port, `/?token=${codes[0]}`)).status).toBe(303);
  });

  test('[T41] a browser that is signed in may open its old link again, and gets no second session', { tags: 'long' }, async () => {
    const page = await signIn(host);
    const again = await ask(host.port, `/?token=${host.code}&theme=dark`, { cookie: page.cookie });
    expect(again).toMatchObject({ status: 303, headers: { location: '/?theme=dark' } });
    expect(again.headers['set-cookie']).toBeUndefined();
  });
});

describe('the cookie', () => {
  let reply: Reply;
  let page: { readonly cookie: string; readonly origin: string };
  beforeAll(async () => {
    await startHost();
    reply = await ask(host.port, `/?token=${host.code}`);
    page = { cookie: String(reply.headers['set-cookie']).split(';')[0] ?? '', origin: host.origin };
  });
  afterAll(endHost);

  test('[T42] is for this host alone and out of reach of scripts', () => {
    const [cookie = '', ...attributes] = String(reply.headers['set-cookie']).split('; ');
    expect(cookie).toMatch(new RegExp(`^stemma-${host.port}=[\\w-]{43}$`));
    // No Domain: the browser sends it to this host name only. No expiry: it ends with the browser, and its value with Stemma.
    expect(attributes).toEqual(['Path=/', 'HttpOnly', 'SameSite=Strict']);
  });

  test('[T42] opens the WebSocket together with the own Origin only', async () => {
    // Browsers send the cookie to every port of this machine. Only the Origin says which port's page asks.
    const { cookie, origin } = page;
    expect(await upgradeStatus({ cookie, origin })).toBe(101);
    const foreign = [
      'null',
      `http://127.0.0.1:${host.port + 1}`,
      `http://localhost:${host.port}`,
      `https://127.0.0.1:${host.port}`,
      'http://127.0.0.1',
    ];
    for (const other of foreign) expect(await upgradeStatus({ cookie, origin: other }), other).toBe(403);
    expect(await upgradeStatus({ cookie })).toBe(403);
    expect(await upgradeStatus({ origin })).toBe(403);
    expect(await upgradeStatus({ cookie, origin, 'sec-fetch-site': 'same-site' })).toBe(403);
    expect(await upgradeStatus({ cookie, origin, Host: `evil.example:${host.port}` })).toBe(403);
    expect(await upgradeStatus({ cookie, origin }, '/elsewhere')).toBe(404);
  });

  test('[T42] changes nothing over HTTP without the own Origin', { tags: 'long' }, async () => {
    const { cookie, origin } = page;
    const dir = own.path('work', 'made.stemma');
    const create = (headers: Record<string, string>) =>
      ask(host.port, '/api/project/create', { ...headers, ...json }, 'POST', JSON.stringify({ dir }));
    expect((await create({ cookie })).status).toBe(403);
    for (const other of ['null', `http://127.0.0.1:${host.port + 1}`]) expect((await create({ cookie, origin: other })).status).toBe(403);
    expect(existsSync(dir)).toBe(false);
    expect((await create({ cookie, origin })).status).toBe(200);
  });

  test('[T42] a cookie of the same name that another port set does not lock the window out', async () => {
    const { cookie, origin } = page;
    const [name] = cookie.split('=');
    expect(await upgradeStatus({ cookie: `${name}=forged; ${cookie}; ${name}=`, origin })).toBe(101);
  });
});

test('[T42] the cookie ends with Stemma: a new start knows neither the cookie nor the bearer', { tags: 'long' }, async () => {
  await startHost();
  onTestFinished(endHost);
  const page = await signIn(host);
  host.process.kill('SIGTERM');
  await new Promise((resolve) => host.process.once('exit', resolve));
  const before = host.bearer;
  host = await own.web('--port', String(host.port));
  expect(await upgradeStatus(page)).toBe(403);
  expect((await ask(host.port, '/', { cookie: page.cookie })).status).toBe(401);
  expect((await ask(host.port, '/', bearer(before))).status).toBe(401);
});

describe('the bearer', () => {
  beforeEach(() => {
    own = machine();
  });
  afterEach(endHost);

  test('[T43] is in a new file that only its owner can read, and goes with the host', { tags: 'long' }, async () => {
    host = await own.web();
    const path = own.path('my-bearer');
    const second = await own.web('--bearer-file', path);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readFileSync(path, 'utf8')).toBe(second.bearer);
    expect((await ask(second.port, '/api/openapi.json', bearer(second.bearer))).status).toBe(200);
    expect((await ask(host.port, '/api/openapi.json', bearer(second.bearer))).status).toBe(401);
    second.process.kill('SIGTERM');
    await new Promise((resolve) => second.process.once('exit', resolve));
    expect(existsSync(path)).toBe(false);
  });

  test('[T43] is never written over a file or through a link', async () => {
    const file = own.path('kept');
    writeFileSync(file, 'mine');
    symlinkSync(own.path('elsewhere'), own.path('link'));
    for (const path of [file, own.path('link'), own.path('missing', 'folder')])
      expect(await own.run('web', '--no-open', '--bearer-file', path), path).toMatchObject({ code: 1, err: expect.stringContaining(path) });
    expect(readFileSync(file, 'utf8')).toBe('mine');
    expect(existsSync(own.path('elsewhere'))).toBe(false);
  });

  test('[T43] does not exist unless it was asked for', { tags: 'long' }, async () => {
    const plain = await own.start({});
    for (const secret of ['', 'undefined', 'null', plain.code]) expect((await ask(plain.port, '/', bearer(secret))).status).toBe(401);
    expect((await sendRaw(plain.port, `GET / HTTP/1.0\r\nHost: 127.0.0.1:${plain.port}\r\nAuthorization: Bearer\r\n\r\n`)).slice(9, 12)).toBe('401');
  });
});
