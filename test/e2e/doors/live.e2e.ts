import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type Commit, type RequestRow, wires } from '../../../src/core/contract/index.js';
import { expect, test } from '../../support/e2e.js';
import { built, type Machine, root } from '../../support/machine.js';
import { askOddly, oddities, oddModel, secrets, sentFor, wireCases } from '../../support/odd-model.js';

const node = process.execPath;
const agent = join(root, 'test', 'support', 'agent.mjs');

/** A running `stemma` command with its output so far. */
function begun(
  machine: Machine,
  ...words: string[]
): { process: ChildProcess; out(): string; err(): string; ended: Promise<[number | null, string | null]> } {
  const child = spawn(node, [built('cli', 'stemma.js'), ...words], { cwd: machine.cwd, env: machine.env });
  const said = { out: '', err: '' };
  child.stdout.on('data', (data: Buffer) => (said.out += data));
  child.stderr.on('data', (data: Buffer) => (said.err += data));
  const ended = new Promise<[number | null, string | null]>((resolve) => child.on('close', (code, signal) => resolve([code, signal])));
  return { process: child, out: () => said.out, err: () => said.err, ended };
}

const runAgent = (machine: Machine, ...steps: string[]) => begun(machine, 'run', '--agent', 'claude-code', '--', node, agent, ...steps);

async function commits(machine: Machine): Promise<Commit[]> {
  const ran = await machine.ask('call', 'context.graph', '--input', '{"offset":0,"limit":100}');
  return (JSON.parse(ran.out) as { rows: { commit: Commit }[] }).rows.map((row) => row.commit);
}

test.beforeEach(({ machine }) => machine.ask('init', machine.path('work', 'live.stemma')));

test.describe('stemma run', () => {
  test('[L10] passes streams through unchanged, exits with the code of the command, and records', async ({ machine }) => {
    const run = runAgent(machine, 'turn', 'wait', 'turn', 'open', 'exit:7');
    run.process.stdin?.end('päper\n');
    expect(await run.ended).toEqual([7, null]);
    expect(run.out()).toBe('heard päper\n');
    expect(run.err()).toBe('did turn\ndid wait\ndid turn\ndid open\n');
    expect((await commits(machine)).map(({ summary, checkpoint }) => [summary, checkpoint])).toEqual([
      ['question 3', 'session_end'],
      ['question 2', 'turn_boundary'],
      ['question 1', 'turn_boundary'],
    ]);
  });

  test('[L5, L10] ends by the same signal as its command and stores the last checkpoint', async ({ machine }) => {
    const run = runAgent(machine, 'turn', 'open', 'hang');
    await expect.poll(run.err).toContain('did open');
    run.process.kill('SIGTERM');
    expect(await run.ended).toEqual([null, 'SIGTERM']);
    expect((await commits(machine)).map(({ checkpoint }) => checkpoint)).toEqual(['session_end', 'turn_boundary']);
  });

  test('[L10] a failing capture does not affect the command', async ({ machine }) => {
    writeFileSync(machine.path('file'), 'no folder');
    machine.env.STEMMA_PROJECT = machine.path('file', 'x.stemma');
    const run = runAgent(machine, 'turn', 'exit:3');
    expect(await run.ended).toEqual([3, null]);
    expect(run.err()).toContain('this run is not recorded: ');
    expect(run.err()).toContain('did turn');
  });

  test('[L10] a command that does not exist is reported as by a shell', async ({ machine }) => {
    expect(await machine.run('run', '--', 'no-such-agent')).toMatchObject({ code: 127, out: '' });
  });

  test('[L10] records an agent without a transcript from its output, which passes unchanged', { tag: '@long' }, async ({ machine }) => {
    const script = join(root, 'test', 'support', 'stream-agent.mjs');
    const words = [script, '-p', 'What is there?', '--no-session-persistence', '--output-format', 'stream-json', '--verbose'];
    const alone = spawnSync(node, words, { cwd: machine.cwd, encoding: 'utf8' });
    const run = begun(machine, 'run', '--agent', 'claude-code', '--', node, ...words);
    expect(await run.ended).toEqual([5, null]);
    expect(run.out()).toBe(alone.stdout);
    const [commit, ...others] = await commits(machine);
    expect(others).toEqual([]);
    expect(commit).toMatchObject({ summary: 'What is there?', sessionId: '5e551011-5555-4111-8111-111111111111', messageCount: 4 });
    const { out } = await machine.ask('show', commit?.id ?? '', '--json');
    const told = (JSON.parse(out) as { entries: { kind: string; text?: string; result?: unknown }[] }).entries;
    expect(told.map(({ kind, text, result }) => [kind, text ?? result])).toEqual([
      ['text', 'What is there?'],
      ['tool_call', undefined],
      ['tool_result', 'päper'],
      ['text', 'There is paper.'],
    ]);
    expect(readdirSync(join(machine.env.STEMMA_HOME as string, 'streams'))).toEqual([]);
  });

  test('ignores other sessions of the same agent', { tag: '@long' }, async ({ machine }) => {
    const run = runAgent(machine, 'wait', 'turn');
    await expect.poll(async () => (await machine.ask('source', 'list', '--json')).code).toBe(0);
    const elsewhere = join(machine.claude, 'projects', '-elsewhere');
    mkdirSync(elsewhere);
    const sample = readFileSync(join(root, 'resources', 'sample', 'larder', '4b9013ed-af4c-4d72-987c-ac3ad36a4dba.jsonl'));
    writeFileSync(join(elsewhere, '4b9013ed-af4c-4d72-987c-ac3ad36a4dba.jsonl'), sample);
    run.process.stdin?.end('go\n');
    expect(await run.ended).toEqual([0, null]);
    expect((await commits(machine)).map(({ summary }) => summary)).toEqual(['question 1']);
  });
});

