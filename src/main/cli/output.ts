import { ORPCError } from '@orpc/server';

/** The words that end a command: a message for people, `{code, message, data}` for programs. */
export interface Refusal {
  code: string;
  message: string;
  data: unknown;
}

/** Wrong usage: nothing was asked of the engine. Ends with exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** What an error means to the caller; a bug keeps its message and says that it is one. */
export function refusalOf(error: unknown): Refusal {
  if (error instanceof ORPCError) return { code: error.code, message: error.message, data: error.data ?? {} };
  const message = error instanceof Error ? error.message : String(error);
  return { code: 'INTERNAL_SERVER_ERROR', message, data: {} };
}

/** One JSON document on a line of its own. */
export function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value ?? null)}\n`);
}

export function printText(text: string): void {
  process.stdout.write(text.endsWith('\n') || text === '' ? text : `${text}\n`);
}

/** A line for the person who waits; never part of the result. */
export const say = (text: string): void => void process.stderr.write(`${text}\n`);

const colored = (stream: NodeJS.WriteStream): boolean => stream.isTTY && !process.env.NO_COLOR && stream.hasColors();
const paint =
  (code: number) =>
  (text: string): string =>
    colored(process.stdout) ? `\u001b[${code}m${text}\u001b[0m` : text;
export const [dim, bold, yellow, red, green, blue, magenta, cyan] = [2, 1, 33, 31, 32, 34, 35, 36].map(paint) as [
  Paint,
  Paint,
  Paint,
  Paint,
  Paint,
  Paint,
  Paint,
  Paint,
];
export type Paint = (text: string) => string;

/**
 * Text of a transcript made fit for a terminal: control characters, which could move the cursor, change its title or
 * hide text, are shown as what they are.
 */
export const printable = (text: string): string =>
  text.replace(/[\p{Cc}\p{Bidi_Control}]/gu, (character) => {
    const code = character.codePointAt(0) as number;
    if (character === '\n' || character === '\t') return character;
    return code < 0x20 ? String.fromCodePoint(0x2400 + code) : `\\u${code.toString(16).padStart(4, '0')}`;
  });

/** The first line of a text, cut to a number of characters. */
export function firstLine(text: string, limit: number): string {
  const line = printable(text.trimStart().split('\n', 1)[0] ?? '');
  return line.length > limit ? `${line.slice(0, limit - 1)}…` : line;
}

export const counted = (count: number, one: string, many = `${one}s`): string => `${count.toLocaleString('en-US')} ${count === 1 ? one : many}`;

export function size(bytes: number): string {
  const units = ['B', 'KB', 'MB', 'GB'];
  const step = Math.min(units.length - 1, bytes < 1 ? 0 : Math.floor(Math.log10(bytes) / 3));
  return `${(bytes / 1000 ** step).toLocaleString('en-US', { maximumFractionDigits: step ? 1 : 0 })} ${units[step]}`;
}
