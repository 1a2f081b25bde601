import type { Command } from 'commander';
import manifest from '../../../package.json' with { type: 'json' };
import { addProjectChoice, type ProjectOptions, pathOption, withStoppableProject } from './command.js';
import { refusalOf, UsageError } from './errors.js';
import { portNumber } from './numbers.js';

/** Adds `stemma mcp` and `stemma web`. What they serve is loaded when they run: the other commands run in hooks, many times a day. */
export function addServeCommands(program: Command): void {
  addProjectChoice(program.command('mcp'))
    .description('serve tools to an agent (Model Context Protocol) on standard input and output')
    .action((options: ProjectOptions) =>
      withStoppableProject(options, async ({ client, signal }) => {
        const { serveTools } = await import('../mcp/index.js');
        await serveTools({ client, version: manifest.version, signal, refusalOf });
      }),
    );

  program
    .command('web [path...]')
    .description('serve the window to a browser on this machine')
    .option('--port <number>', 'the port; 0 takes any free one', portNumber, 0)
    .option('--host <address>', 'the loopback address to listen on', '127.0.0.1')
    .option('--no-open', 'do not open a browser')
    .option('--bearer-file <path>', 'write the bearer for scripts into this new file, which only you can read')
    .action(async (paths: string[], options: { port: number; host: string; open: boolean; bearerFile?: string }) => {
      const { isLoopback, serveWindow } = await import('../web/index.js');
      if (!isLoopback(options.host))
        throw new UsageError(`--host ${options.host} is not a loopback address. Stemma serves on 127.0.0.1, ::1 or localhost only.`);
      const { port, host, open } = options;
      await serveWindow({ paths, version: manifest.version, port, address: host, open, bearerFile: pathOption(options.bearerFile) });
    });
}
