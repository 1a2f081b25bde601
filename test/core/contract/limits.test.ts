import { ORPCError } from '@orpc/server';
import { describe, expect, test } from 'vitest';
import { contract, describeProcedure, type JsonSchema, procedureNames } from '../../../src/core/contract/index.js';
import { door } from '../../support/door.js';

/** The limits of JSON Schema, besides what a description of a procedure uses. */
interface Limited extends JsonSchema {
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly propertyNames?: Limited;
  readonly prefixItems?: readonly Limited[];
  readonly $defs?: Readonly<Record<string, Limited>>;
}

/** The texts and lists of a schema that may have any size. */
function unlimited(schema: Limited, path: string): string[] {
  const isChosen = schema.enum !== undefined || schema.const !== undefined;
  const own =
    schema.type === 'string' && !isChosen && schema.maxLength === undefined
      ? [`text ${path}`]
      : schema.type === 'array' && schema.maxItems === undefined && schema.prefixItems === undefined
        ? [`list ${path}`]
        : [];
  const named = Object.entries({ ...schema.properties, ...schema.$defs }).flatMap(([name, field]) => unlimited(field as Limited, `${path}.${name}`));
  const parts = [
    ...(schema.anyOf ?? []),
    ...(schema.oneOf ?? []),
    ...(schema.allOf ?? []),
    ...(schema.prefixItems ?? []),
    schema.items,
    schema.propertyNames,
  ];
  const rest = typeof schema.additionalProperties === 'object' ? [schema.additionalProperties] : [];
  return [...own, ...named, ...[...parts, ...rest].flatMap((part) => (part === undefined ? [] : unlimited(part as Limited, `${path}[]`)))];
}

describe('limits of inputs', () => {
  test('[C29] every text and every list of an input has a limit, times included', () => {
    const found = procedureNames(contract).flatMap((name) => unlimited(describeProcedure(contract, name)?.input ?? {}, name));
    expect(found).toEqual([]);
    expect(unlimited({ type: 'object', properties: { a: { type: 'array', items: { type: 'string' } } as Limited } }, 'x')).toEqual([
      'list x.a',
      'text x.a[]',
    ]);
  });

  test.each([
    ['a time', 'context.resolve', { principal: 'x', at: `2026-01-31T12:00:00.${'0'.repeat(100_000)}Z` }, 'at'],
    ['a list', 'projects.cards', { projectId: 'p', card_ids: Array.from({ length: 100_001 }, () => 'x') }, 'card_ids'],
    ['a filter', 'session.list', { filter: { text: 'x'.repeat(4_097) } }, 'filter.text'],
    ['a name', 'profile.find', { name: 'x'.repeat(4_097) }, 'name'],
  ])('[C29] %s that is too long is refused by its field', async (_, name, input, field) => {
    const [namespace, procedure] = name.split('.') as [string, string];
    const calls = door().client as unknown as Record<string, Record<string, (input: object) => Promise<unknown>>>;
    const refused = await calls[namespace]?.[procedure]?.(input).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(ORPCError);
    expect(refused).toMatchObject({ code: 'BAD_REQUEST', data: { field } });
  });
});
