import { expect, test } from 'vitest';
import { finished } from '../../../src/core/base/index.js';

test('a stream is closed when the reader of its parts throws', async () => {
  const seen: string[] = [];
  async function* stream(): AsyncGenerator<string, number> {
    try {
      yield 'first';
      yield 'second';
      return 2;
    } finally {
      seen.push('closed');
    }
  }
  const take = (part: string): void => {
    seen.push(part);
    throw new Error(`${part} is refused`);
  };
  await expect(finished(stream(), take)).rejects.toThrow('first is refused');
  expect(seen).toEqual(['first', 'closed']);
  expect(await finished(stream())).toBe(2);
});
