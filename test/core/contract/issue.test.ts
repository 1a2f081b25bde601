import { expect, test } from 'vitest';
import { z } from 'zod';
import { describeInvalid } from '../../../src/core/contract/index.js';

const schema = z.strictObject({
  limit: z.int().min(1).max(100).default(10),
  name: z.string().min(1).max(5).optional(),
  ids: z.array(z.string()).max(2).optional(),
  by: z.enum(['day', 'model']).optional(),
  share: z.number().gt(0).lt(1).optional(),
  at: z.iso.datetime().optional(),
  one: z.union([z.string(), z.array(z.string())]).optional(),
  kind: z.discriminatedUnion('is', [z.object({ is: z.literal('a') }), z.object({ is: z.literal('b') })]).optional(),
  id: z.string().regex(/^ctx-/, 'a context id is ctx- and hex digits').optional(),
  base: z
    .string()
    .refine((text) => text !== 'no', 'must be base64 text')
    .optional(),
  token: z.string().max(5).optional(),
  login: z.object({ secretKey: z.string(), user: z.string() }).or(z.literal('none')).optional(),
});

const refused = (input: unknown) => {
  const { error } = schema.safeParse(input);
  return describeInvalid(error?.issues ?? [], input, () => ['limit', 'name']);
};

test.for([
  [{ limit: 'two' }, 'limit is "two". It must be a number.'],
  [{ limit: 1.5 }, 'limit is 1.5. It must be a whole number.'],
  [{ limit: 0 }, 'limit is 0. It must be at least 1.'],
  [{ limit: 101 }, 'limit is 101. It must be at most 100.'],
  [{ share: 0 }, 'share is 0. It must be more than 0.'],
  [{ share: 1 }, 'share is 1. It must be less than 1.'],
  [{ name: '' }, 'name is "". It must have at least 1 character.'],
  [{ name: 'longer' }, 'name is "longer". It must have at most 5 characters.'],
  [{ ids: ['a', 'b', 'c'] }, 'ids is ["a","b","c"]. It must have at most 2 items.'],
  [{ ids: ['a', 3] }, 'ids.1 is 3. It must be a string.'],
  [{ by: 'week' }, 'by is "week". It must be "day" or "model".'],
  [{ at: 'noon' }, 'at is "noon". It must be a time such as 2026-01-31T12:00:00Z.'],
  [{ one: 3 }, 'one is 3. It must be a string or a list.'],
  [{ kind: { is: 'c' } }, 'kind.is is "c". It must be "a" or "b".'],
  [{ kind: {} }, 'kind.is is missing. It must be "a" or "b".'],
  [{ id: 'abc' }, 'id is "abc". A context id is ctx- and hex digits.'],
  [{ base: 'no' }, 'base is "no". It must be base64 text.'],
  [{ limti: 3 }, 'limti is not a field. The fields are limit and name.'],
  [7, 'The input is 7. It must be an object.'],
] as const)('an invalid input is named with its value and what would be right: %j', ([input, words]) => {
  expect(refused(input).message).toBe(words);
});

test('the field of an invalid input is its path', () => {
  expect(refused({ ids: ['a', 3] }).field).toBe('ids.1');
  expect(refused({ limti: 3 }).field).toBe('limti');
  expect(refused(7).field).toBe('input');
});

test('a refused input never repeats a secret', () => {
  for (const input of [{ token: 'sk-12345678' }, { login: { secretKey: 'sk-12345678', user: 3 } }, { login: { secretKey: 'sk-12345678' } }]) {
    const { message } = refused(input);
    expect(message).not.toContain('sk-1');
    expect(message).not.toBe('');
  }
});
