import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { hubClient } from '../../src/main/team/client.js';

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
])('[E53] an answer of 1.5 GB that %s is refused, and costs little memory', { timeout: 60_000 }, async (_, header, most) => {
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
