import { spawn } from 'node:child_process';
import { built, type Machine, node } from './machine.js';

/** What a command wrote to its terminal, standard output and standard error together, and how it ended. */
export interface Shown {
  readonly code: number | null;
  readonly text: string;
}

const quoted = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;

/**
 * Runs `stemma` on a machine with a real terminal as its standard streams, by util-linux's `script`. Ctrl+C is pressed as soon as the
 * terminal shows `until`.
 */
export function inTerminal(machine: Machine, words: readonly string[], { until, input }: { until?: string; input?: string } = {}): Promise<Shown> {
  const command = [node, built('cli', 'stemma.js'), ...words].map(quoted).join(' ') + (input === undefined ? '' : ` < ${quoted(input)}`);
  const { NO_COLOR: _, ...env } = machine.env;
  const child = spawn('script', ['--quiet', '--flush', '--return', '--command', command, '/dev/null'], {
    cwd: machine.cwd,
    env: { ...env, TERM: 'xterm-256color', COLUMNS: '200', SHELL: '/bin/sh' },
  });
  let text = '';
  let isStopped = until === undefined;
  child.stdout.on('data', (part: Buffer) => {
    text += part.toString('utf8');
    if (isStopped || until === undefined || !text.includes(until)) return;
    isStopped = true;
    child.stdin.write('\u0003');
  });
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => {
      child.kill('SIGKILL');
      reject(new Error(`stemma ${words.join(' ')} did not end within two minutes. It showed: ${JSON.stringify(text)}`));
    }, 120_000);
    child.on('error', reject);
    child.on('close', (code) => {
      clearTimeout(late);
      resolve({ code, text });
    });
  });
}
