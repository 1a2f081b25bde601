import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { sendSpans } from '../../src/main/engine/collector.js';

test('[F40] spans go out with the headers of the environment, or a refusal says why', async () => {
  const seen: unknown[] = [];
  const answers = ['{}', '{"partialSuccess":{"rejectedSpans":"2"}}'];
  const server = createServer((request, response) => {
    seen.push([request.method, request.url, request.headers['content-type'], request.headers.authorization, request.headers['x-team']]);
    response.end(answers.shift());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/traces`;
  try {
    await sendSpans(address, '{}', 'Authorization=Bearer%20abc, X-Team=a=b');
    await expect(sendSpans(address, '{}', '')).rejects.toThrow(`The spans were not sent to ${address}: it rejected 2 of them`);
  } finally {
    server.close();
  }
  expect(seen).toEqual([
    ['POST', '/v1/traces', 'application/json', 'Bearer abc', 'a=b'],
    ['POST', '/v1/traces', 'application/json', undefined, undefined],
  ]);
  await expect(sendSpans(address, '{}', '')).rejects.toThrow(`The spans were not sent to ${address}:`);
});
