import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type CoreAgent, tools } from './agents.js';
import { built, type Machine } from './machine.js';

/** The model addresses for the agents: paths of `stemma proxy`. */
const paths: Readonly<Record<CoreAgent, string>> = { claude: 'anthropic', codex: 'openai', pi: 'anthropic', gemini: 'gemini', opencode: 'anthropic' };
const port = 18_998;
/** The headers with credentials. */
export const key = 'sk-stemma-4711-nobody-may-keep-this';
const keys = ["ANTHROPIC_API_KEY: 'sk-none'", "STAND_IN_KEY: 'x'", "GEMINI_API_KEY: 'none'", "apiKey: 'sk-none'"];

const standIn = 'http://127.0.0.1:18999';

/**
 * Runs a scenario of ../shared/tools with `stemma proxy` between the real agent and its scripted model. Both run in their own
 * network namespace, so this copies the tool, sets the proxy as the model's address, and lets the tool start it.
 */
export function runProxied(
  agent: CoreAgent,
  scenario: string,
  project: string,
  { path }: Machine,
): { readonly home: string; readonly wire: readonly string[] } {
  const copy = path('tools');
  cpSync(tools, copy, { recursive: true });
  const edit = (file: string, ...changes: readonly (readonly [string, string])[]): void => {
    const path = join(copy, file);
    const text = changes.reduce(
      (now, [from, to]) => {
        if (!now.includes(from)) throw new Error(`${file} does not contain: ${from}`);
        return now.replaceAll(from, to);
      },
      readFileSync(path, 'utf8'),
    );
    writeFileSync(path, text, { mode: 0o755 });
  };
  // Placeholders of the tool. The proxy's path replaces the path of the provider's address, /v1 for OpenAI.
  const own = { model: 'http://127.0.0.1:$' + '{port}', openai: '$' + '{model}/v1' };
  edit(
    'lib/agents.cjs',
    [`model = \`${own.model}\``, `model = 'http://127.0.0.1:${port}/${paths[agent]}'`],
    ...(agent === 'codex' ? [[`base_url = "${own.openai}"`, `base_url = "${own.openai.slice(0, -3)}"`] as const] : []),
    ...keys.map((each) => [each, each.replace(/'(sk-none|x|none)'/, `'${key}'`)] as const),
  );
  const command = [
    process.execPath,
    built('cli', 'stemma.js'),
    // The agent has its own home folder, where the project is not trusted yet.
    ...['proxy', '--trust', '--project', project, '--port', String(port)],
    ...['--upstream', `anthropic=${standIn}`, '--upstream', `openai=${standIn}/v1`, '--upstream', `gemini=${standIn}`],
  ];
  edit(
    'agent-live',
    [
      "await new Promise((r) => server.on('listening', r));",
      `await new Promise((r) => server.on('listening', r));
  const proxy = spawn(${JSON.stringify(command[0])}, ${JSON.stringify(command.slice(1))}, { env: { ...process.env, STEMMA_TEST: '1' } });
  process.on('exit', () => proxy.kill('SIGKILL'));
  let said = '';
  await new Promise((r, e) => { proxy.stderr.on('data', (d) => { said += d; if (said.includes('Recording into')) r(); }); proxy.on('exit', () => e(new Error(said))); });`,
    ],
    [
      '  server.close();\n',
      "  const over = new Promise((r) => proxy.once('close', r)); proxy.removeAllListeners('exit'); proxy.kill('SIGINT'); await over;\n  server.close();\n",
    ],
  );
  const home = path('agent');
  const ran = spawnSync(join(copy, 'agent-live'), [agent, join(copy, `scenarios/${scenario}.json`), home], { encoding: 'utf8', timeout: 120_000 });
  const requests = join(home, 'requests');
  if (!existsSync(requests)) throw new Error(`the agent did not run: ${ran.stdout}${ran.stderr}`);
  return {
    home,
    wire: readdirSync(requests)
      .sort()
      .map((file) => readFileSync(join(requests, file), 'utf8')),
  };
}
