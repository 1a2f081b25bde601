import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRouterClient } from '@orpc/server';
import { expect, onTestFinished } from 'vitest';
import type { JobEvent, JobResult } from '../../src/core/contract/index.js';
import { createEngine, createSession } from '../../src/core/project/index.js';
import { contextOf, router } from '../../src/core/router/index.js';
import { openAgents } from '../../src/main/runner/index.js';
import { built, compiled, node } from './machine.js';
import { type AgentProgram, codexSettings, commandOf, opencodeSettings, type Said, standIn } from './stand-in.js';

/** A project, and agents that talk to the stand-in model only. The first one is that of `root` and `run`. */
export async function agentWorld(named: AgentProgram | readonly AgentProgram[], reply: (text: string, body: unknown) => Said) {
  const agents = [named].flat() as readonly AgentProgram[];
  const [agent = 'codex'] = agents;
  const standing = await standIn(reply);
  onTestFinished(standing.close);
  const home = mkdtempSync(join(tmpdir(), 'stemma-runner-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const rootOf = (each: AgentProgram): string => join(home, `.${each}`);
  const [root, folder] = [rootOf(agent), join(home, 'work')];
  for (const each of [...agents.map(rootOf), folder]) mkdirSync(each);
  if (agents.includes('codex')) writeFileSync(join(rootOf('codex'), 'config.toml'), codexSettings(standing.url));
  if (agents.includes('opencode')) writeFileSync(join(rootOf('opencode'), 'opencode.json'), JSON.stringify(opencodeSettings(standing.url)));
  const env = {
    ...Object.fromEntries(['DATA', 'CONFIG', 'STATE', 'CACHE'].map((kind) => [`XDG_${kind}_HOME`, join(rootOf('opencode'), kind.toLowerCase())])),
    ...Object.fromEntries(
      ['AUTOUPDATE', 'SHARE', 'MODELS_FETCH', 'LSP_DOWNLOAD', 'DEFAULT_PLUGINS'].map((name) => [`OPENCODE_DISABLE_${name}`, '1']),
    ),
    OPENCODE_CONFIG: join(rootOf('opencode'), 'opencode.json'),
    PATH: process.env.PATH,
    HOME: home,
    CLAUDE_CONFIG_DIR: rootOf('claude-code'),
    CODEX_HOME: rootOf('codex'),
    ANTHROPIC_BASE_URL: standing.url,
    ANTHROPIC_API_KEY: 'sk-none',
    CODEX_STAND_IN: 'x',
    GEMINI_API_KEY: 'of-another',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    ...Object.assign({}, ...agents.map(commandOf)),
    STEMMA_HOME: join(home, 'data'),
  };
  const engine = createEngine({
    dataDir: join(home, 'data'),
    agentRoots: agents.map((each) => ({ agent: each, root: rootOf(each) })),
    sampleDir: home,
    startup: { paths: [], project: null },
    platform: 'linux',
    providers: [],
    // Agents give their tool servers no other variables of this process.
    agents: openAgents({ env, stemma: ['env', `NODE_COMPILE_CACHE=${compiled}`, node, built('cli', 'stemma.js')] }),
  });
  onTestFinished(() => engine.close());
  const session = createSession(engine);
  session.use(engine.create({ dir: join(home, 'test') }));
  const client = createRouterClient(router, { context: contextOf(session) });
  const append = (role: string, text: string) => ({ op: 'append', entry: { role, kind: 'text', text } });
  const asked = await client.context.fork({
    id: null,
    edits: [append('user', 'The secret word is FERN.'), append('assistant', 'Noted.'), append('user', 'Please do the work.')] as never,
  });
  /** Runs the agent. `allow` answers its permission requests: all, or each by its event. */
  const run = async (allow: boolean | ((question: JobEvent) => boolean) = true, what: object = { commit: asked.id }) => {
    const stream = await client.runner.start({ what, performer: { agent, folder }, limits: { minutes: 3 } } as never);
    const events: JobEvent[] = [];
    for (;;) {
      const next = (await stream.next()) as IteratorResult<JobEvent, JobResult>;
      if (next.done) return { events, result: next.value };
      events.push(next.value);
      if (next.value.kind !== 'question') continue;
      expect((await client.runner.list({}))[0]?.questions).toHaveLength(1);
      const isAllowed = typeof allow === 'boolean' ? allow : allow(next.value);
      await client.runner.answer({ jobId: next.value.jobId, requestId: next.value.requestId ?? '', allow: isAllowed, note: 'Not here.' });
    }
  };
  return { client, engine, session, model: standing, folder, root, home, asked, run };
}
