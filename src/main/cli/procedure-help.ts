import { contract, describeProcedure, type JsonSchema, procedureNames } from '../../core/contract/index.js';

/** Describes a procedure for `stemma call PROCEDURE --help`: its description, the fields of its input, and its result. */
export function procedureHelp(name: string): string | undefined {
  const found = describeProcedure(contract, name);
  if (!found) return undefined;
  const { description, input, output, event } = found;
  const fields = fieldLines(input);
  return [
    name,
    description,
    '',
    fields.length > 0 ? 'Input (* is required):' : 'Input: none',
    ...fields.map((field) => `  ${field}`),
    '',
    ...(event ? [`Each event: ${describeShape(event)}`] : []),
    `Result: ${describeShape(output)}`,
  ].join('\n');
}

/** The names of all procedures, for `stemma call --help`. */
export const procedureList = (): string => `Procedures (stemma call PROCEDURE --help describes one):\n  ${procedureNames(contract).join('\n  ')}`;

/** One line per field of an object, with nested fields indented below their field. */
function fieldLines(schema: JsonSchema): string[] {
  const objects = [schema, ...(schema.anyOf ?? []), ...(schema.oneOf ?? [])];
  const lines = objects.flatMap(({ properties = {}, required = [] }) =>
    Object.entries(properties).map(([name, field]) => {
      const head = `${name}${required.includes(name) ? '*' : ''} (${describeType(field)})`;
      return [field.description ? `${head}: ${field.description}` : head, ...fieldLines(itemOf(field)).map((line) => `  ${line}`)].join('\n  ');
    }),
  );
  // The choices of a union share fields.
  return [...new Set(lines)].flatMap((line) => line.split('\n  '));
}

/** The schema of a list's items; any other schema is returned unchanged. */
const itemOf = (schema: JsonSchema): JsonSchema => (schema.items ? itemOf(schema.items) : schema);

/** A short name of a field's type: `string`, `"a" | "b"`, `list of object`. */
function describeType({ type, const: only, enum: values, anyOf, oneOf, items }: JsonSchema): string {
  if (only !== undefined) return JSON.stringify(only);
  if (values) return values.map((value) => JSON.stringify(value)).join(' | ');
  const choices = anyOf ?? oneOf;
  if (choices) return [...new Set(choices.map(describeType))].join(' | ');
  if (type === 'array') return items ? `list of ${describeType(items)}` : 'list';
  return type ?? 'any';
}

/** The shape of a result on one line: the names of its fields. */
function describeShape(schema: JsonSchema): string {
  const { type, items, properties, required = [] } = schema;
  if (type === 'array' && items) return `list of ${describeShape(items)}`;
  if (!properties) return describeType(schema);
  const names = Object.keys(properties).map((name) => (required.includes(name) ? name : `${name}?`));
  return `{${names.join(', ')}}`;
}
