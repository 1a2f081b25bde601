import { spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { delimiter, join } from 'node:path';
import { expect, test } from '../../support/e2e.js';
import { built, node, root } from '../../support/machine.js';

test.describe('npm start', () => {
  test.skip(process.platform !== 'linux', 'the other platforms always have a display');

  test('without a display, prints the reason and serves the same window', async ({ machine }) => {
    const host = await machine.start({});
    expect(host.said().split('\n')[0]).toBe('This machine has no display: serving the same window for a browser.');
    expect((await fetch(host.url, { redirect: 'manual' })).status).toBe(303);
  });

  test('if Electron does not start, prints the reason and serves the same window', async ({ machine }) => {
    const host = await machine.start({ DISPLAY: ':77', STEMMA_ELECTRON: '/bin/false' });
    const why = process.getuid?.() === 0 ? "Electron's sandbox does not run as root" : 'Electron did not start';
    expect(host.said().split('\n')[0]).toBe(`${why}: serving the same window for a browser.`);
  });

  test('ends with the process that started it', async ({ machine }) => {
    const host = await machine.start({});
    const ended = new Promise((resolve) => host.process.once('exit', resolve));
    host.process.kill('SIGTERM');
    await ended;
    await expect(fetch(host.origin)).rejects.toThrow();
  });
});

/** A Node on this machine that is too old for better-sqlite3. */
const oldNode = (process.env.PATH ?? '')
  .split(delimiter)
  .map((dir) => join(dir, 'node'))
  .find((path) => existsSync(path) && Number(/^v(\d+)/.exec(spawnSync(path, ['-v'], { encoding: 'utf8' }).stdout)?.[1] ?? 99) < 22);

test('an older Node hands over to the project’s own', { tag: '@long' }, async ({ machine }) => {
  test.skip(!oldNode, 'no Node older than 22 is on this machine');
  const run = (...words: string[]) =>
    spawnSync(oldNode ?? '', [built('cli', 'stemma.js'), ...words], {
      encoding: 'utf8',
      env: machine.env,
      input: '{"text":"x","contentType":"text/plain"}',
    });
  const dir = machine.path('p.stemma');
  expect(run('init', dir)).toMatchObject({ status: 0, stderr: '' });
  expect(run('call', 'artifact.put', '--project', dir, '--input', '-')).toMatchObject({ status: 0, stdout: expect.stringContaining('blake3:') });
  expect(run('call', 'no.such').status).toBe(2);
});

test('a proxy that blocks the registry is named in one sentence, and nothing is half installed', async ({ machine }) => {
  const place = machine.path('checkout', 'test');
  mkdirSync(join(place, 'support'), { recursive: true });
  mkdirSync(join(place, 'peers'));
  for (const name of ['support/peers.ts', 'peers/package.json', 'peers/package-lock.json']) cpSync(join(root, 'test', name), join(place, name));
  const proxy = createServer((_, response) => response.writeHead(403).end('Blocked by the company.'));
  proxy.on('connect', (_, socket) => socket.end('HTTP/1.1 403 Forbidden\r\n\r\n'));
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const address = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const settings = { registry: 'http://registry.invalid/', proxy: address, https_proxy: address, cache: machine.path('npm'), fetch_retries: '0' };
  const env = { ...machine.env, ...Object.fromEntries(Object.entries(settings).map(([name, value]) => [`npm_config_${name}`, value])) };
  const child = spawn(node, [join(place, 'support', 'peers.ts')], { env });
  let said = '';
  child.stderr.on('data', (data: Buffer) => {
    said += data.toString();
  });
  const code = await new Promise((resolve) => child.on('close', resolve));
  proxy.close();
  expect({ code, lines: said.trim().split('\n').length }, said).toEqual({ code: 1, lines: 1 });
  expect(said).toMatch(/^The packages of test\/peers\/package\.json cannot be installed: .*403.*Check npm's settings/);
  expect(existsSync(join(place, 'peers', 'node_modules', 'installed'))).toBe(false);
});
