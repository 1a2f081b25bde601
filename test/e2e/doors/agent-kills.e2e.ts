import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hasAgent, tours, unlessHere } from '../../support/agents.js';
import { expect, test } from '../../support/e2e.js';
import { kill } from '../../support/machine.js';
import { commandOf, type Said, standIn } from '../../support/stand-in.js';

const files = [1, 2, 3, 4, 5, 6].map((number) => `${number}.txt`);
const kills = 3;

/** The processes whose working folder is in a folder. */
const processesIn = (folder: string): string[] =>
  readdirSync('/proc').filter((id) => {
    try {
      return (
        /^\d+$/.test(id) && readlinkSync(`/proc/${id}/cwd`).startsWith(folder) && !readFileSync(`/proc/${id}/cmdline`, 'utf8').includes('stemma.js')
      );
    } catch {
      return false;
    }
  });

// Each kill waits for the end of a lease, so it runs on request only.
test(`[U4, U7] kills of Claude Code leave no process, session or worktree${tours ? unlessHere('claude') : ' (STEMMA_AGENTS=all runs it)'}`, async ({
  machine,
}) => {
  test.skip(!(tours && hasAgent('claude')), 'It takes minutes: STEMMA_AGENTS=all runs it where Claude Code is installed for tests.');
  test.setTimeout(600_000);
  const project = machine.path('p.stemma');
  const folder = machine.path('app');
  // Each reply follows one more result. A try gets no reply.
  const model = await standIn((_text, body): Said => {
    const said = JSON.stringify((body as { messages?: unknown }).messages ?? '');
    if (said.includes('Try it.')) return { text: 'Late.', delayMs: 600_000 };
    const file = files.find((name) => !existsSync(join(folder, name)));
    return file === undefined
      ? { text: 'All files are written.' }
      : { tools: [{ name: 'Write', input: { file_path: join(folder, file), content: file } }], delayMs: 300 };
  });
  Object.assign(machine.env, commandOf('claude-code'), {
    ANTHROPIC_BASE_URL: model.url,
    ANTHROPIC_API_KEY: 'sk-none',
    CLAUDE_CONFIG_DIR: machine.claude,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  });
  const call = async <T>(procedure: string, input: object = {}): Promise<T> => {
    const { code, out, err } = await machine.ask('call', procedure, '--project', project, '--input', JSON.stringify(input));
    expect([code, err]).toEqual([0, '']);
    return JSON.parse(out) as T;
  };
  const git = (...args: string[]): string =>
    execFileSync('git', ['-C', folder, '-c', 'user.name=t', '-c', 'user.email=t@t', ...args], { encoding: 'utf8' });
  execFileSync('git', ['init', '-q', folder]);
  git('commit', '-q', '--allow-empty', '-m', 'first');
  try {
    expect((await machine.ask('init', project)).code).toBe(0);
    await call('profile.put', { name: 'Writer', card: { content: { kind: 'json', data: { name: 'Writer' } } } });
    await call('handover.launchPrincipal', { profileName: 'Writer', instruction: 'Write all files.' });
    const policy = machine.path('policy.json');
    writeFileSync(
      policy,
      JSON.stringify({ rules: [{ for: { agent: 'Writer' }, performer: { agent: 'claude-code', folder, permissions: 'acceptEdits' } }] }),
    );
    const serve = () => machine.follow('serve', '--project', project, '--policy', policy);
    for (let round = 0; round < kills; round++) {
      const asked = model.seen.length;
      await using served = serve();
      await expect.poll(() => model.seen.length, { timeout: 120_000 }).toBeGreaterThan(asked + round);
      await kill(served.process);
      await expect.poll(() => processesIn(folder)).toEqual([]);
    }
    await using _served = serve();
    await expect
      .poll(async () => (await call<{ turns: { status: string }[] }>('handover.map')).turns[0]?.status, { timeout: 180_000 })
      .toBe('success');
    const jobs = await call<{ status: string }[]>('runner.list');
    expect(jobs.map(({ status }) => status)).toEqual(['success', ...Array(kills).fill('interrupted')]);
    expect(files.filter((name) => !existsSync(join(folder, name)))).toEqual([]);

    const edits = [{ op: 'append', entry: { role: 'user', kind: 'text', text: 'Try it.' } }];
    const { id } = await call<{ id: string }>('context.fork', { id: null, edits });
    const asked = model.seen.length;
    await using tries = machine.follow(
      'job',
      'start',
      '--project',
      project,
      '--commit',
      id,
      '--agent',
      'claude-code',
      '--folder',
      folder,
      '--times',
      '2',
    );
    await expect.poll(() => model.seen.length).toBeGreaterThan(asked + 1);
    expect(git('worktree', 'list').trim().split('\n')).toHaveLength(3);
    await kill(tries.process);
    await expect.poll(() => git('worktree', 'list').trim().split('\n').length, { timeout: 120_000 }).toBe(1);
    const sessions = () => readdirSync(machine.claude, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.jsonl'));
    await expect.poll(sessions).toEqual([]);
    expect(processesIn(machine.dir)).toEqual([]);
    expect((await call<{ problems: unknown[] }>('project.check')).problems).toEqual([]);
  } finally {
    model.close();
  }
});
