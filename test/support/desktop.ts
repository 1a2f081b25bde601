import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** Electron's executable: the one in `STEMMA_ELECTRON`, else the downloaded one of the package. */
export function electronExecutable(): string | undefined {
  const { STEMMA_ELECTRON: named } = process.env;
  if (named) return named;
  const home = dirname(createRequire(join(process.cwd(), 'package.json')).resolve('electron/package.json'));
  const path = join(home, 'path.txt');
  const executable = existsSync(path) ? join(home, 'dist', readFileSync(path, 'utf8').trim()) : undefined;
  return executable && existsSync(executable) ? executable : undefined;
}

/** A display for windows if the machine has none. Xvfb picks a free number and prints it. */
export async function display(): Promise<{ name: string | undefined; server?: ChildProcess }> {
  if (process.platform !== 'linux' || process.env.DISPLAY) return { name: process.env.DISPLAY };
  const server = spawn('Xvfb', ['-displayfd', '1', '-screen', '0', '1600x1000x24', '-nolisten', 'tcp'], { stdio: ['ignore', 'pipe', 'ignore'] });
  const number = await new Promise<string>((resolve, reject) => {
    server.stdout.once('data', (data: Buffer) => resolve(data.toString().trim()));
    server.once('error', () => reject(new Error('The machine has no display and no Xvfb.')));
    server.once('exit', (code) => reject(new Error(`Xvfb ended with ${code}.`)));
  });
  return { name: `:${number}`, server };
}
