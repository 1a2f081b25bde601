import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { expect, test } from '../../support/e2e.js';
import { foreignProject, stateOf } from '../../support/foreign-project.js';
import { built, type Machine, node } from '../../support/machine.js';

const refusalOf = (err: string) => JSON.parse(err) as { code: string; message: string; data: { reason?: string } };
const hookLog = (machine: Machine): string => {
  const path = join(machine.env.STEMMA_HOME as string, 'hook.log');
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
};

/** A finished turn of Claude Code, and the event that tells its hook. */
function event(machine: Machine): string {
  const path = join(machine.claude, 'projects', '-work', '5e551011-4444-4111-8111-111111111111.jsonl');
  mkdirSync(join(path, '..'), { recursive: true });
  const common = { cwd: machine.cwd, sessionId: '5e551011-4444-4111-8111-111111111111', timestamp: new Date().toISOString() };
  const lines = [
    { ...common, type: 'user', uuid: 'u1', parentUuid: null, message: { role: 'user', content: 'question' } },
    {
      ...common,
      type: 'assistant',
      uuid: 'a1',
      parentUuid: 'u1',
      message: { id: 'm1', role: 'assistant', model: 'm', stop_reason: 'end_turn', content: [{ type: 'text', text: 'answer' }] },
    },
  ];
  writeFileSync(path, lines.map((each) => `${JSON.stringify(each)}\n`).join(''));
  return JSON.stringify({
    session_id: common.sessionId,
    transcript_path: path,
    cwd: machine.cwd,
    hook_event_name: 'Stop',
    last_assistant_message: 'answer',
  });
}

test('[T4] no command chooses the nearest project that somebody else made', { tag: '@long' }, async ({ machine }) => {
  const dir = await foreignProject(machine, 'work', 'work.stemma');
  const before = stateOf(dir);
  const history = machine.giveHistory();
  for (const words of [
    ['log'],
    ['import', history],
    ['mcp'],
    ['proxy'],
    ['capture', history],
    ['ticket', 'list'],
    ['call', 'context.tips'],
    ['fsck'],
  ]) {
    const ran = await machine.ask(...words);
    expect(ran, words.join(' ')).toMatchObject({ code: 1, out: '' });
    expect(ran.err, words.join(' ')).toContain(dir);
    expect(ran.err, words.join(' ')).toContain('stemma trust');
  }
  // The agent runs in any case, and is not recorded.
  const run = await machine.run('run', '--agent', 'claude-code', '--', node, '-e', 'console.log(1)');
  expect(run).toMatchObject({ code: 0, out: '1\n' });
  expect(run.err).toContain('this run is not recorded');
  expect(run.err).toContain(dir);
  expect(await machine.runWith(event(machine), 'hook')).toMatchObject({ code: 0, out: '' });
  expect(hookLog(machine)).toContain(`stemma trust ${dir}`);
  expect(stateOf(dir)).toEqual(before);
});

test('[T1, T2, T4] a named project of somebody else is readable, and writable once it is trusted', async ({ machine }) => {
  const dir = await foreignProject(machine, 'work', 'work.stemma');
  const before = stateOf(dir);
  const named = ['--project', dir];
  expect(await machine.ask('log', ...named)).toMatchObject({ code: 0, err: '' });
  const [tip] = JSON.parse((await machine.ask('call', 'context.tips', ...named)).out) as { id: string }[];
  const id = tip?.id ?? '';
  expect((await machine.ask('export', id, ...named, '--to', 'markdown', '--output', machine.path('context.md'))).code).toBe(0);
  const fork = await machine.ask('fork', id, '--at', '1', '--json', ...named);
  expect(fork.code).not.toBe(0);
  for (const words of [['import', machine.giveHistory()], ['capture', machine.claude], ['proxy']])
    expect(await machine.ask(...words, ...named), words.join(' ')).toMatchObject({ code: 1, err: expect.stringContaining('stemma trust') });
  const update = ['call', 'context.update', '--input', JSON.stringify({ id, summary: 'mine' })];
  const refused = await machine.ask(...update, ...named);
  expect(refused).toMatchObject({ code: 1, out: '' });
  expect(refusalOf(refused.err)).toMatchObject({ code: 'UNAUTHORIZED', data: { reason: 'restricted' } });
  expect(await machine.runWith(event(machine), 'hook', ...named)).toMatchObject({ code: 0, out: '' });
  expect(stateOf(dir)).toEqual(before);

  expect((await machine.ask('trust', dir)).out).toContain(`Trusted ${dir}`);
  expect((await machine.ask(...update)).code).toBe(0);
  renameSync(dir, machine.path('work', 'moved.stemma'));
  expect((await machine.ask(...update)).err).toContain('moved.stemma');
  expect((await machine.ask(...update, '--trust')).code).toBe(0);
  expect((await machine.ask(...update)).code).toBe(0);
});

