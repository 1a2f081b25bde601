import { isObject, type Json } from '../../base/index.js';
import type { CardContent } from '../../contract/index.js';

/** JSON on one line with a space after `:` and `,`, as the public system writes data into messages. */
export function spacedJson(value: unknown): string {
  const plain = value as Json | undefined;
  if (Array.isArray(plain)) return `[${plain.map(spacedJson).join(', ')}]`;
  if (!isObject(plain)) return JSON.stringify(plain ?? null);
  const members = Object.entries(plain).flatMap(([key, member]) => (member === undefined ? [] : [`${JSON.stringify(key)}: ${spacedJson(member)}`]));
  return `{${members.join(', ')}}`;
}

/** The text of a content as a model reads it. */
export function textOfContent(content: CardContent): string {
  if (content.kind === 'text') return content.text;
  return spacedJson(content.kind === 'json' ? content.data : content.fields);
}
