import { expect, test } from 'vitest';
import type { ContextId } from '../../src/core/contract/index.js';
import { mostSimilar } from '../../src/renderer/parts/alike.js';

const candidate = (id: string, text: string, createdAt: string) => ({ id: id as ContextId, text, createdAt });
const columns = candidate('ctx-0a', 'The list looks ragged, see docs/list.png. Can you line the columns up?', '2026-11-21T09:10:00.000Z');
const words = candidate('ctx-0b', 'Leave the columns alone. Say it in words instead: today, tomorrow.', '2026-11-21T09:18:00.000Z');
const again = { ...words, id: 'ctx-0c' as ContextId, createdAt: '2026-11-22T08:00:00.000Z' };

test('[W2] the original of a fork is the sibling that it most resembles, the oldest of equals', () => {
  const fork = 'Leave the columns alone. Say it in words instead: today, tomorrow. Keep the date where it is far away.';
  expect(mostSimilar(fork, [columns, again, words])?.id).toBe('ctx-0b');
  expect(mostSimilar('Line the columns up, as in docs/list.png', [columns, words])?.id).toBe('ctx-0a');
  expect(mostSimilar('', [again, words, columns])?.id).toBe('ctx-0a');
  expect(mostSimilar(fork, [])).toBeUndefined();
});