const key = 'sk-very-secret-0123456789';

/** A model that gives the answer of the agent's first turn to callers with the key. It ends with the test. */
async function model(): Promise<string> {
  const usage = { input_tokens: 11, output_tokens: 2 };
  const content = [{ type: 'text', text: 'answer 1' }];
  const server = createServer((request, response) => {
    request.resume();
    response.statusCode = request.headers['x-api-key'] === key ? 200 : 401;
    response.end(JSON.stringify({ type: 'message', id: 'msg_a1', model: 'm', role: 'assistant', content, usage }));
  }).unref();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const filesWith = (dir: string, text: string): string[] =>
  readdirSync(dir, { recursive: true, withFileTypes: true })
    .flatMap((file) => (file.isFile() ? [join(file.parentPath, file.name)] : []))
    .filter((path) => readFileSync(path).includes(text));
const filesWithKey = (dir: string): string[] => filesWith(dir, key);

/** An agent that prints the addresses of its models and runs until it is told to end. */
const waiting = 'console.log(JSON.stringify(process.env)); process.stdin.once("data", () => process.exit(0));';

test.describe('calls on the wire', () => {
  test('[R5] `run --record` forwards them and links them to their turns', { tag: '@long' }, async ({ machine }) => {
    Object.assign(machine.env, { ANTHROPIC_BASE_URL: await model(), ANTHROPIC_API_KEY: key });
    const run = begun(machine, 'run', '--record', '--agent', 'claude-code', '--', node, agent, 'turn', 'call', 'exit:3');
    expect(await run.ended).toEqual([3, null]);
    expect(run.out()).toContain('200 {"type":"message","id":"msg_a1"');
    const [commit] = await commits(machine);
    const listed = await machine.ask('call', 'request.list', '--input', JSON.stringify({ id: commit?.id }));
    expect(JSON.parse(listed.out)).toMatchObject({ total: 1, requests: [{ source: 'wire', commit: commit?.id, tokens: { input: 11, output: 2 } }] });
    expect(filesWithKey(machine.path('work', 'live.stemma'))).toEqual([]);
  });

  for (const command of ['run --record', 'proxy'])
    test(`[R5] \`${command}\`: a server that stalls, breaks off or refuses does so for the agent`, async ({ machine }) => {
      const server = await oddModel();
      const addresses = { ANTHROPIC_BASE_URL: server.url, OPENAI_BASE_URL: server.url, GOOGLE_GEMINI_BASE_URL: server.url };
      Object.assign(machine.env, addresses);
      const upstreams = ['anthropic', 'openai', 'gemini'].flatMap((name) => ['--upstream', `${name}=${server.url}`]);
      const isRun = command !== 'proxy';
      const words = isRun ? ['run', '--record', '--agent', 'claude-code', '--', node, '-e', waiting] : ['proxy', ...upstreams];
      const recorder = begun(machine, ...words);
      await expect.poll(() => recorder.out() + recorder.err()).toMatch(isRun ? /^\{.*\}$/m : /Recording into/);
      const told: Record<string, string | undefined> = isRun
        ? (JSON.parse(/^\{.*\}$/m.exec(recorder.out())?.[0] ?? '{}') as Record<string, string>)
        : Object.fromEntries(
            recorder
              .out()
              .split('\n')
              .map((line) => line.split('=', 2)),
          );
      const bases = { anthropic: told.ANTHROPIC_BASE_URL, openai: told.OPENAI_BASE_URL, gemini: told.GOOGLE_GEMINI_BASE_URL };
      for (const wire of wires)
        for (const oddity of oddities) {
          const base = bases[wireCases[wire].provider];
          expect(base).toBeDefined();
          expect(base).not.toBe(server.url);
          const got = await askOddly(base ?? '', wire, oddity, () => server.goOn());
          expect(got.bytes.equals(sentFor(wire, oddity)), `${wire} ${oddity}: ${got.bytes}`).toBe(true);
          expect([got.status, got.isWhole]).toEqual([/^\d+$/.test(oddity) ? Number(oddity) : 200, oddity !== 'breaks']);
        }
      if (isRun) recorder.process.stdin?.write('go\n');
      else recorder.process.kill('SIGINT');
      expect(await recorder.ended).toEqual([0, null]);
      server.close();
      const { requests: rows } = JSON.parse((await machine.ask('call', 'request.list', '--input', '{}')).out) as { requests: RequestRow[] };
      expect(rows).toHaveLength(wires.length * oddities.length);
      const shown = await Promise.all(rows.slice(0, 4).map(async ({ requestId }) => (await machine.ask('request', 'show', requestId)).out));
      for (const [name, secret] of Object.entries(secrets)) {
        expect(filesWith(machine.path('work', 'live.stemma'), secret), name).toEqual([]);
        expect(shown.join(), name).not.toContain(secret);
      }
    });

  test('`proxy` prints its addresses and records calls until it ends', async ({ machine }) => {
    const proxy = begun(machine, 'proxy', '--upstream', `anthropic=${await model()}`);
    await expect.poll(proxy.err).toContain('Recording into');
    const base = /^ANTHROPIC_BASE_URL=(.*)$/m.exec(proxy.out())?.[1];
    const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hello' }] });
    expect((await fetch(`${base}/v1/messages`, { method: 'POST', headers: { 'x-api-key': key }, body })).status).toBe(200);
    proxy.process.kill('SIGINT');
    expect(await proxy.ended).toEqual([0, null]);
    expect(JSON.parse((await machine.ask('call', 'request.list', '--input', '{}')).out)).toMatchObject({
      requests: [{ source: 'wire', messageCount: 1 }],
    });
    expect(await machine.run('proxy', '--upstream', 'nobody=x')).toMatchObject({ code: 2, out: '' });
  });
});

test.describe('stemma capture', () => {
  test('[L6] follows an agent that is installed later', { tag: '@long' }, async ({ machine }) => {
    const capture = begun(machine, 'capture');
    await expect.poll(capture.err).toContain('once created');
    expect(capture.err()).not.toContain('.codex');
    const day = machine.path('.codex', 'sessions', '2026', '11', '21');
    mkdirSync(day, { recursive: true });
    const id = '01a1fd5a-a9e0-7ed1-ad23-3aa34fe62e4c';
    const at = new Date().toISOString();
    const line = (type: string, payload: object): string => `${JSON.stringify({ timestamp: at, type, payload })}\n`;
    const said = (role: string, type: string, text: string): string => line('response_item', { type: 'message', role, content: [{ type, text }] });
    writeFileSync(
      join(day, `rollout-2026-11-21T10-00-00-${id}.jsonl`),
      line('session_meta', { id, timestamp: at, cwd: '/work', originator: 'codex', cli_version: '0.169.0' }) +
        said('user', 'input_text', 'asked of who came later') +
        said('assistant', 'output_text', 'here') +
        line('event_msg', { type: 'task_complete', last_agent_message: 'here' }),
    );
    await expect.poll(capture.out).toContain('asked of who came later');
    capture.process.kill('SIGINT');
    expect(await capture.ended).toEqual([0, null]);
  });

  test('[L1, L7] prints a line for each checkpoint of any process, and ends with an interrupt', { tag: '@long' }, async ({ machine }) => {
    const capture = begun(machine, 'capture');
    await expect.poll(capture.err).toContain('Following');
    const run = begun(machine, 'call', 'capture.status');
    await run.ended;
    const file = join(machine.claude, 'projects', '-work', '5e551011-2222-4111-8111-111111111111.jsonl');
    mkdirSync(join(machine.claude, 'projects', '-work'));
    writeFileSync(file, '');
    const line = (type: string, uuid: string, parentUuid: string | null, message: object): string =>
      `${JSON.stringify({ parentUuid, isSidechain: false, cwd: '/work', sessionId: 's', type, message, uuid, timestamp: new Date().toISOString() })}\n`;
    appendFileSync(file, line('user', 'u1', null, { role: 'user', content: 'first question' }));
    appendFileSync(
      file,
      line('assistant', 'a1', 'u1', { id: 'm1', role: 'assistant', model: 'm', stop_reason: 'end_turn', content: [{ type: 'text', text: 'yes' }] }),
    );
    await expect.poll(capture.out).toContain('first question');
    const data = Buffer.from(line('user', 'u9', null, { role: 'user', content: 'by hand' })).toString('base64');
    const checkpoint = {
      parent: null,
      type: 'delta',
      format: 'claude-code-v1',
      data,
      template: 't',
      checkpoint: 'explicit',
      summary: 'made by hand',
    };
    expect((await machine.ask('call', 'context.checkpoint', '--input', JSON.stringify(checkpoint))).code).toBe(0);
    await expect.poll(capture.out).toContain('made by hand');
    expect(capture.out().trim().split('\n')).toHaveLength(2);
    capture.process.kill('SIGINT');
    expect(await capture.ended).toEqual([0, null]);
    expect(capture.err()).toContain('1 checkpoint');
  });
});
