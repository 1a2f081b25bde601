import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Commit } from '../../../src/core/contract/index.js';
import { loadedWith } from '../../support/built.js';
import { expect, test } from '../../support/e2e.js';
import { built, type Machine, node, type Ran } from '../../support/machine.js';

const session = '5e551011-4444-4111-8111-111111111111';

/** A session as Claude Code writes it, and the events for its hooks. */
function agentOn(machine: Machine) {
  const folder = join(machine.claude, 'projects', '-work');
  mkdirSync(join(folder, session, 'subagents'), { recursive: true });
  const path = join(folder, `${session}.jsonl`);
  const subagent = join(folder, session, 'subagents', 'agent-abc123.jsonl');
  writeFileSync(path, '');
  const lines = { prompt: promptLine, answer: answerLine, calls: callLine };
  return {
    path,
    subagent,
    write: (kind: keyof typeof lines, n: number, to = path) => appendFileSync(to, lines[kind](n, to === subagent)),
    on: (event: string, more: object = {}): Promise<Ran> =>
      machine.runWith(JSON.stringify({ session_id: session, transcript_path: path, cwd: '/work', hook_event_name: event, ...more }), 'hook'),
  };
}

const line = (type: string, uuid: string, parentUuid: string | null, message: object, more: object = {}): string =>
  `${JSON.stringify({ parentUuid, isSidechain: false, cwd: '/work', sessionId: session, type, message, uuid, timestamp: new Date().toISOString(), ...more })}\n`;
const sidechain = (is: boolean): object => (is ? { isSidechain: true, agentId: 'abc123' } : {});
const promptLine = (n: number, side = false): string =>
  line('user', `u${n}`, n === 1 || side ? null : `a${n - 1}`, { role: 'user', content: `question ${n}` }, sidechain(side));
const said = (n: number, stop_reason: string, content: object): object => ({
  id: `m${n}`,
  role: 'assistant',
  model: 'm',
  stop_reason,
  content: [content],
});
const answerLine = (n: number, side = false): string =>
  line('assistant', `a${n}`, `u${n}`, said(n, 'end_turn', { type: 'text', text: `First of all.\n\nanswer ${n}` }), sidechain(side));
const callLine = (n: number, side = false): string =>
  line(
    'assistant',
    `a${n}`,
    `u${n}`,
    said(n, 'tool_use', { type: 'tool_use', id: `t${n}`, name: 'Bash', input: { command: 'make' } }),
    sidechain(side),
  );

async function commits(machine: Machine): Promise<(string | undefined)[][]> {
  const ran = await machine.ask('call', 'context.graph', '--input', '{"offset":0,"limit":100}');
  return (JSON.parse(ran.out) as { rows: { commit: Commit }[] }).rows.map(({ commit: { summary, checkpoint } }) => [summary, checkpoint]).reverse();
}

/** Checks that the hook prints nothing that an agent could take for a decision. */
const quiet = { code: 0, out: '', err: '' };
/** The problems in the log of the hooks. It also says which project a hook found. */
const log = (machine: Machine): string => {
  const path = join(machine.env.STEMMA_HOME as string, 'hook.log');
  return existsSync(path) ? readFileSync(path, 'utf8').replace(/^.*: recording into .*\n/gm, '') : '';
};

