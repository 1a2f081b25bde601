import { badRequest, type JsonObject } from '../base/index.js';
import { z } from '../contract/index.js';
import { bodies, mediaType } from './bodies.js';

/** The schema of each kind of item. Unknown columns are refused. */
export const itemSchemas: ReadonlyMap<string, z.ZodType> = new Map(Object.entries(bodies).map(([kind, shape]) => [kind, z.strictObject(shape)]));

/** An object's media type, as a sender names it. @throws BAD_REQUEST */
export function checkMediaType(given: string, hash: string): void {
  if (!mediaType.safeParse(given).success)
    throw badRequest('contentType', `The object ${hash.slice(0, 64)} has no valid media type: it must have at most 400 printable ASCII characters.`);
}

/** What is wrong with an item's types, values, sizes or columns; undefined if it is valid. The hub and its clients both ask. */
export function validateItem(kind: string, body: JsonObject): { readonly field: string; readonly message: string } | undefined {
  const schema = itemSchemas.get(kind);
  if (!schema) return { field: 'kind', message: `the kind ${kind.slice(0, 64)} is unknown.` };
  const found = schema.safeParse(body);
  if (found.success) return undefined;
  const [issue] = found.error.issues;
  const unknown = issue?.code === 'unrecognized_keys' ? issue.keys[0] : undefined;
  if (unknown !== undefined) return { field: unknown.slice(0, 64), message: `it has no column ${unknown.slice(0, 64)}.` };
  const field = issue?.path.map(String).join('.').slice(0, 200) || 'body';
  return { field, message: `${field} ${issue?.message ?? 'is not valid'}.` };
}
