import { parseJson } from '../../src/core/base/index.js';

/** A document of JSON, or lines of JSON, with the members of each object in another order. What is no JSON stays as it is. */
export function reordered(text: string): string {
  const document = text.includes('\n{') ? undefined : parseJson(text);
  if (document !== undefined) return `${JSON.stringify(reversed(document), null, text.trim().includes('\n') ? 2 : 0)}\n`;
  return text
    .split('\n')
    .map((line) => {
      const record = parseJson(line);
      return record === undefined ? line : JSON.stringify(reversed(record));
    })
    .join('\n');
}

function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([key, one]) => [key, reversed(one)]),
  );
}
