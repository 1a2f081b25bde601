import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import type { StemmaError } from '../../src/core/base/index.js';
import { hubClient, openLogins } from '../../src/main/team/index.js';
import { scratch } from '../support/project.js';

const megabyte = 1024 ** 2;
const whole = 1_500 * megabyte;

/** A hub that answers every call with a body of 1.5 GB. */
async function flooding(header: Readonly<Record<string, string>>) {
  let sent = 0;
  const server = createServer((request, answer) => {
    request.resume();
    answer.writeHead(200, { 'content-type': 'application/json', ...header });
    const block = Buffer.alloc(megabyte, 0x20);
    const more = (): void => {
      while (sent < whole) {
        sent += block.length;
        if (!answer.write(block)) return void answer.once('drain', more);
      }
      answer.end();
    };
    more();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { hub: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, sent: () => sent };
}

test.each([
  ['says its length', { 'content-length': String(whole) }, 64],
  ['does not say its length', {}, 700],
])('[E53] an answer of 1.5 GB that %s is refused, and costs little memory', { tags: 'long', timeout: 60_000 }, async (_, header, most) => {
  const { hub, sent } = await flooding(header);
  const before = process.memoryUsage().rss;
  let peak = before;
  const watch = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage().rss);
  }, 20);
  const call = hubClient({ hub, token: 'stm_x' }).sync.hello({ project: 'p' });
  await expect(call).rejects.toMatchObject({ code: 'UNAVAILABLE', message: expect.stringContaining('more than 256 MB') });
  clearInterval(watch);
  expect((peak - before) / megabyte).toBeLessThan(most);
  expect(sent()).toBeLessThan(whole / 2);
});

/** A server that answers every request so. It listens on an address of this machine that counts as another one, unless `host` is given. */
async function answering(listener: RequestListener, host = '127.0.0.2'): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://${host}:${(server.address() as AddressInfo).port}`;
}

test('[E53] a hub sends no client to another address, and lets none wait for an hour', async () => {
  let asked = 0;
  const other = await answering((_, answer) => {
    asked += 1;
    answer.writeHead(200).end('{}');
  });
  for (const status of [301, 302, 307, 308]) {
    const hub = await answering(
      (request, answer) => void request.resume().on('end', () => answer.writeHead(status, { location: `${other}/rpc` }).end()),
    );
    await expect(hubClient({ hub, token: 'stm_x' }).sync.hello({ project: 'p' })).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  }
  expect(asked).toBe(0);
  const busy = await answering((request, answer) => void request.resume().on('end', () => answer.writeHead(429, { 'retry-after': '3600' }).end()));
  const call = hubClient({ hub: busy, token: 'stm_x' })
    .sync.hello({ project: 'p' })
    .catch(() => 'refused');
  expect(await Promise.race([call, new Promise((resolve) => setTimeout(resolve, 20_000, 'waits').unref())])).toBe('refused');
});

test('an answer with another status is said with it, and with what to do', async () => {
  const says = async (status: number, body = '<h1>nginx</h1>'): Promise<unknown> => {
    const head = { 'content-type': body.startsWith('<') ? 'text/html' : 'application/json' };
    const hub = await answering((request, answer) => void request.resume().on('end', () => answer.writeHead(status, head).end(body)));
    return hubClient({ hub, token: 'stm_x' })
      .sync.hello({ project: 'p' })
      .catch(({ code, message }: StemmaError) => `${code} ${message.replace(hub, 'HUB')}`);
  };
  expect(await says(413)).toBe(
    'UNAVAILABLE The hub HUB answers with status 413 (Payload Too Large). A proxy in front of the hub rejects requests of this size: allow 64 MB.',
  );
  expect(await says(502)).toBe('UNAVAILABLE The hub HUB answers with status 502 (Bad Gateway). Try again later: what has arrived stays.');
  expect(await says(403)).toBe('UNAVAILABLE The hub HUB answers with status 403 (Forbidden). Check its address.');
  expect(await says(200, 'null')).toBe('UNAVAILABLE The hub HUB did not answer like a Stemma hub. Check its address.');
  const call = hubClient({ hub: 'http://127.0.0.1:9', token: 'stm_x' }).sync.hello({ project: 'p' });
  await expect(call).rejects.toMatchObject({ message: expect.stringContaining('does not answer: bad port') });
});

test('[E53] an answer of many values or levels is refused before it is parsed', { tags: 'long' }, async () => {
  for (const list of [`[${'{},'.repeat(20 * megabyte)}{}]`, `${'['.repeat(megabyte)}${']'.repeat(megabyte)}`]) {
    const hub = await answering((request, answer) => {
      request.resume();
      answer.writeHead(200, { 'content-type': 'application/json' }).end(`{"json":${list}}`);
    });
    const before = process.memoryUsage().heapUsed;
    const call = hubClient({ hub, token: 'stm_x' }).projects.list({});
    await expect(call).rejects.toMatchObject({ code: 'UNAVAILABLE', message: expect.stringContaining('does not read') });
    expect((process.memoryUsage().heapUsed - before) / megabyte).toBeLessThan(300);
  }
});

test('[E32] [E53] a sign-in asks no address that a hub may not name', { timeout: 60_000 }, async () => {
  const asked: string[] = [];
  const own = await answering((request, answer) => {
    asked.push(request.url ?? '');
    answer.end('{}');
  }, '127.0.0.1');
  const { signIn } = openLogins(scratch());
  const named = (issuer: unknown): Promise<string> =>
    answering(
      (_, answer) => void answer.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ issuer, client: 'c', audience: 'a' })),
    );
  for (const issuer of [own, `${own}/x`, 'http://example.com', 'file:///etc/passwd', 'javascript:alert(1)', 'no address', '', 'ftp://127.0.0.1'])
    await expect(signIn(await named(issuer)), issuer).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  for (const issuer of [7, null, {}]) await expect(signIn(await named(issuer))).rejects.toMatchObject({ code: 'NOT_FOUND' });
  expect(asked).toEqual([]);
  const { hub, sent } = await flooding({});
  await expect(signIn(hub)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  expect(sent()).toBeLessThan(200 * megabyte);
});
