// Bad values for every field of every input of the contract.
import { join } from 'node:path';
import type { JsonSchema } from '../../src/core/contract/index.js';

export interface Schema extends JsonSchema {
  readonly minimum?: number;
  readonly maximum?: number;
  readonly prefixItems?: readonly Schema[];
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, Schema>>;
}

/** A file or folder that a person names. Only values that name nothing outside of the test are put into these. */
export const isPlace = (field: string): boolean => /path|dir|folder|file|root|cwd|to$/i.test(field);

const million = 'x'.repeat(1_000_000);
export const nested = JSON.parse(`${'['.repeat(5_000)}${']'.repeat(5_000)}`) as unknown;
const anything: readonly unknown[] = [null, true, 0, '', [], {}, nested];
const texts = ['\0', 'a\0b', '\ud800', million, '__proto__', '%00', "'); DROP TABLE commits; --"];
const numbers = [-1, 0.5, 1e308, -1e308, 2 ** 53, Number.NaN, Number.POSITIVE_INFINITY];

/** The branches of a schema, and the schemas that it refers to. */
function branches(schema: Schema, root: Schema): readonly Schema[] {
  const named = schema.$ref === undefined ? schema : schema.$ref === '#' ? root : (root.$defs?.[schema.$ref.split('/').at(-1) ?? ''] ?? {});
  const chosen = [...(named.anyOf ?? []), ...(named.oneOf ?? []), ...(named.allOf ?? [])] as Schema[];
  return chosen.length > 0 ? chosen.flatMap((each) => branches(each, root)) : [named];
}

/** A value that a schema accepts, with real ids where the project has one for a field of this name. */
export function valid(schema: Schema, root: Schema, field: string, known: ReadonlyMap<string, unknown>, depth = 0): unknown {
  if (known.has(field) && depth > 0) return known.get(field);
  const [first = {}] = branches(schema, root);
  if (first.const !== undefined) return first.const;
  if (first.enum) return first.enum[0];
  if (depth > 6) return null;
  switch (first.type) {
    case 'object':
      return Object.fromEntries(
        Object.entries(first.properties ?? {})
          .filter(([name]) => first.required?.includes(name))
          .map(([name, each]) => [name, valid(each as Schema, root, name, known, depth + 1)]),
      );
    case 'array':
      return (
        first.prefixItems?.map((each) => valid(each, root, field, known, depth + 1)) ?? [
          valid((first.items ?? {}) as Schema, root, field, known, depth + 1),
        ]
      );
    case 'string':
      return 'x';
    case 'number':
    case 'integer':
      return Math.max(1, first.minimum ?? 1);
    case 'boolean':
      return true;
    default:
      return null;
  }
}

/** The fields of an input, as paths, each with its schema. Lists have one item. */
export function* fields(schema: Schema, root: Schema, path: readonly string[] = []): Generator<readonly [readonly string[], Schema]> {
  if (path.length > 4) return;
  for (const branch of branches(schema, root)) {
    if (path.length > 0) yield [path, branch];
    for (const [name, each] of Object.entries(branch.properties ?? {})) yield* fields(each as Schema, root, [...path, name]);
    if (branch.items) yield* fields(branch.items as Schema, root, [...path, '0']);
  }
}

/** A copy of a value with another one at a path. What the path needs and the value lacks is made. */
export function put(value: unknown, [step, ...rest]: readonly string[], what: unknown): unknown {
  if (step === undefined) return what;
  if (step === '0') return [put(Array.isArray(value) ? value[0] : undefined, rest, what)];
  const own = typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
  return { ...own, [step]: put((own as Record<string, unknown>)[step], rest, what) };
}

/** Bad values for a field of this kind, and for a number the largest one that it accepts. */
export function badValues({ type, maximum = Number.MAX_SAFE_INTEGER }: Schema, example: unknown, place: string | undefined): readonly unknown[] {
  if (type === 'string') return place === undefined ? ['\0', ...anything, ...texts] : ['\0', '\ud800', million].map((text) => join(place, text));
  if (type === 'number' || type === 'integer') return [maximum, ...anything, ...numbers];
  if (type === 'array') return [...anything, [example, example], [null, [example]], { length: 1 }];
  return anything;
}

/**
 * Two bad values for each field: always the first one, and one of the others in turn, so that each value is tried on every kind of field.
 * With STEMMA_PROPERTY_RUNS=all, every value meets every field, which takes minutes.
 */
export function chosen(values: readonly unknown[], turn: number): readonly unknown[] {
  if (process.env.STEMMA_PROPERTY_RUNS === 'all') return values;
  return [values[0], values[1 + (turn % (values.length - 1))]];
}
