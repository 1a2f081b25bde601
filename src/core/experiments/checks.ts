import { createContext, Script } from 'node:vm';
import { fromJSONSchema, type ZodType } from 'zod';
import { badRequest, canonicalJson, inWords, isObject, type Json, parseJson } from '../base/index.js';
import type { Entry, ExperimentResult, ReplyCheck } from '../contract/index.js';

export type Checked = ExperimentResult['checks'][number];

/** Holds a reply against checks. Nothing of the reply is run or followed: it is text that is looked at. */
export function checkReply(reply: readonly Entry[], checks: readonly ReplyCheck[]): Checked[] {
  const text = reply.flatMap((entry) => (entry.role === 'assistant' && entry.kind === 'text' ? [entry.text ?? ''] : [])).join('\n');
  return checks.map((check) => {
    const why = failureOf(reply, text, check);
    return { words: inPlainWords(check), passed: why === undefined, ...(why !== undefined && { why }) };
  });
}

/** @throws BAD_REQUEST for a pattern or a schema that is none. */
export function refuseBadChecks(checks: readonly ReplyCheck[]): void {
  for (const [at, check] of checks.entries()) {
    const field = `checks.${at}`;
    if (check.kind === 'matches') {
      try {
        new RegExp(check.pattern, check.flags);
      } catch (error) {
        throw badRequest(field, `${inWords(check.pattern)} is no regular expression: ${(error as Error).message}`);
      }
    }
    if (check.kind === 'json') {
      if (hasPattern(check.schema as Json)) throw badRequest(field, 'a shape has no patterns: say them as a check of their own, of kind matches');
      try {
        shapeOf(check.schema);
      } catch (error) {
        throw badRequest(field, `the shape is no JSON Schema that is known here: ${(error as Error).message}`);
      }
    }
  }
}

/** Patterns in a shape would be run without a limit on how long they take. */
function hasPattern(schema: Json): boolean {
  if (Array.isArray(schema)) return schema.some(hasPattern);
  if (!isObject(schema)) return false;
  return Object.entries(schema).some(
    ([name, value]) => (name === 'pattern' && typeof value === 'string') || (name === 'patternProperties' && isObject(value)) || hasPattern(value),
  );
}

const shapeOf = (schema: Readonly<Record<string, unknown>>): ZodType => fromJSONSchema(schema as Parameters<typeof fromJSONSchema>[0]);

/** Why a reply is not as the check says; undefined where it is. */
function failureOf(reply: readonly Entry[], text: string, check: ReplyCheck): string | undefined {
  switch (check.kind) {
    case 'contains': {
      const [whole, part] = check.ignoreCase ? [text.toLowerCase(), check.text.toLowerCase()] : [text, check.text];
      return turned(whole.includes(part), check.absent);
    }
    case 'matches': {
      const found = matches(check.pattern, check.flags ?? '', text);
      return found === undefined ? `the pattern took longer than ${longestMatchMs} ms` : turned(found, check.absent);
    }
    case 'json': {
      const value = jsonIn(text);
      if (value === undefined) return 'it is no JSON, and has no fenced block that is';
      const { error } = shapeOf(check.schema).safeParse(value);
      const [issue] = error?.issues ?? [];
      return issue && `${issue.path.join('.') || 'the value'}: ${issue.message}`;
    }
    case 'calls': {
      const found = reply.some(
        (entry) =>
          entry.kind === 'tool_call' && entry.toolName === check.toolName && holds((entry.arguments ?? {}) as Json, (check.with ?? {}) as Json),
      );
      return turned(found, check.absent);
    }
    case 'short': {
      const tokens = reply.reduce((sum, entry) => sum + (entry.role === 'assistant' ? entry.tokens : 0), 0);
      return tokens <= check.tokens ? undefined : `it has ≈ ${tokens}`;
    }
  }
}

const turned = (found: boolean, absent: boolean | undefined): string | undefined => {
  if (found === !absent) return undefined;
  return found ? 'it does' : 'it does not';
};

/** A pattern may take as good as forever over a text that was made for it: it gets this long. */
const longestMatchMs = 500;
const matcher = new Script('new RegExp(pattern, flags).test(text)');
const world = createContext(Object.create(null) as object, { codeGeneration: { strings: false, wasm: false } });

/** Whether the text matches; undefined where it was not found out in time. Only the pattern is run: the text stays a value. */
function matches(pattern: string, flags: string, text: string): boolean | undefined {
  Object.assign(world, { pattern, flags, text });
  try {
    return matcher.runInContext(world, { timeout: longestMatchMs }) === true;
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

/** Whether a value has at least what another asks of it. */
function holds(value: Json | undefined, wanted: Json): boolean {
  if (isObject(wanted))
    return isObject(value) && Object.entries(wanted).every(([name, each]) => Object.hasOwn(value, name) && holds(value[name], each));
  return value !== undefined && canonicalJson(value) === canonicalJson(wanted);
}

function inPlainWords(check: ReplyCheck): string {
  const not = 'absent' in check && check.absent ? 'not ' : '';
  switch (check.kind) {
    case 'contains':
      return `${not}contains ${inWords(check.text)}`;
    case 'matches':
      return `${not}matches /${check.pattern}/${check.flags ?? ''}`;
    case 'json':
      return 'is JSON of the shape';
    case 'calls':
      return `${not}calls ${check.toolName}${check.with ? ` with ${inWords(check.with)}` : ''}`;
    case 'short':
      return `has at most ${check.tokens} tokens`;
  }
}
