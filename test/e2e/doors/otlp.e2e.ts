import { spawnSync } from 'node:child_process';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hasAgent, tools } from '../../support/agents.js';
import { expect, test } from '../../support/e2e.js';
import { built, type Machine, node, root } from '../../support/machine.js';

const turn = (number: 1 | 2): Buffer => readFileSync(join(root, 'test', 'fixtures', 'otlp', `made-here-turn-${number}.pb`));
const protobuf = { 'content-type': 'application/x-protobuf' };

interface Told {
  readonly total: number;
  readonly sessions: readonly { readonly sessionId: string; readonly turns: number; readonly agent: string }[];
}

/** The sessions of a project. */
async function sessions({ run }: Machine, project: string): Promise<Told> {
  const { out, err, code } = await run('call', 'session.list', '--project', project, '--input', '{}');
  if (code !== 0) throw new Error(err);
  return JSON.parse(out) as Told;
}

test('[F42] stemma otlp receives spans with its token, and each turn becomes a commit', { tag: '@long' }, async ({ machine }) => {
  const project = machine.path('spans.stemma');
  await machine.ask('init', project);
  await using receiver = machine.follow('otlp', '--project', project);
  await expect.poll(() => receiver.lines().length).toBe(3);
  const variables = Object.fromEntries(receiver.lines().map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]));
  const url = `${variables.OTEL_EXPORTER_OTLP_ENDPOINT}/v1/traces`;
  const authorization = decodeURIComponent((variables.OTEL_EXPORTER_OTLP_HEADERS ?? '').replace('Authorization=', ''));
  const send = (headers: Record<string, string>, number: 1 | 2): Promise<number> =>
    fetch(url, { method: 'POST', body: new Uint8Array(turn(number)), headers: { ...protobuf, ...headers } }).then(({ status }) => status);
  expect(await send({}, 1)).toBe(401);
  for (const number of [1, 2] as const) {
    expect(await send({ authorization }, number)).toBe(200);
    await expect.poll(async () => (await sessions(machine, project)).sessions.map(({ turns }) => turns)).toEqual([number]);
  }
});

test('[F42] the web host receives spans from programs that have its bearer', { tag: '@long' }, async ({ machine }) => {
  const project = machine.path('spans.stemma');
  await machine.ask('init', project);
  const host = await machine.web(project);
  const send = (headers: Record<string, string>): Promise<number> =>
    fetch(`${host.origin}/v1/traces`, { method: 'POST', body: new Uint8Array(turn(1)), headers: { ...protobuf, ...headers } }).then(
      ({ status }) => status,
    );
  expect(await send({})).not.toBe(200);
  expect(await send({ authorization: `Bearer ${host.bearer}` })).toBe(200);
  await expect.poll(async () => (await sessions(machine, project)).sessions.map(({ sessionId }) => sessionId)).toEqual(['conv-7']);
});

test('[F40, F42] an export sends its spans to a collector, or says why it was refused', { tag: '@long' }, async ({ machine }) => {
  const [source, target] = [machine.path('source.stemma'), machine.path('target.stemma')];
  await machine.ask('init', source);
  await machine.ask('import', '--project', source, join(root, 'test', 'fixtures', 'pi', 'tour.jsonl'));
  await machine.ask('init', target);
  await using receiver = machine.follow('otlp', '--project', target);
  await expect.poll(() => receiver.lines().length).toBe(3);
  const variables = Object.fromEntries(receiver.lines().map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]));
  const url = `${variables.OTEL_EXPORTER_OTLP_ENDPOINT}/v1/traces`;
  const { out } = await machine.ask('call', 'context.tips', '--project', source, '--input', '{}');
  const id = /ctx-[0-9a-f]+/.exec(out)?.[0] ?? '';
  const refused = await machine.ask('export', id, '--project', source, '--collector', url);
  expect(refused.code).not.toBe(0);
  expect(refused.err).toContain(`The spans were not sent to ${url}: it answered 401`);
  machine.env.OTEL_EXPORTER_OTLP_HEADERS = variables.OTEL_EXPORTER_OTLP_HEADERS ?? '';
  const sent = await machine.ask('export', id, '--project', source, '--collector', url);
  expect(sent.out, sent.err).toContain(`Sent to ${url}`);
  await expect.poll(async () => (await sessions(machine, target)).sessions.length).toBe(1);
});

