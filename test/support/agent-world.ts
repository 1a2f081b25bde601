import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRouterClient } from '@orpc/server';
import { expect, onTestFinished } from 'vitest';
import type { JobEvent, JobResult } from '../../src/core/contract/index.js';
import { createEngine, createSession } from '../../src/core/project/index.js';
import { router } from '../../src/core/router/index.js';
import { openAgents } from '../../src/main/runner/index.js';
import { filesOf, tools } from './agents.js';
import { built, node } from './machine.js';

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
async function standIn(reply: (text: string, body: unknown) => Said) {
  const { standIn: serve } = createRequire(import.meta.url)(join(tools, 'lib/agents.cjs')) as StandIn;
  const seen: { readonly messages?: unknown; readonly input?: unknown }[] = [];
  // It listens on a port of its own choice; this one takes any free port.
  const anyPort = { createServer: (listener: RequestListener) => ({ listen: () => createServer(named(listener)).listen(0, '127.0.0.1') }) };
  const server = serve(anyPort, reply, seen);
  await new Promise((resolve) => server.on('listening', resolve));
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

const programs = {
  'claude-code': ['claude', /claude-code-linux-x64\/claude$/],
  codex: ['codex', /codex-linux-x64\/.*\/codex$/],
} as const;

export type AgentProgram = keyof typeof programs;

/** A project, and an agent that talks to the stand-in model only. */
export async function agentWorld(agent: AgentProgram, reply: (text: string, body: unknown) => Said) {
  const standing = await standIn(reply);
  const home = mkdtempSync(join(tmpdir(), 'stemma-runner-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const [root, folder] = [join(home, `.${agent}`), join(home, 'work')];
  for (const each of [root, folder]) mkdirSync(each);
  if (agent === 'codex')
    writeFileSync(
      join(root, 'config.toml'),
      `model = "gpt-5-codex"\nmodel_provider = "stand-in"\n[analytics]\nenabled = false\n[model_providers.stand-in]\nname = "stand-in"\nbase_url = "${standing.url}/v1"\nenv_key = "CODEX_STAND_IN"\nwire_api = "responses"\n`,
    );
  const [name, pattern] = programs[agent];
  const executable = filesOf(join('/opt/resume-oracle', name), pattern)[0] ?? name;
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    CLAUDE_CONFIG_DIR: root,
    CODEX_HOME: root,
    ANTHROPIC_BASE_URL: standing.url,
    ANTHROPIC_API_KEY: 'sk-none',
    CODEX_STAND_IN: 'x',
    GEMINI_API_KEY: 'of-another',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    [`STEMMA_${name.toUpperCase()}`]: executable,
    STEMMA_HOME: join(home, 'data'),
  };
  const engine = createEngine({
    dataDir: join(home, 'data'),
    agentRoots: [{ agent, root }],
    sampleDir: home,
    startup: { paths: [], project: null },
    platform: 'linux',
    providers: [],
    agents: openAgents({ env, stemma: [node, built('cli', 'stemma.js')] }),
  });
  onTestFinished(() => engine.close());
  const session = createSession(engine);
  session.use(engine.create({ dir: join(home, 'test') }));
  const client = createRouterClient(router, { context: { session } });
  const append = (role: string, text: string) => ({ op: 'append', entry: { role, kind: 'text', text } });
  const asked = await client.context.fork({
    id: null,
    edits: [append('user', 'The secret word is FERN.'), append('assistant', 'Noted.'), append('user', 'Please do the work.')] as never,
  });
  /** Runs the agent. `allow` answers its permission requests. */
  const run = async (allow = true, what: object = { commit: asked.id }) => {
    const stream = await client.runner.start({ what, performer: { agent, folder }, limits: { minutes: 1 } } as never);
    const events: JobEvent[] = [];
    for (;;) {
      const next = (await stream.next()) as IteratorResult<JobEvent, JobResult>;
      if (next.done) return { events, result: next.value };
      events.push(next.value);
      if (next.value.kind !== 'question') continue;
      expect((await client.runner.list({}))[0]?.questions).toHaveLength(1);
      await client.runner.answer({ jobId: next.value.jobId, requestId: next.value.requestId ?? '', allow, note: 'Not here.' });
    }
  };
  return { client, engine, session, model: standing, folder, root, asked, run };
}
