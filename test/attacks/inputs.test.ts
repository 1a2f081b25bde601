// Every procedure with every kind of bad value in every field: it answers or refuses by name, and is never an internal error.
import { join } from 'node:path';
import { inspect } from 'node:util';
import { ORPCError } from '@orpc/server';
import { expect, test } from 'vitest';
import { contract, describeProcedure, type JsonSchema, procedureNames } from '../../src/core/contract/index.js';
import { everyTable } from '../support/every-table.js';
import { scratch } from '../support/project.js';

interface Schema extends JsonSchema {
  readonly minimum?: number;
  readonly prefixItems?: readonly Schema[];
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, Schema>>;
}

/** What the contract can answer. Anything else is a bug, which a caller gets as 500. */
const refusals = new Set(['BAD_REQUEST', 'UNAUTHORIZED', 'NOT_FOUND', 'CONFLICT', 'LOCKED', 'UNAVAILABLE']);

/** Procedures that open another project. The test opens its own again after each. */
const opening = new Set(['project.create', 'project.open', 'project.trust', 'team.open', 'library.sample']);
/** A file or folder that a person names. Only values that name nothing outside of the test are put into these. */
const isPlace = (field: string): boolean => /path|dir|folder|file|root|cwd|to$/i.test(field);

const million = 'x'.repeat(1_000_000);
const nested = JSON.parse(`${'['.repeat(5_000)}${']'.repeat(5_000)}`) as unknown;
const anything: readonly unknown[] = [null, true, 0, '', [], {}, nested];
const texts = ['\0', 'a\0b', '\ud800', million, '__proto__', '%00', "'); DROP TABLE context; --"];
const numbers = [-1, 0.5, 1e308, -1e308, 2 ** 53, Number.NaN, Number.POSITIVE_INFINITY];

/** The branches of a schema, and the schemas that it refers to. */
function branches(schema: Schema, root: Schema): readonly Schema[] {
  const named = schema.$ref === undefined ? schema : schema.$ref === '#' ? root : (root.$defs?.[schema.$ref.split('/').at(-1) ?? ''] ?? {});
  const chosen = [...(named.anyOf ?? []), ...(named.oneOf ?? []), ...(named.allOf ?? [])] as Schema[];
  return chosen.length > 0 ? chosen.flatMap((each) => branches(each, root)) : [named];
}

/** A value that a schema accepts, with real ids where the project has one for a field of this name. */
function valid(schema: Schema, root: Schema, field: string, known: ReadonlyMap<string, unknown>, depth = 0): unknown {
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
function* fields(schema: Schema, root: Schema, path: readonly string[] = []): Generator<readonly [readonly string[], Schema]> {
  if (path.length > 4) return;
  for (const branch of branches(schema, root)) {
    if (path.length > 0) yield [path, branch];
    for (const [name, each] of Object.entries(branch.properties ?? {})) yield* fields(each as Schema, root, [...path, name]);
    if (branch.items) yield* fields(branch.items as Schema, root, [...path, '0']);
  }
}

/** A copy of a value with another one at a path. What the path needs and the value lacks is made. */
function put(value: unknown, [step, ...rest]: readonly string[], what: unknown): unknown {
  if (step === undefined) return what;
  if (step === '0') return [put(Array.isArray(value) ? value[0] : undefined, rest, what)];
  const own = typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
  return { ...own, [step]: put((own as Record<string, unknown>)[step], rest, what) };
}

/** Bad values for a field of this kind. */
function badValues({ type }: Schema, example: unknown, place: string | undefined): readonly unknown[] {
  if (type === 'string') return place === undefined ? ['\0', ...anything, ...texts] : ['\0', '\ud800', million].map((text) => join(place, text));
  if (type === 'number' || type === 'integer') return [...anything, ...numbers];
  if (type === 'array') return [...anything, [example, example], [null, [example]], { length: 1 }];
  return anything;
}

/** Reads what a call answers. A stream that does not end by itself is ended. */
async function answered(output: unknown): Promise<void> {
  if (typeof output !== 'object' || output === null || !(Symbol.asyncIterator in output)) return;
  const stream = (output as AsyncIterable<unknown>)[Symbol.asyncIterator]();
  const patience = new Promise<'late'>((resolve) => setTimeout(() => resolve('late'), 100).unref());
  for (let events = 0; events < 20; events++) {
    const next = await Promise.race([stream.next(), patience]);
    if (next === 'late' || next.done) break;
  }
  void Promise.resolve(stream.return?.()).catch(() => {});
}

const shown = (value: unknown): string => (value === nested ? '5,000 lists' : inspect(value, { depth: 2, maxStringLength: 60 }).slice(0, 200));

/**
 * Some of the bad values for each field: the first always, and in turn one of the others, so that each value meets each kind of field many times.
 * With STEMMA_PROPERTY_RUNS=all, every value meets every field, which takes minutes.
 */
function chosen(values: readonly unknown[], turn: number): readonly unknown[] {
  if (process.env.STEMMA_PROPERTY_RUNS === 'all') return values;
  return [values[0], values[1 + (turn % (values.length - 1))]];
}

test('[C32] no value of any field makes a procedure fail', async () => {
  const { client, inputs, project } = await everyTable();
  const known = new Map(Object.values(inputs).flatMap((each) => each.flatMap((input) => Object.entries(input))));
  const place = scratch();
  const calls = client as unknown as Record<string, Record<string, (input: unknown) => Promise<unknown>>>;
  const failures: string[] = [];
  const slow: string[] = [];
  let turn = 0;
  for (const name of procedureNames(contract)) {
    const [namespace = '', procedure = ''] = name.split('.');
    const root = (describeProcedure(contract, name)?.input ?? {}) as Schema;
    const [own = {}] = inputs[name] ?? [];
    const example = { ...(valid(root, root, '', known) as object), ...own };
    const tries = [
      ...[null, nested, [], 'x', { ...example, more: 1 }].map((input) => [input, `the input ${shown(input)}`] as const),
      ...[...fields(root, root)].flatMap(([path, schema]) => {
        const at = path.reduce<unknown>((value, step) => (value as Record<string, unknown> | undefined)?.[step], example);
        const field = path.findLast((step) => step !== '0') ?? '';
        const values = badValues(schema, at ?? 'x', isPlace(field) ? place : undefined);
        return chosen(values, turn++).map((bad) => [put(example, path, bad), `${path.join('.')} = ${shown(bad)}`] as const);
      }),
    ];
    for (const [input, what] of tries) {
      const before = performance.now();
      try {
        await answered(await calls[namespace]?.[procedure]?.(input));
      } catch (error) {
        const isRefusal = error instanceof ORPCError && refusals.has(error.code);
        if (!isRefusal) failures.push(`${name} with ${what}: ${error instanceof ORPCError ? error.code : ''} ${String(error).slice(0, 300)}`);
      }
      if (performance.now() - before > 20_000) slow.push(`${name} with ${what}`);
    }
    if (opening.has(name)) await client.project.open({ dir: project.dir });
  }
  expect(failures).toEqual([]);
  expect(slow).toEqual([]);
  expect((await client.project.check({})).problems).toEqual([]);
});
