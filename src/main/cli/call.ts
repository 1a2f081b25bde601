import { readFileSync } from 'node:fs';
import { isContractProcedure } from '@orpc/contract';
import { contract } from '../../core/contract/index.js';
import type { ContractClient } from '../launch/index.js';
import { UsageError } from './output.js';

/** Names of all procedures, as `stemma call` takes them: `context.show`. */
export function procedureNames(node: object = contract, path: readonly string[] = []): string[] {
  if (isContractProcedure(node)) return [path.join('.')];
  return Object.entries(node).flatMap(([name, below]) => procedureNames(below, [...path, name]));
}

/** Procedures that need no project to be open. */
export const needsNoProject = (procedure: string): boolean => /^(project\.(create|open)|library\.|import\.detect$)/.test(procedure);

/** What `--input` means: JSON text, `@file`, or `-` for standard input. */
export function readInput(input: string | undefined): unknown {
  if (input === undefined) return {};
  const text = textOf(input);
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new UsageError(`--input is not JSON: ${(error as Error).message}`);
  }
}

function textOf(input: string): string {
  try {
    if (input === '-') return readFileSync(0, 'utf8');
    return input.startsWith('@') ? readFileSync(input.slice(1), 'utf8') : input;
  } catch (error) {
    throw new UsageError(`--input ${input} cannot be read: ${(error as Error).message}`);
  }
}

type Call = (input: unknown, options?: { signal?: AbortSignal }) => Promise<unknown>;

/** Calls a procedure by its name. Events of one that streams go to `onEvent`; the result is what it returns at last. */
export async function call(
  client: ContractClient,
  procedure: string,
  input: unknown,
  onEvent: (event: unknown) => void,
  signal?: AbortSignal,
): Promise<unknown> {
  const method = procedure.split('.').reduce<unknown>((node, name) => (node as Record<string, unknown>)[name], client) as Call;
  return drain(await method(input, { signal }), onEvent);
}

/** The return value of a stream whose events went to `onEvent`; any other value as it is. */
export async function drain(answer: unknown, onEvent: (event: unknown) => void): Promise<unknown> {
  if (typeof answer !== 'object' || answer === null || !(Symbol.asyncIterator in answer)) return answer;
  const stream = (answer as AsyncIterable<unknown>)[Symbol.asyncIterator]();
  for (;;) {
    const { done, value } = await stream.next();
    if (done) return value;
    onEvent(value);
  }
}
