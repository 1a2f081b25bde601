import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { endIfSlow, serverOptions, slowLimits } from '../../src/main/connections/index.js';
import { startOtlp } from '../../src/main/otlp/index.js';
import { startProxy } from '../../src/main/proxy/index.js';
import { scratch } from '../support/project.js';
import { drip, upgrade } from '../support/raw-web.js';
import { filesBelow, isSource, textAt } from '../support/source.js';

test('[E63] the times of every server are bounded', () => {
  expect(serverOptions()).toEqual({ headersTimeout: 20_000, requestTimeout: 300_000, connectionsCheckingInterval: 5_000 });
  expect(slowLimits.silent).toBeLessThan(500);
});

test('[E63] a body that arrives too slowly for its length ends its connection', async () => {
  const read: string[] = [];
  const server = createServer(async (request, response) => {
    const stop = endIfSlow(request, Number(request.headers['content-length']), { graceMs: 100, bytesPerMs: 10 });
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of request) chunks.push(chunk as Buffer);
      read.push(Buffer.concat(chunks).toString());
    } catch {
      return;
    } finally {
      stop();
    }
    await wait(300);
    response.end('ok');
  });
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const slow = drip(port, 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n');
  expect(await (await fetch(`http://127.0.0.1:${port}`, { method: 'POST', body: 'whole' })).text()).toBe('ok');
  expect(await slow).toBeLessThan(20_000);
  expect(read).toEqual(['whole']);
});

test('[E63] every HTTP server limits silent connections, and every reader of a body slow ones', () => {
  const files = filesBelow('src/main', isSource).map((path) => ({ path, text: textAt(path) }));
  const count = (text: string, pattern: RegExp): number => text.match(pattern)?.length ?? 0;
  // A server with TLS is limited where it is made.
  const servers = files.filter(({ path, text }) => /node:http'/.test(text) && /createServer\(/.test(text) && path !== 'src/main/hub/tls.ts');
  expect(servers.map(({ path }) => path)).toEqual(
    ['hub/server.ts', 'otlp/server.ts', 'proxy/proxy.ts', 'web/host.ts'].map((path) => `src/main/${path}`),
  );
  for (const { path, text } of servers) {
    expect(count(text, /createServer\((?!serverOptions)(?!tls)/g), path).toBe(0);
    expect(count(text, /limitSilent\(/g), path).toBe(path.includes('hub') ? 2 : 1);
  }
  const readers = files.filter(({ text }) => /for await \(const \w+ of request/.test(text));
  expect(readers.map(({ path }) => path)).toEqual(['src/main/connections/index.ts', 'src/main/hub/body.ts']);
  for (const { path, text } of readers) expect(text, path).toMatch(/endIfSlow\(request, /);
});

const quiet = { problem: () => {}, record: async () => {} };
const upstream = new URL('http://127.0.0.1:9/');
const onLoopback = [
  ['spans', () => startOtlp({ token: 't', port: 0, folder: join(scratch(), 'received'), importFile: async () => {}, ...quiet })],
  ['recorded calls', () => startProxy({ upstreams: { anthropic: upstream, openai: upstream, gemini: upstream }, ...quiet })],
] as const;

test.each(onLoopback)('[E63] too many silent connections to the server of %s end the oldest, and keep nobody out', async (_, start) => {
  const server = await start();
  onTestFinished(() => server.close());
  let open = 0;
  const sockets = Array.from({ length: slowLimits.silent + 40 }, () => connect(server.port, '127.0.0.1'));
  onTestFinished(() => sockets.forEach((socket) => void socket.destroy()));
  for (const socket of sockets)
    socket
      .on('error', () => {})
      .on('connect', () => (open += 1))
      .on('close', () => (open -= 1))
      .resume()
      .write('POST /v1');
  await vi.waitFor(() => expect(open).toBe(slowLimits.silent), { timeout: 10_000 });
  const answer = await fetch(`http://127.0.0.1:${server.port}/elsewhere`, { method: 'POST', body: 'x' });
  expect(answer.status).toBeLessThan(500);
});

test.each(onLoopback)('[E63] a client that asks the server of %s for another protocol is answered', async (_, start) => {
  const server = await start();
  onTestFinished(() => server.close());
  // This is how Java and curl ask for HTTP/2. Without an answer from us, nothing would end these connections or notice a reset.
  for (const protocol of ['h2c', 'websocket', 'x']) {
    const { status, socket } = await upgrade(server.port, '/elsewhere', { Upgrade: protocol, Connection: 'Upgrade, HTTP2-Settings' });
    expect(status, protocol).toBeGreaterThanOrEqual(200);
    expect(status, protocol).toBeLessThan(600);
    socket.resetAndDestroy();
  }
});
