import { expect, test } from 'vitest';
import { joining } from '../../../src/core/chain/index.js';

const count = 20_000;
const links = Array.from({ length: count - 1 }, (_, at) => at);

// Paths as long as the group would need 200 million steps: more than ten seconds.
test.each([
  { order: 'ascending', joined: links },
  { order: 'descending', joined: links.toReversed() },
])('a chain of links in $order order is one group, found in a second', ({ joined }) => {
  const { groupOf, join } = joining<number>();
  const start = performance.now();
  for (const at of joined) join(at, at + 1);
  expect(new Set(links.map(groupOf)).size).toBe(1);
  expect(performance.now() - start).toBeLessThan(1_000);
  expect(groupOf(count)).toBe(count);
});
