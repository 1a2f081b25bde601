import { inWords, isObject } from '../base/index.js';

/** What Zod says about a value that does not fit its schema. */
export interface Issue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
  readonly code?: string;
  /** Of `unrecognized_keys`. */
  readonly keys?: readonly string[];
  /** Of `invalid_type`. */
  readonly expected?: string;
  /** Of `invalid_value` and of a union that is told apart by one field. */
  readonly values?: readonly unknown[];
  readonly options?: readonly unknown[];
  /** Of `too_small` and `too_big`. */
  readonly origin?: string;
  readonly minimum?: number | bigint;
  readonly maximum?: number | bigint;
  readonly inclusive?: boolean;
  /** Of `invalid_format`. */
  readonly format?: string;
  /** Of `invalid_union`: the issues of each variant. */
  readonly errors?: readonly (readonly Issue[])[];
}

/**
 * Describes why an input does not fit its schema: the path of the field, and a sentence with its value and what would be right. An unknown field
 * comes first, because a misspelled field is often the reason why another one is missing.
 * @param fieldsAt the names of the fields that the schema has at a path.
 */
export function describeInvalid(
  issues: readonly Issue[],
  input: unknown,
  fieldsAt: (path: readonly string[]) => readonly string[] = () => [],
): { readonly field: string; readonly message: string } {
  const issue = issues.find(({ keys }) => keys) ?? issues[0] ?? { message: 'The input does not fit' };
  const nearest = withinUnion(issue);
  const path = readPath(nearest);
  const [unknown] = nearest.keys ?? [];
  if (unknown !== undefined) {
    const known = fieldsAt(path);
    const field = [...path, unknown].join('.');
    return { field, message: `${field} is not a field.${known.length > 0 ? ` The fields are ${listed(known, 'and')}.` : ''}` };
  }
  // A union's own message names all variants, which says more than the field that the nearest variant misses.
  const shown = issue.message !== unnamed && valueAt(input, path) === undefined ? issue : nearest;
  return { field: joinPath(path), message: [valueText(readPath(shown), input), sentence(requirementOf(shown))].filter(Boolean).join(' ') };
}

const joinPath = (path: readonly string[]): string => path.join('.') || 'input';

/** For a value that matches no variant of a union, the issue in the variant with the fewest issues. */
function withinUnion(issue: Issue): Issue {
  const nearest = (issue.errors ?? [])
    .toSorted((a, b) => a.length - b.length)
    .flatMap((variant) => variant.slice(0, 1))
    .find(({ path }) => (path?.length ?? 0) > 0);
  if (!nearest) return issue;
  const within = withinUnion(nearest);
  return { ...within, path: [...(issue.path ?? []), ...(within.path ?? [])] };
}

/** What Zod says of a union that has no message of its own. */
const unnamed = 'Invalid input';

const readPath = ({ path = [] }: Issue): string[] => path.map((part) => String(typeof part === 'object' ? part.key : part));

const valueAt = (input: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>((at, name) => (typeof at === 'object' && at !== null ? (at as Record<string, unknown>)[name] : undefined), input);

/** Names of fields whose values a message must not repeat. */
const secretName = /key|token|secret|password/i;

function valueText(path: readonly string[], input: unknown): string {
  const [field, value] = [joinPath(path), valueAt(input, path)];
  if (value === undefined) return `${field} is missing.`;
  if (path.length === 0) return isObject(value) ? '' : `The input is ${inWords(value)}.`;
  if (path.some((name) => secretName.test(name))) return `${field} is not valid.`;
  return `${field} is ${typeof value === 'string' || typeof value === 'object' ? inWords(withoutSecrets(value)) : String(value)}.`;
}

const withoutSecrets = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (name, part: unknown) => (secretName.test(name) ? '…' : typeof part === 'bigint' ? String(part) : part)) ?? 'null',
  );

const typeNames: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
  null: 'null',
};

/** Whether a message is Zod's default, which names types and limits in the words of a programmer. */
const isZods = (message: string): boolean => /^(Invalid |Too (small|big):)/.test(message);

/** What would be right. A schema's own message is taken as it is. */
function requirementOf(issue: Issue): string {
  const { code, expected = '', values, options, errors = [], message } = issue;
  if (!isZods(message)) return message.startsWith('must ') ? `It ${message}` : message;
  if (code === 'invalid_type' && typeNames[expected]) return `It must be ${typeNames[expected]}`;
  if (values ?? options)
    return `It must be ${listed(
      (values ?? options ?? []).map((value) => inWords(value)),
      'or',
    )}`;
  if (code === 'too_small' || code === 'too_big') return limitOf(issue) ?? message;
  if (code === 'invalid_format') return formatNames[issue.format ?? ''] ?? message;
  if (code === 'invalid_union') {
    const variants = [...new Set(errors.flatMap((variant) => variant.slice(0, 1)).map(requirementOf))];
    if (variants.length > 0 && variants.every((variant) => variant.startsWith(must)))
      return (
        must +
        listed(
          variants.map((each) => each.slice(must.length)),
          'or',
        )
      );
  }
  return message;
}

const must = 'It must be ';

/** Formats that have no message of their own. */
const formatNames: Readonly<Record<string, string>> = {
  datetime: 'It must be a time such as 2026-01-31T12:00:00Z',
  url: 'It must be a web address',
};

function limitOf({ origin, minimum, maximum, inclusive = true }: Issue): string | undefined {
  const bound = minimum ?? maximum;
  const words = minimum === undefined ? ['at most', 'less than'] : ['at least', 'more than'];
  const limit = `${inclusive ? words[0] : words[1]} ${bound}`;
  if (origin === 'number' || origin === 'int') return `It must be ${limit}`;
  const unit = { string: 'character', array: 'item' }[origin ?? ''];
  return unit && `It must have ${limit} ${unit}${bound === 1 ? '' : 's'}`;
}

/** The most names that a message lists. */
const maxListed = 30;

function listed(names: readonly string[], word: 'and' | 'or'): string {
  const shown = names.length > maxListed ? [...names.slice(0, maxListed), 'others'] : names;
  return shown.length < 2 ? shown.join('') : `${shown.slice(0, -1).join(', ')} ${word} ${shown.at(-1)}`;
}

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`;
