import { expect, test } from 'vitest';
import { openMailbox } from '../../../src/core/base/index.js';

test('a mailbox is read in order, also what is put in while it is read, until it is closed', async () => {
  const box = openMailbox<number | undefined>();
  const read: (number | undefined)[] = [];
  box.put(1);
  box.put(undefined);
  for await (const one of box.read()) {
    read.push(one);
    if (one === 1) box.put(3);
    if (one === 3) box.close();
  }
  expect(read).toEqual([1, undefined, 3]);
});

test('a mailbox with 100,000 things is read within a second', { timeout: 20_000 }, async () => {
  const box = openMailbox<number>();
  for (let one = 0; one < 100_000; one++) box.put(one);
  box.close();
  const from = performance.now();
  let sum = 0;
  for await (const one of box.read()) sum += one;
  expect(sum).toBe(4_999_950_000);
  expect(performance.now() - from).toBeLessThan(1_000);
});
