import type { Readable } from 'node:stream';
import { block, escapeJson, escapeLines, type Printable, render } from './text.js';

const eraseLine = '\r\u001b[K';

const hasStyles = (stream: NodeJS.WriteStream): boolean => stream.isTTY && !process.env.NO_COLOR && stream.hasColors();
const write = (stream: NodeJS.WriteStream, text: Printable, end: string): void => void stream.write(render(text, hasStyles(stream)) + end);

/** Prints a result on standard output and ends its line. */
export const printText = (text: Printable): void => write(process.stdout, text, '\n');

/** Prints part of a text that is still arriving, with its line breaks and nothing after it. */
export const printPart = (text: string): void => write(process.stdout, block(text), '');

/** Prints one JSON document on a line of its own. Control characters are `\u` escapes: the document means the same and harms no terminal. */
export const printJson = (value: unknown): void => void process.stdout.write(`${escapeJson(JSON.stringify(value ?? null))}\n`);

/** Writes the exact bytes to a file or a pipe. A terminal gets them escaped, unless `raw` is set; JSON (`json`) stays the same document there. */
export function printExact(content: string | Uint8Array, { raw, json }: { readonly raw?: boolean | undefined; readonly json?: boolean } = {}): void {
  if (raw || !process.stdout.isTTY) return void process.stdout.write(content);
  const text = typeof content === 'string' ? content : Buffer.from(content.buffer, content.byteOffset, content.byteLength).toString('utf8');
  process.stdout.write(json ? escapeJson(text) : escapeLines(text));
}

/** Prints a message for the person on standard error; it is never part of the result. */
export const say = (text: Printable): void => write(process.stderr, text, '\n');

/** The same as `say`, as JSON for programs. */
export const sayJson = (value: unknown): void => void process.stderr.write(`${escapeJson(JSON.stringify(value ?? null))}\n`);

/** Prints an error of our own with its stack on standard error. */
export const sayError = (error: unknown): void => say(block(error instanceof Error ? (error.stack ?? error.message) : String(error)));

/** Prints a question on standard error, without a line break. */
export const prompt = (question: Printable): void => write(process.stderr, question, ' ');

/** Shows a line that the next one replaces. Only on a terminal. */
export function showProgress(text: Printable): void {
  if (process.stderr.isTTY) process.stderr.write(eraseLine + render(text, false));
}

/** Removes the line of `showProgress`. */
export function endProgress(): void {
  if (process.stderr.isTTY) process.stderr.write(eraseLine);
}

/** Whether a person reads standard error. */
export const isWatched = (): boolean => process.stderr.isTTY;

/** The number of columns of the terminal; undefined when standard output is no terminal. */
export const terminalColumns = (): number | undefined => process.stdout.columns;

/** Passes the output of a program that the person started through unchanged. */
export function passThrough(from: Readable): void {
  from.pipe(process.stdout, { end: false });
  // If the reader closes, the program must get a broken pipe too.
  process.stdout.on('error', () => from.destroy());
}

/** Resolves when the system has taken everything that was printed, so that the process may end. */
export async function outputTaken(): Promise<void> {
  for (const stream of [process.stdout, process.stderr]) await new Promise<void>((resolve) => stream.write('', () => resolve()));
}

/** Undoes Electron's replacement of the standard output on Windows, which sends it to a log. */
export function restoreOutput(): void {
  for (const stream of [process.stdout, process.stderr]) Reflect.deleteProperty(stream, 'write');
}

/** Ends the process without an error if the reader closes standard output early (`stemma log | head`). */
export const exitWhenOutputCloses = (): void =>
  void process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));

/** Replaces Node's own report of an uncaught error, which prints the message unescaped. */
export const sayUncaughtErrors = (exitCode: number): void =>
  void process.on('uncaughtException', (error) => {
    sayError(error);
    process.exit(exitCode);
  });
