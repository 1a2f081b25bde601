import { randomBytes } from 'node:crypto';
import type { Command } from 'commander';
import { findDataDir } from '../launch/index.js';
import { dim, printText, say } from '../terminal/index.js';
import { addProjectChoice, openTarget, type ProjectChoice, pathOption, type Stoppable, untilAborted, withStoppableEngine } from './command.js';
import { portNumber } from './option-values.js';

interface OtlpOptions extends ProjectChoice {
  readonly port: number;
  readonly bearerFile?: string;
}

/** Adds `stemma otlp`, which receives spans of tools and imports them as sessions. */
export function addOtlpCommand(program: Command): void {
  addProjectChoice(program.command('otlp'))
    .description('receive OpenTelemetry spans of tools (GenAI conventions) and import them; set the variables that it prints')
    .option('--port <number>', 'the port; 0 takes any free port', portNumber, 0)
    .option('--bearer-file <path>', 'write the token into this new file, which only you can read, instead of printing it')
    .action((options: OtlpOptions) => withStoppableEngine((running) => receive(running, options)));
}

/** Runs until the person ends it. Standard output has the variables that an exporter needs. */
async function receive({ client, signal }: Stoppable, options: OtlpOptions): Promise<void> {
  const { startOtlp, storingIn } = await import('../otlp/index.js');
  const { writeBearerFile } = await import('../web/index.js');
  const { dir } = await openTarget(client, options);
  const token = randomBytes(24).toString('base64url');
  const server = await startOtlp({
    port: options.port,
    token,
    ...(await storingIn(client, findDataDir())),
  });
  const path = pathOption(options.bearerFile);
  const file = path === undefined ? undefined : writeBearerFile(path, token);
  printText(`OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:${server.port}`);
  printText('OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf');
  if (!file) printText(`OTEL_EXPORTER_OTLP_HEADERS=Authorization=Bearer%20${token}`);
  say(dim(`Receiving into ${dir}. Ctrl+C ends it.`));
  await untilAborted(signal);
  await server.close();
  file?.remove();
}