/** The port of the receiver in the agent's own network. */
const port = 18_997;

test('[F42] Copilot CLI, run now, exports its session over HTTP', async ({ machine }) => {
  test.skip(!hasAgent('copilot'), 'the real agent is not on this machine');
  test.setTimeout(240_000);
  const project = machine.path('copilot.stemma');
  await machine.ask('init', project);
  const copy = machine.path('tools');
  cpSync(tools, copy, { recursive: true });
  const edit = (file: string, from: string, to: string): void => {
    const path = join(copy, file);
    const text = readFileSync(path, 'utf8');
    if (!text.includes(from)) throw new Error(`${file} does not contain: ${from}`);
    writeFileSync(path, text.replace(from, to), { mode: 0o755 });
  };
  const bearerFile = machine.path('token');
  edit(
    'lib/agents.cjs',
    "COPILOT_MODEL: 'claude-sonnet-4.5' }",
    `COPILOT_MODEL: 'claude-sonnet-4.5', COPILOT_OTEL_ENABLED: 'true', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:${port}', OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'true',
      get OTEL_EXPORTER_OTLP_HEADERS() { return 'Authorization=Bearer%20' + require('node:fs').readFileSync(${JSON.stringify(bearerFile)}, 'utf8'); } }`,
  );
  const command = [built('cli', 'stemma.js'), 'otlp', '--trust', '--project', project, '--port', String(port), '--bearer-file', bearerFile];
  edit(
    'agent-live',
    '  const env = { ...process.env, ...environment(agent, config) };',
    `  const receiver = spawn(${JSON.stringify(node)}, ${JSON.stringify(command)}, { env: { ...process.env, STEMMA_HOME: ${JSON.stringify(machine.env.STEMMA_HOME)} } });
  process.on('exit', () => receiver.kill('SIGKILL'));
  let said = '';
  await new Promise((r, e) => { receiver.stderr.on('data', (d) => { said += d; if (said.includes('Receiving into')) r(); }); receiver.on('exit', () => e(new Error(said))); });
  const env = { ...process.env, ...environment(agent, config) };`,
  );
  edit(
    'agent-live',
    '  server.close();\n',
    "  receiver.removeAllListeners('exit'); const over = new Promise((r) => receiver.once('close', r)); receiver.kill('SIGINT'); await over;\n  server.close();\n",
  );
  const script = machine.path('scenario.json');
  const model = [
    { when: 'List the files', text: 'Let me look.', tools: [{ name: 'bash', input: { command: 'ls', description: 'List' } }] },
    { when: 'Say more', text: 'There is no more.' },
  ];
  writeFileSync(script, JSON.stringify({ files: { 'a.txt': 'a' }, steps: ['List the files', 'Say more'], model }));
  const ran = spawnSync(join(copy, 'agent-live'), ['copilot', script, machine.path('home')], { encoding: 'utf8', timeout: 200_000 });
  expect(ran.status, ran.stdout + ran.stderr).toBe(0);
  const { sessions: found } = await sessions(machine, project);
  expect(found.map(({ turns }) => turns)).toEqual([2]);
  const { out } = await machine.ask('call', 'context.tips', '--project', project, '--input', '{}');
  const [tip] = JSON.parse(out) as { id: string }[];
  const read = await machine.ask(
    'call',
    'context.entries',
    '--project',
    project,
    '--input',
    JSON.stringify({ id: tip?.id, stop: 'root', limit: 1000 }),
  );
  const { entries } = JSON.parse(read.out) as { entries: { role: string; kind: string; text?: string; toolCallId?: string }[] };
  const seen = entries.filter(({ kind, role }) => kind !== 'event' && role !== 'system').map(({ role, kind }) => `${role} ${kind}`);
  expect(seen).toEqual(['user text', 'assistant text', 'assistant tool_call', 'tool tool_result', 'assistant text', 'user text', 'assistant text']);
  expect(entries.find(({ kind }) => kind === 'tool_result')?.toolCallId).toBe(entries.find(({ kind }) => kind === 'tool_call')?.toolCallId);
});