test.describe('stemma hook', () => {
  test('[L5, L8] checkpoints at turns, subagents, compactions within a turn, and the end', { tag: '@long' }, async ({ machine }) => {
    await machine.ask('init', machine.path('work', 'live.stemma'));
    const agent = agentOn(machine);
    agent.write('prompt', 1);
    agent.write('answer', 1);
    expect(await agent.on('Stop', { last_assistant_message: 'First of all.\n\nanswer 1' })).toEqual(quiet);
    expect(await commits(machine)).toEqual([['question 1', 'turn_boundary']]);

    agent.write('prompt', 2);
    agent.write('calls', 2);
    expect(await agent.on('PreToolUse')).toEqual(quiet);
    expect(await commits(machine)).toHaveLength(1);
    expect(await agent.on('PreCompact', { trigger: 'auto', custom_instructions: '' })).toEqual(quiet);
    expect(await commits(machine)).toEqual([
      ['question 1', 'turn_boundary'],
      ['question 2', 'compaction'],
    ]);

    agent.write('prompt', 7, agent.subagent);
    agent.write('answer', 7, agent.subagent);
    const ended = { agent_id: 'abc123', agent_type: 'general-purpose', agent_transcript_path: agent.subagent, last_assistant_message: 'answer 7' };
    expect(await agent.on('SubagentStop', ended)).toEqual(quiet);
    // The helpers of a compaction name transcripts that they never write.
    expect(await agent.on('SubagentStop', { ...ended, agent_type: '', agent_transcript_path: agent.subagent.replace('abc', 'def') })).toEqual(quiet);

    agent.write('prompt', 3);
    agent.write('calls', 3);
    expect(await agent.on('SessionEnd', { reason: 'other' })).toEqual(quiet);
    expect((await commits(machine)).sort()).toEqual([
      ['question 1', 'turn_boundary'],
      ['question 2', 'compaction'],
      ['question 3', 'session_end'],
      ['question 7', 'session_end'],
    ]);
    expect(log(machine)).toBe('');
  });

  test('waits for the answer of the event, but not forever', { tag: '@long' }, async ({ machine }) => {
    await machine.ask('init', machine.path('work', 'live.stemma'));
    const agent = agentOn(machine);
    agent.write('prompt', 1);
    const hook = spawn(node, [built('cli', 'stemma.js'), 'hook'], { cwd: machine.cwd, env: machine.env });
    const event = { session_id: session, transcript_path: agent.path, hook_event_name: 'Stop', last_assistant_message: 'answer 1' };
    hook.stdin.end(JSON.stringify(event));
    // By now it has opened the project and reads the file.
    await expect.poll(() => existsSync(machine.path('work', 'live.stemma', 'stemma.db-wal'))).toBe(true);
    agent.write('answer', 1);
    expect(await once(hook, 'close')).toEqual([0, null]);
    expect(await commits(machine)).toEqual([['question 1', 'turn_boundary']]);

    agent.write('prompt', 2);
    expect(await agent.on('Stop', { last_assistant_message: 'answer 2' })).toEqual(quiet);
    expect(await commits(machine)).toHaveLength(1);
    agent.write('answer', 2);
    agent.write('prompt', 3);
    agent.write('answer', 3);
    expect(await agent.on('Stop', { last_assistant_message: 'answer 3' })).toEqual(quiet);
    expect((await commits(machine)).map(([summary]) => summary)).toEqual(['question 1', 'question 2', 'question 3']);
  });

  test('[T70] backs up an older project once a day, in a process that the agent does not wait for', { tag: '@long' }, async ({ machine }) => {
    const dir = machine.path('work', 'live.stemma');
    await machine.ask('init', dir);
    const agent = agentOn(machine);
    const backups = (): string[] =>
      existsSync(join(dir, 'backups')) ? readdirSync(join(dir, 'backups')).filter((name) => name.endsWith('.db')) : [];
    agent.write('prompt', 1);
    agent.write('answer', 1);
    await agent.on('Stop', { last_assistant_message: 'First of all.\n\nanswer 1' });
    expect(backups()).toEqual([]);
    const manifest = join(dir, 'project.json');
    const made = JSON.parse(readFileSync(manifest, 'utf8')) as object;
    writeFileSync(manifest, JSON.stringify({ ...made, createdAt: '2026-01-01T00:00:00.000Z' }));
    for (const n of [2, 3]) {
      agent.write('prompt', n);
      agent.write('answer', n);
      expect(await agent.on('Stop', { last_assistant_message: `First of all.\n\nanswer ${n}` })).toEqual(quiet);
      await expect.poll(backups).toHaveLength(1);
    }
    // A person who only imports gets one, too.
    const other = machine.path('other.stemma');
    await machine.ask('init', other);
    writeFileSync(
      join(other, 'project.json'),
      JSON.stringify({ ...JSON.parse(readFileSync(join(other, 'project.json'), 'utf8')), createdAt: '2026-01-01T00:00:00.000Z' }),
    );
    expect(await machine.ask('import', '--project', other, machine.giveHistory())).toMatchObject({ code: 0 });
    expect(readdirSync(join(other, 'backups'))).toHaveLength(1);
  });

  test('[L8] any input ends with success, a line in the log, and reads only histories of agents', { tag: '@long' }, async ({ machine }) => {
    await machine.ask('init', machine.path('work', 'live.stemma'));
    const agent = agentOn(machine);
    agent.write('prompt', 1);
    agent.write('answer', 1);
    const elsewhere = machine.path('elsewhere.jsonl');
    writeFileSync(elsewhere, readFileSync(agent.path));
    const link = join(machine.claude, 'projects', '-work', 'link.jsonl');
    symlinkSync(elsewhere, link);
    const told: [string, string][] = [
      ['', 'no event of a hook'],
      ['{"hook_event_name":', 'no event of a hook'],
      ['[1]', 'no event of a hook'],
      ['{"hook_event_name":"Stop"}', 'names no transcript'],
      [JSON.stringify({ hook_event_name: 'Stop', transcript_path: elsewhere }), 'not among the histories'],
      [JSON.stringify({ hook_event_name: 'Stop', transcript_path: link }), 'is a link'],
      [
        JSON.stringify({ hook_event_name: '__proto__', transcript_path: `${machine.claude}/projects/../../elsewhere.jsonl` }),
        'not among the histories',
      ],
      [JSON.stringify({ hook_event_name: 'Stop', transcript_path: 'x.jsonl' }), 'absolute path of a .jsonl file'],
      [JSON.stringify({ hook_event_name: 'Stop', transcript_path: '/etc/passwd' }), 'absolute path of a .jsonl file'],
    ];
    for (const [input, reason] of told) {
      const ran = await machine.runWith(input, 'hook');
      expect(ran, input).toMatchObject({ code: 0, out: '' });
      expect(ran.err).toContain(reason);
      expect(log(machine)).toContain(reason);
    }
    expect(await machine.runWith('{}', 'hook', '--bogus')).toMatchObject({ code: 0, out: '' });
    expect(log(machine)).toContain('unknown arguments: --bogus');
    expect(await commits(machine)).toEqual([]);
  });

  test('[L8] if another process keeps the project busy, the next event catches up', { tag: '@long' }, async ({ machine }) => {
    await machine.ask('init', machine.path('work', 'live.stemma'));
    const agent = agentOn(machine);
    agent.write('prompt', 1);
    agent.write('answer', 1);
    const other = new DatabaseSync(machine.path('work', 'live.stemma', 'stemma.db'));
    other.exec('BEGIN IMMEDIATE');
    const ran = await agent.on('Stop');
    expect(ran).toMatchObject({ code: 0, out: '' });
    expect(ran.err).toContain('another process');
    other.exec('COMMIT');
    other.close();
    expect(await agent.on('Stop')).toEqual(quiet);
    expect(await commits(machine)).toEqual([['question 1', 'turn_boundary']]);
  });

  test('without a project it uses the one for histories; several hooks take turns', async ({ machine }) => {
    const agent = agentOn(machine);
    agent.write('prompt', 1);
    agent.write('answer', 1);
    expect(await Promise.all([1, 2, 3, 4].map(() => agent.on('Stop')))).toEqual([quiet, quiet, quiet, quiet]);
    machine.env.STEMMA_PROJECT = join(machine.env.STEMMA_HOME as string, 'Histories.stemma');
    expect(await commits(machine)).toEqual([['question 1', 'turn_boundary']]);
    expect((await machine.ask('fsck')).code).toBe(0);
  });
});

