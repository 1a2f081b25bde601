import { constants, setPriority } from 'node:os';
import { attempt, resultOf, type Settled, type StemmaError, unavailable } from '../../core/base/index.js';
import type { Analyst, AnalystOrder } from '../../core/project/index.js';
import { type Piped, setVariables, startPiped } from '../system/index.js';

/** The word that makes `stemma` answer a question from standard input. */
export const questionWord = 'answer-question';

/** The most questions at a time. Each has a process and memory of its own. */
const mostAtOnce = 2;
const maxAnswer = 256 * 1024 * 1024;

/** An option of Node: with its default for new objects, a file of a million rows takes 100 MB more. */
const fewNewObjects = '--max-semi-space-size=8';
/** Milliseconds until a process is started ahead: what a person has just opened is answered first. */
const aheadAfter = 1_000;
/** Milliseconds that a process waits for its question. */
const aheadFor = 5 * 60_000;

/** Starts a process for each question, with a command that runs `stemma`. */
export function openAnalyst([program, ...words]: readonly [program: string, ...args: string[]], env: NodeJS.ProcessEnv): Analyst {
  let running = 0;
  const waiting: (() => void)[] = [];
  const options = [env.NODE_OPTIONS, fewNewObjects].filter(Boolean).join(' ');
  const present = setVariables({ ...env, NODE_OPTIONS: options });
  const start = (): Piped => startPiped(program, [...words, questionWord], { cwd: process.cwd(), env: present });
  const ahead = waitingProcess(start);
  const answer: Analyst = async (order, { ms, signal, isBackground = false }) => {
    while (running >= mostAtOnce) await new Promise<void>((resolve) => waiting.push(resolve));
    running += 1;
    try {
      signal?.throwIfAborted();
      return await ask(isBackground ? givingWay(start()) : (ahead.take() ?? start()), order, ms, signal);
    } finally {
      running -= 1;
      waiting.shift()?.();
    }
  };
  return Object.assign(answer, { expect: ahead.expect });
}

/** Lowers the priority of a process. It works all the same where that is refused. */
function givingWay(process: Piped): Piped {
  const { pid } = process.child;
  if (pid !== undefined) attempt(() => setPriority(pid, constants.priority.PRIORITY_LOW));
  return process;
}

/** One process that is started before its question, because the start takes longer than most answers. */
function waitingProcess(start: () => Piped): { readonly expect: () => void; readonly take: () => Piped | undefined } {
  let process: Piped | undefined;
  let timer: NodeJS.Timeout | undefined;
  const drop = (): void => {
    const dropped = process;
    process = undefined;
    dropped?.kill();
  };
  const begin = (): void => {
    timer = setTimeout(drop, aheadFor).unref();
    if (process) return;
    const started = start();
    process = started;
    hold(started, false);
    const forget = (): void => {
      if (process === started) process = undefined;
    };
    started.child.once('error', forget).once('exit', forget);
  };
  const expect = (): void => {
    clearTimeout(timer);
    timer = setTimeout(begin, process ? 0 : aheadAfter).unref();
  };
  return {
    expect,
    take: () => {
      const taken = process;
      process = undefined;
      if (!taken) return undefined;
      hold(taken, true);
      // A second question is likely to follow.
      expect();
      return taken;
    },
  };
}

function hold({ child }: Piped, isHeld: boolean): void {
  for (const handle of [child, ...child.stdio] as { ref?(): void; unref?(): void }[]) isHeld ? handle.ref?.() : handle.unref?.();
}

async function ask({ child, kill }: Piped, order: AnalystOrder, ms: number, signal: AbortSignal | undefined): Promise<unknown> {
  let problem: StemmaError | undefined;
  const stop = (error?: StemmaError): void => {
    problem ??= error;
    kill();
  };
  const slow = refusal(
    `The question took longer than ${Math.round(ms / 1_000)} seconds and was stopped. Ask for less, such as fewer rows or a shorter time.`,
    'time',
  );
  const timer = setTimeout(() => stop(slow), ms);
  const abort = (): void => stop();
  signal?.addEventListener('abort', abort);
  try {
    const parts: Buffer[] = [];
    let bytes = 0;
    child.stdout.on('data', (part: Buffer) => {
      bytes += part.length;
      if (bytes > maxAnswer) stop(tooLarge());
      else parts.push(part);
    });
    // Writing to a process that has ended fails. Its exit code says more.
    child.stdin.on('error', () => {});
    let said = '';
    child.stderr.on('data', (part: Buffer) => {
      said = (said + part.toString()).slice(-2_000);
    });
    child.stdin.end(JSON.stringify(order));
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', resolve);
    });
    signal?.throwIfAborted();
    if (problem) throw problem;
    if (code !== 0) throw code === null || code > 128 || /memory/i.test(said) ? tooLarge() : ended(code, said);
    return resultOf(JSON.parse(Buffer.concat(parts).toString('utf8')) as Settled);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  }
}

/** The line that names an error, without the places in the code around it. */
const errorLine = (said: string): string => /^\w*Error\b.*/m.exec(said)?.[0] ?? said.trim().split('\n').at(-1) ?? '';

const refusal = (message: string, reason: string): StemmaError => unavailable(message, { reason, field: 'sql' });

const ended = (code: number, said: string): StemmaError =>
  refusal(`The process that answers questions ended with code ${code}: ${errorLine(said)}`, 'ended');

const tooLarge = (): StemmaError =>
  refusal('The question needed more memory than it may use and was stopped. Ask for fewer rows, or for shorter texts.', 'memory');
