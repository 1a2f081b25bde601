import { z } from 'zod';

export type * from 'zod';

type Make = (...given: readonly unknown[]) => object;

/** A schema that is not made yet: the function of zod that makes it, or the method of another schema, and the arguments. */
class Pending {
  constructor(
    public of: object | undefined,
    public make: Make | string,
    public given: readonly unknown[],
    public schema?: object,
  ) {}
}

function schemaOf(pending: Pending): object {
  const { of, make, given } = pending;
  if (pending.schema) return pending.schema;
  const own = given.map(withSchemas);
  pending.schema = typeof make === 'string' ? (madeSchema(of) as Readonly<Record<string, Make>>)[make]?.(...own) : make(...own);
  [pending.of, pending.given] = [undefined, []];
  return pending.schema as object;
}

/** Methods whose result is a schema that is not made yet either. To read anything else of a schema makes it. */
const methods: ReadonlySet<unknown> = new Set([
  ...(['optional', 'nullable', 'nullish', 'describe', 'default', 'min', 'max', 'int', 'positive', 'nonnegative', 'trim', 'regex'] as const),
  ...(['transform', 'refine', 'superRefine', 'pipe', 'extend', 'pick', 'omit', 'partial', 'exclude'] as const),
]);
const made = Symbol('made');

const handler: ProxyHandler<Pending> = {
  get(pending, key, itself) {
    if (methods.has(key)) return waiting(key as string, itself as object);
    const schema = schemaOf(pending);
    return key === made ? schema : Reflect.get(schema, key, schema);
  },
  has: (pending, key) => key === made || key === '~standard' || Reflect.has(schemaOf(pending), key),
};

/**
 * Delays a call until its schema is used. The schemas in its arguments are made with it, so a check of a value meets no proxy but the first. A shape has
 * no getters. Give a schema to functions of zod that are not in this file by `madeSchema`.
 */
const waiting =
  (make: Make | string, of?: object) =>
  (...given: readonly unknown[]) =>
    new Proxy(new Pending(of, make, given), handler);

/** The schema that zod made, in place of the proxy: zod's registry of descriptions compares schemas by identity. Any other value as it is. */
export const madeSchema = <Value>(value: Value): Value =>
  typeof value === 'object' && value !== null && made in value ? (value[made] as Value) : value;

function withSchemas(given: unknown): unknown {
  if (Array.isArray(given)) return given.map(madeSchema);
  if (typeof given !== 'object' || given === null || Object.getPrototypeOf(given) !== Object.prototype) return madeSchema(given);
  return Object.fromEntries(Object.entries(given).map(([name, value]) => [name, madeSchema(value)]));
}

const later = <Function extends (...given: never) => object>(make: Function): Function => waiting(make as unknown as Make) as unknown as Function;

// The functions of zod that the contract uses. Their schemas are made at first use, because a process uses those of a few procedures, and making all
// of them takes 60 ms and 17 MB.
export const array = later(z.array);
export const boolean = later(z.boolean);
export const discriminatedUnion = later(z.discriminatedUnion);
export const int = later(z.int);
export const literal = later(z.literal);
export const looseObject = later(z.looseObject);
export const number = later(z.number);
export const object = later(z.object);
export const partialRecord = later(z.partialRecord);
export const preprocess = later(z.preprocess);
export const record = later(z.record);
export const strictObject = later(z.strictObject);
export const string = later(z.string);
export const tuple = later(z.tuple);
export const union = later(z.union);
export const unknown = later(z.unknown);
export const url = later(z.url);
const [enumOf, instanceOf, nothing] = [later(z.enum), later(z.instanceof), later(z.null)];

export { enumOf as enum, instanceOf as instanceof, nothing as null };
export const coerce = z.coerce;
export const NEVER = z.NEVER;
export const prettifyError = z.prettifyError;
/** The JSON Schema of a schema of zod. Makes the schema if needed. */
export const toJSONSchema = (schema: z.ZodType, params?: Parameters<typeof z.toJSONSchema>[1]) => z.toJSONSchema(madeSchema(schema), params);
