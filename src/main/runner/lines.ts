import { createInterface } from 'node:readline';
import { isObject, type Json, type JsonObject, openMailbox, parseJson, StemmaError } from '../../core/base/index.js';
import { startPiped } from '../system/index.js';

export type LineProgram = ReturnType<typeof startLines>;

/** A member that is an object. */
export function objectAt(value: Json | undefined, key: string): JsonObject | undefined {
  const found = isObject(value) ? value[key] : undefined;
  return isObject(found) ? found : undefined;
}

/** A member that is a list. */
export function arrayAt(value: Json | undefined, key: string): readonly Json[] {
  const found = isObject(value) ? value[key] : undefined;
  return Array.isArray(found) ? found : [];
}

/** A value that is a number. */
export const numberIn = (value: Json | undefined): number | null => (typeof value === 'number' ? value : null);

/** The most characters of an error message that are kept. */
const keptError = 2_000;

/** Starts a program, killed with all that it started when the signal aborts or this process ends. @throws UNAVAILABLE if it cannot start */
export function startLines(title: string, command: string, args: readonly string[], place: Parameters<typeof startPiped>[2], signal: AbortSignal) {
  const { child, kill } = startOrRefuse(title, () => startPiped(command, args, place));
  let problem = '';
  const inbox = openMailbox<JsonObject>();
  signal.addEventListener('abort', kill, { once: true });
  if (signal.aborted) kill();
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    problem = (problem + text).slice(-keptError);
  });
  child.stdin.on('error', () => {});
  createInterface({ input: child.stdout }).on('line', (line) => {
    const message = parseJson(line);
    if (isObject(message)) inbox.put(message);
  });
  let code: number | null = null;
  child.on('error', (error) => {
    problem = error.message;
  });
  child.on('close', (ended) => {
    code = ended;
    inbox.close();
  });
  return {
    send: (message: object): void => void child.stdin.write(`${JSON.stringify(message)}\n`),
    /** Tells the program that no more messages will come. */
    end: (): void => void child.stdin.end(),
    /** The messages until the program ends. @throws UNAVAILABLE if it ends with an error; the signal's reason if the signal aborts */
    async *messages(): AsyncGenerator<JsonObject> {
      try {
        yield* inbox.read();
        signal.throwIfAborted();
        if (code !== 0) throw new StemmaError('UNAVAILABLE', `${title} ended with code ${code ?? 'unknown'}. ${problem.trim()}`.trim());
      } finally {
        signal.removeEventListener('abort', kill);
        kill();
      }
    },
  };
}

function startOrRefuse<T>(title: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw new StemmaError('UNAVAILABLE', `${title} cannot start: ${(error as Error).message}`);
  }
}
