import { createServer, type RequestListener } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { filesOf, tools } from './agents.js';

/** What the stand-in model says. `delayMs`: not at once. */
export interface Said {
  readonly delayMs?: number;
  readonly text?: string;
  readonly tools?: readonly { readonly name: string; readonly input: unknown }[];
}
interface StandIn {
  standIn(http: unknown, reply: (text: string, body: unknown) => Said, seen: unknown[]): import('node:http').Server;
}

/** Codex names the tools of a server in two parts, which the stand-in does not know. */
const named =
  (listener: RequestListener): RequestListener =>
  (request, response) => {
    const write = response.write.bind(response);
    if (request.url?.includes('/responses'))
      response.write = ((text: string) => write(text.replaceAll('"name":"mcp__stemma__', '"namespace":"mcp__stemma","name":"'))) as typeof write;
    listener(request, response);
  };

/** The stand-in model of ../shared/tools on a free port. */
export async function standIn(reply: (text: string, body: unknown) => Said) {
  const { standIn: serve } = createRequire(import.meta.url)(join(tools, 'lib/agents.cjs')) as StandIn;
  const seen: { readonly messages?: unknown; readonly input?: unknown }[] = [];
  // It listens on a port of its own choice; this one takes any free port.
  const anyPort = { createServer: (listener: RequestListener) => ({ listen: () => createServer(named(listener)).listen(0, '127.0.0.1') }) };
  const server = serve(anyPort, reply, seen);
  await new Promise((resolve) => server.on('listening', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen, close: () => void server.close() };
}

const programs = {
  'claude-code': ['claude', /claude-code-linux-x64\/claude$/],
  codex: ['codex', /codex-linux-x64\/.*\/codex$/],
  opencode: ['opencode', /opencode-linux-x64\/bin\/opencode$/],
} as const;

export type AgentProgram = keyof typeof programs;

/** Settings of Codex for a stand-in model. Its key is in CODEX_STAND_IN. */
export const codexSettings = (url: string): string =>
  `model = "gpt-5-codex"\nmodel_provider = "stand-in"\n[analytics]\nenabled = false\n[model_providers.stand-in]\nname = "stand-in"\nbase_url = "${url}/v1"\nenv_key = "CODEX_STAND_IN"\nwire_api = "responses"\n`;

/** Settings of OpenCode that allow everything: a job asks nevertheless. */
export const opencodeSettings = (url: string) => ({
  ...{ autoupdate: false, share: 'disabled', model: 'anthropic/claude-sonnet-4-5', small_model: 'anthropic/claude-sonnet-4-5' },
  ...{ enabled_providers: ['anthropic'], permission: 'allow' },
  provider: { anthropic: { options: { baseURL: `${url}/v1`, apiKey: 'sk-none' } } },
});

/** The variable that names the command of an agent, and the command: installed, or on the path. */
export function commandOf(agent: AgentProgram): Record<string, string> {
  const [name, pattern] = programs[agent];
  return { [`STEMMA_${name.toUpperCase()}`]: filesOf(join('/opt/resume-oracle', name), pattern)[0] ?? name };
}