test('a hook loads no schemas, because an agent waits for it at every turn', () => {
  const loaded = loadedWith(built('chunks', 'hook.js'));
  expect(loaded.size).toBeGreaterThan(2);
  expect([...loaded].filter((path) => readFileSync(path, 'utf8').includes('ZodError'))).toEqual([]);
});

test.describe('stemma hook --install', () => {
  test('[L9] shows the change, writes it on request, and reverts exactly it', async ({ machine }) => {
    const settings = join(machine.claude, 'settings.json');
    const before = '{\n    "model":  "opus",\n    "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]} // mine\n}\n';
    writeFileSync(settings, before, { mode: 0o640 });
    const asked = await machine.run('hook', '--install');
    expect(asked).toMatchObject({ code: 2 });
    expect(asked.err).toContain('--yes');
    expect(asked.out).toContain('+');
    expect(asked.out).toMatch(/\+.*hook"/);
    expect(readFileSync(settings, 'utf8')).toBe(before);

    expect(await machine.ask('hook', '--install', '--yes', '--project', 'shop.stemma')).toMatchObject({ code: 0, err: '' });
    const written = readFileSync(settings, 'utf8');
    expect(written).toContain(`hook --project ${machine.path('work', 'shop.stemma')}`);
    expect(written).toContain('"model":  "opus"');
    expect(readFileSync(`${settings}.before-stemma`, 'utf8')).toBe(before);
    expect((await machine.ask('hook', '--install', '--yes', '--project', 'shop.stemma')).out).toContain('already');

    expect(await machine.ask('hook', '--uninstall', '--yes')).toMatchObject({ code: 0, err: '' });
    expect(readFileSync(settings, 'utf8')).toBe(before);
    expect(existsSync(`${settings}.before-stemma`)).toBe(false);
  });

  test('[L9] removes settings that it created; leaves a file that is not JSON unchanged', async ({ machine }) => {
    const settings = join(machine.claude, 'settings.json');
    expect(await machine.ask('hook', '--install', '--yes')).toMatchObject({ code: 0, err: '' });
    expect(Object.keys(JSON.parse(readFileSync(settings, 'utf8')).hooks)).toEqual(['Stop', 'SubagentStop', 'PreCompact', 'SessionEnd']);
    expect(await machine.ask('hook', '--uninstall', '--yes')).toMatchObject({ code: 0, err: '' });
    expect(existsSync(settings)).toBe(false);
    writeFileSync(settings, '{ "model": ');
    const refused = await machine.ask('hook', '--install', '--yes');
    expect(refused).toMatchObject({ code: 2, out: '' });
    expect(refused.err).toContain('it is not JSON');
    expect(readFileSync(settings, 'utf8')).toBe('{ "model": ');
  });
});
