import { createContext, Script } from 'node:vm';
import { fromJSONSchema, type ZodType } from 'zod';
import { badRequest, canonicalJson, inWords, isObject, type Json, parseJson } from '../base/index.js';
import type { Entry, ExperimentResult, ReplyCheck } from '../contract/index.js';

export type CheckOutcome = ExperimentResult['checks'][number];

/** Checks a reply. The reply is only read: nothing in it is run or followed. */
export function checkReply(reply: readonly Entry[], checks: readonly ReplyCheck[]): CheckOutcome[] {
  const text = reply.flatMap((entry) => (entry.role === 'assistant' && entry.kind === 'text' ? [entry.text ?? ''] : [])).join('\n');
  return checks.map((check) => {
    const why = failureOf(reply, text, check);
    return { words: describeCheck(check), passed: why === undefined, ...(why !== undefined && { why }) };
  });
}

/** @throws BAD_REQUEST for an invalid pattern or schema, and for a schema with patterns. */
export function refuseBadChecks(checks: readonly ReplyCheck[]): void {
  for (const [at, check] of checks.entries()) {
    const field = `checks.${at}`;
    if (check.kind === 'matches') {
      try {
        new RegExp(check.pattern, check.flags);
      } catch (error) {
        throw badRequest(field, `${inWords(check.pattern)} is not a regular expression: ${(error as Error).message}`);
      }
    }
    if (check.kind === 'json') {
      if (hasPattern(check.schema as Json)) throw badRequest(field, 'a schema cannot contain patterns: use a check of kind matches');
      try {
        schemaOf(check.schema);
      } catch (error) {
        throw badRequest(field, `the schema is not a supported JSON Schema: ${(error as Error).message}`);
      }
    }
  }
}

/** Patterns in a schema would run without a time limit. */
function hasPattern(schema: Json): boolean {
  if (Array.isArray(schema)) return schema.some(hasPattern);
  if (!isObject(schema)) return false;
  return Object.entries(schema).some(
    ([name, value]) => (name === 'pattern' && typeof value === 'string') || (name === 'patternProperties' && isObject(value)) || hasPattern(value),
  );
}

const schemaOf = (schema: Readonly<Record<string, unknown>>): ZodType => fromJSONSchema(schema as Parameters<typeof fromJSONSchema>[0]);

function failureOf(reply: readonly Entry[], text: string, check: ReplyCheck): string | undefined {
  switch (check.kind) {
    case 'contains': {
      const [whole, part] = check.ignoreCase ? [text.toLowerCase(), check.text.toLowerCase()] : [text, check.text];
      return expected(whole.includes(part), check.absent);
    }
    case 'matches': {
      const found = matches(check.pattern, check.flags ?? '', text);
      return found === undefined ? `the pattern took longer than ${maxMatchMs} ms` : expected(found, check.absent);
    }
    case 'json': {
      const value = jsonIn(text);
      if (value === undefined) return 'it is not JSON, and has no single fenced block with JSON';
      const { error } = schemaOf(check.schema).safeParse(value);
      const [issue] = error?.issues ?? [];
      return issue && `${issue.path.join('.') || 'the value'}: ${issue.message}`;
    }
    case 'calls': {
      const found = reply.some(
        (entry) =>
          entry.kind === 'tool_call' && entry.toolName === check.toolName && holds((entry.arguments ?? {}) as Json, (check.with ?? {}) as Json),
      );
      return expected(found, check.absent);
    }
    case 'short': {
      const tokens = reply.reduce((sum, entry) => sum + (entry.role === 'assistant' ? entry.tokens : 0), 0);
      return tokens <= check.tokens ? undefined : `it has ≈ ${tokens}`;
    }
  }
}

const expected = (found: boolean, absent: boolean | undefined): string | undefined => {
  if (found === !absent) return undefined;
  return found ? 'it does' : 'it does not';
};

/** A pattern can take exponential time on some texts, so it gets a limit. */
const maxMatchMs = 500;
const matcher = new Script('new RegExp(pattern, flags).test(text)');
const world = createContext(Object.create(null) as object, { codeGeneration: { strings: false, wasm: false } });

/** Whether the text matches; undefined after the time limit. Only the pattern runs: the text is a value. */
function matches(pattern: string, flags: string, text: string): boolean | undefined {
  Object.assign(world, { pattern, flags, text });
  try {
    return matcher.runInContext(world, { timeout: maxMatchMs }) === true;
  } catch {
    return undefined;
  }
}

/** The text as JSON, or the one fenced block in it. */
function jsonIn(text: string): Json | undefined {
  const whole = parseJson(text.trim());
  if (whole !== undefined) return whole;
  const blocks = [...text.matchAll(/^```[^\n`]*\n([\s\S]*?)^```\s*$/gm)].flatMap(([, inside]) => (inside === undefined ? [] : [inside]));
  return blocks.length === 1 ? parseJson(blocks[0] ?? '') : undefined;
}

/** Whether a value has at least the members of another. */
function holds(value: Json | undefined, wanted: Json): boolean {
  if (isObject(wanted))
    return isObject(value) && Object.entries(wanted).every(([name, each]) => Object.hasOwn(value, name) && holds(value[name], each));
  return value !== undefined && canonicalJson(value) === canonicalJson(wanted);
}

function describeCheck(check: ReplyCheck): string {
  const not = 'absent' in check && check.absent ? 'not ' : '';
  switch (check.kind) {
    case 'contains':
      return `${not}contains ${inWords(check.text)}`;
    case 'matches':
      return `${not}matches /${check.pattern}/${check.flags ?? ''}`;
    case 'json':
      return 'is JSON of the schema';
    case 'calls':
      return `${not}calls ${check.toolName}${check.with ? ` with ${inWords(check.with)}` : ''}`;
    case 'short':
      return `has at most ${check.tokens} tokens`;
  }
}
