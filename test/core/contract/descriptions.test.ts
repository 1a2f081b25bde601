import { describe, expect, test } from 'vitest';
import { contract, describeProcedure, type JsonSchema, procedureNames } from '../../../src/core/contract/index.js';

/^(project|artifact|import|capture|source|library|ticket|turn|experiment|compose|timeline|space|run|card|box|profile|handover|agent|projects)\./;

/** The paths of all fields of an input that have no description. */
function undescribed(schema: JsonSchema, path: string): string[] {
  const fields = Object.entries(schema.properties ?? {}).flatMap(([name, field]) => [
    ...(field.description ? [] : [`${path}.${name}`]),
    ...undescribed(field, `${path}.${name}`),
  ]);
  const below = [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.items ? [schema.items] : [])];
  if (typeof schema.additionalProperties === 'object') below.push(schema.additionalProperties);
  return [...fields, ...below.flatMap((each) => undescribed(each, path))];
}

const names = procedureNames(contract);

describe('the contract', () => {
  test('lists every procedure by its name', () => {
    expect(procedureNames(contract)).toEqual(expect.arrayContaining(['project.create', 'context.show', 'import.run', 'library.startup']));
    expect(procedureNames(contract).length).toBeGreaterThan(150);
  });

  test.each(names)('describes %s and every field of its input', (name) => {
    const { description, input } = describeProcedure(contract, name) ?? {};
    expect(description).toMatch(/^[A-Z].+\.$/s);
    expect(undescribed(input ?? {}, name)).toEqual([]);
  });

  test('describes no procedure that it does not have', () => {
    expect(['', 'context', 'context.nothing', 'toString', '__proto__.show'].map((name) => describeProcedure(contract, name))).toEqual(
      Array(5).fill(undefined),
    );
  });
});