test('[T2] HTTP refuses writes to a project that nobody trusts, and reads it', { tag: '@long' }, async ({ machine }) => {
  const dir = await foreignProject(machine, 'elsewhere', 'work.stemma');
  const host = await machine.web();
  const post = async (path: string, input: unknown): Promise<{ status: number; body: unknown }> => {
    const headers = { authorization: `Bearer ${host.bearer}`, 'content-type': 'application/json', 'stemma-project': encodeURIComponent(dir) };
    const answer = await fetch(`${host.origin}/api/${path}`, { method: 'POST', headers, body: JSON.stringify(input) });
    return { status: answer.status, body: await answer.json() };
  };
  expect((await post('project/info', {})).body).toMatchObject({ trusted: false });
  const tips = (await post('context/tips', {})).body as { id: string }[];
  const update = { id: tips[0]?.id, summary: 'mine' };
  expect(await post('context/update', update)).toMatchObject({ status: 401, body: { code: 'UNAUTHORIZED', data: { reason: 'restricted' } } });
  expect(await post('project/trust', { dir })).toMatchObject({ status: 200, body: { dir, trusted: true } });
  expect(await post('context/update', update)).toMatchObject({ status: 200, body: { summary: 'mine' } });
});

test('[T2] MCP reads a named project that nobody trusts, and refuses to write to it', { tag: '@long' }, async ({ machine }) => {
  const dir = await foreignProject(machine, 'elsewhere', 'work.stemma');
  const client = new Client({ name: 'test', version: '1' });
  const args = [built('cli', 'stemma.js'), 'mcp', '--project', dir];
  await client.connect(
    new StdioClientTransport({ command: node, args, env: machine.env as Record<string, string>, cwd: machine.cwd, stderr: 'pipe' }),
  );
  expect((await client.callTool({ name: 'search', arguments: { text: 'larder' } })).isError ?? false).toBe(false);
  const refused = await client.callTool({ name: 'ticket_create', arguments: { title: 'Mine', type: 'task' } });
  expect(refused.isError).toBe(true);
  expect(JSON.stringify(refused.content)).toContain('UNAUTHORIZED');
  await client.close();
});

test('[T4] several projects in one folder are refused and listed', async ({ machine }) => {
  for (const name of ['one', 'two']) expect((await machine.ask('init', machine.path('work', `${name}.stemma`))).code).toBe(0);
  for (const words of [['log'], ['import', machine.giveHistory()], ['mcp']]) {
    const ran = await machine.ask(...words);
    expect(ran, words.join(' ')).toMatchObject({ code: 1, out: '' });
    for (const name of ['one', 'two']) expect(ran.err).toContain(machine.path('work', `${name}.stemma`));
  }
  expect((await machine.runWith(event(machine), 'hook')).code).toBe(0);
  expect(hookLog(machine)).toContain(`Several projects are in ${machine.cwd}`);
  expect((await machine.ask('log', '--project', 'one.stemma')).code).toBe(0);
});

test('[T6] a hook says in its log which project it found', async ({ machine }) => {
  const dir = machine.path('work', 'own.stemma');
  expect((await machine.ask('init', dir)).code).toBe(0);
  const given = event(machine);
  expect(await machine.runWith(given, 'hook', '--project', dir)).toEqual({ code: 0, out: '', err: '' });
  expect(hookLog(machine)).toBe('');
  expect(await machine.runWith(given, 'hook')).toEqual({ code: 0, out: '', err: '' });
  expect(hookLog(machine)).toContain(`Stop: recording into ${dir}, the nearest project of ${machine.cwd}`);
});

test('[T5] the search for a project ends at the home folder', async ({ machine }) => {
  // A project beside the home folder belongs to somebody else, or to another test.
  mkdirSync(machine.path('home', 'work'), { recursive: true });
  const dir = machine.path('above.stemma');
  expect((await machine.ask('init', dir)).code).toBe(0);
  machine.env.HOME = machine.path('home');
  machine.cwd = machine.path('home', 'work');
  expect((await machine.ask('log')).err).toContain('no project found here');
  rmSync(dir, { recursive: true });
  expect((await machine.ask('init', machine.path('home', 'own.stemma'))).code).toBe(0);
  expect((await machine.ask('log')).code).toBe(0);
});
