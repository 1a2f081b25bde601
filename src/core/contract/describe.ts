import { type AnyContractProcedure, getEventIteratorSchemaDetails, isContractProcedure } from '@orpc/contract';
import { ZodType } from 'zod';
import { isObject } from '../base/index.js';
import { toJSONSchema } from './z.js';

/** The parts of a JSON Schema that a description uses. */
export interface JsonSchema {
  readonly type?: string;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly items?: JsonSchema;
  readonly additionalProperties?: JsonSchema | boolean;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly allOf?: readonly JsonSchema[];
}

/** The names of all procedures of a contract: `context.show`. */
export function procedureNames(node: object, path: readonly string[] = []): string[] {
  if (isContractProcedure(node)) return [path.join('.')];
  return Object.entries(node).flatMap(([name, below]) => procedureNames(below, [...path, name]));
}

/**
 * Describes a procedure by its name, or returns undefined if the contract has none of this name. For a procedure that streams, `event` is the schema
 * of each event, and `output` that of the result at the end of the stream.
 */
export function describeProcedure(contract: object, name: string) {
  const node = name.split('.').reduce<unknown>((at, part) => (isObject(at) && Object.hasOwn(at, part) ? at[part] : undefined), contract);
  if (!isContractProcedure(node)) return undefined;
  const { inputSchema, outputSchema, route } = (node as AnyContractProcedure)['~orpc'];
  const stream = getEventIteratorSchemaDetails(outputSchema);
  return {
    description: route.description ?? '',
    input: jsonSchema(inputSchema, 'input'),
    output: jsonSchema(stream ? stream.returns : outputSchema, 'output'),
    ...(stream && { event: jsonSchema(stream.yields, 'output') }),
  };
}

/** The JSON Schema of a Zod schema. Values that JSON Schema cannot express, such as the results of transforms, become `{}`. */
const jsonSchema = (schema: unknown, io: 'input' | 'output'): JsonSchema =>
  schema instanceof ZodType ? (toJSONSchema(schema, { io, unrepresentable: 'any' }) as JsonSchema) : {};
