export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
export type JsonObject = { readonly [key: string]: Json };

/** Whether a value is an object, not an array or null. */
export const isObject = (value: unknown): value is JsonObject => typeof value === 'object' && value !== null && !Array.isArray(value);
/** The string at an own key of an object; undefined otherwise. */
export const stringAt = (value: unknown, key: string): string | undefined => {
  const member = isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  return typeof member === 'string' ? member : undefined;
};

/** The last character of a JSON text: of an object, a list, a string, a number, `true`, `false` or `null`. */
const lastOfJson = /[}\]"\del]/;

/** Parses JSON; undefined for invalid text. `__proto__` becomes an own key, as in JSON.parse. */
export function parseJson(text: string): Json | undefined {
  // The last character shows cheaply that a text was cut off. An exception costs far more, and a damaged file can have a million such lines.
  if (!lastOfJson.test(text.trimEnd().slice(-1))) return undefined;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/**
 * JSON with sorted keys and no spaces: equal values have equal texts. Keys are compared by UTF-16 code unit. Numbers and
 * escapes are those of JSON.stringify: -0 is written as 0, NaN and infinities as null, and a lone surrogate as its escape.
 */
export function canonicalJson(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (!isObject(value)) return JSON.stringify(value);
  let text = '';
  for (const key of Object.keys(value).sort()) {
    const member = value[key];
    if (member === undefined) continue;
    text += `${text === '' ? '' : ','}${JSON.stringify(key)}:${canonicalJson(member)}`;
  }
  return `{${text}}`;
}

/** A value in whose texts and names the halves of characters are replaced. */
export function wellFormed(value: Json): Json {
  if (typeof value === 'string') return value.toWellFormed();
  if (Array.isArray(value)) return value.map(wellFormed);
  return isObject(value) ? Object.fromEntries(Object.entries(value).map(([name, one]) => [name.toWellFormed(), wellFormed(one)])) : value;
}
