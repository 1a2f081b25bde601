import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { endIfSlow, serverOptions, slowLimits } from '../../src/main/connections/index.js';
import { drip } from '../support/raw-web.js';

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
