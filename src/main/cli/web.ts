import { resolve } from 'node:path';
import type { Command } from 'commander';
import manifest from '../../../package.json' with { type: 'json' };
import { newProgram, runProgram } from './base.js';
import { UsageError } from './errors.js';
import { portNumber } from './option-values.js';

/** Runs `stemma web`, which answers no call itself: its engine has threads of its own. So it loads no other command, and no engine. */
export const run = (argv: readonly string[]): Promise<void> => runProgram(() => addWebCommand(newProgram()), argv);

/** Adds `stemma web`. Returns the program. */
export function addWebCommand(program: Command): Command {
  program
    .command('web [path...]')
    .description('serve the window to a browser on this machine')
    .option('--port <number>', 'the port; 0 takes any free port', portNumber, 0)
    .option('--host <address>', 'the loopback address to listen on', '127.0.0.1')
    .option('--no-open', 'do not open a browser')
    .option('--bearer-file <path>', 'write the bearer for scripts into this new file, which only you can read')
    .action(async (paths: string[], options: { port: number; host: string; open: boolean; bearerFile?: string }) => {
      const { isLoopback, serveWindow } = await import('../web/index.js');
      if (!isLoopback(options.host))
        throw new UsageError(`--host ${options.host} is not a loopback address. Stemma serves on 127.0.0.1, ::1 or localhost only.`);
      const { host: address, bearerFile, ...others } = options;
      await serveWindow({ ...others, paths, version: manifest.version, address, bearerFile: bearerFile && resolve(bearerFile) });
    });
  return program;
}
