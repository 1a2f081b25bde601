import { afterEach, expect, test, vi } from 'vitest';
import { config } from 'zod';

afterEach(() => {
  config({ postProcessor: undefined });
  vi.resetModules();
});

test('a process makes the schemas of the procedures that it uses, and no others', async () => {
  const schemas = new Set<object>();
  config({ postProcessor: (schema) => schemas.add(schema) });
  vi.resetModules();
  const { contract, describeProcedure, procedureNames, z } = await import('../../../src/core/contract/index.js');
  // Made at once: schemas whose fields another schema takes over.
  expect(schemas.size).toBeLessThan(700);
  const { inputSchema } = contract.card.list['~orpc'];
  expect(inputSchema?.['~standard'].validate({ limit: 0 })).toMatchObject({ issues: [{ path: ['limit'] }] });
  expect(schemas.size).toBeLessThan(750);
  expect(z.madeSchema(inputSchema)).not.toBe(inputSchema);
  expect(schemas).toContain(z.madeSchema(inputSchema));
  for (const name of procedureNames(contract)) describeProcedure(contract, name);
  expect(schemas.size).toBeGreaterThan(5_000);
});

test('a schema that is not made yet answers as a made one does', async () => {
  const { z } = await import('../../../src/core/contract/index.js');
  const part = z.string().min(2).describe('A part.');
  const whole = z.object({ part: part.optional(), list: z.array(part).max(1) }).describe('A whole.');
  expect(whole.description).toBe('A whole.');
  expect(z.toJSONSchema(whole)).toMatchObject({ description: 'A whole.', properties: { part: { description: 'A part.' } } });
  expect(whole.parse({ list: ['ab'] })).toEqual({ list: ['ab'] });
  expect(whole.safeParse({ list: ['a'] }).error?.issues).toMatchObject([{ path: ['list', 0] }]);
  expect(whole.shape.part.unwrap().safeParse('a').success).toBe(false);
});
