import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '../../support/e2e.js';
import { built, type Machine, node, type Ran } from '../../support/machine.js';
import { messageEvents, modelServer, stream } from '../../support/model-server.js';

const json = (ran: Ran): unknown => {
  expect(ran.err).toBe('');
  expect(ran.code).toBe(0);
  return JSON.parse(ran.out) as unknown;
};

/** A project with the sample's histories, found from the working directory. */
async function sampleProject(machine: Machine): Promise<string> {
  const dir = machine.path('work', 'larder.stemma');
  json(await machine.ask('init', dir, '--json'));
  const ran = await machine.ask('import', '--json', machine.giveHistory());
  expect(ran.code).toBe(0);
  return dir;
}

test('[L13] eight imports at once all end, and one of them creates the project', { tag: '@long' }, async ({ machine }) => {
  const [dir, history] = [machine.path('work', 'shared.stemma'), machine.giveHistory()];
  const ran = await Promise.all(Array.from({ length: 8 }, () => machine.run('import', '--json', '--project', dir, history)));
  expect(ran.map(({ code }) => code)).toEqual(Array(8).fill(0));
  expect(ran.filter(({ err }) => err.startsWith('Created'))).toHaveLength(1);
  const commits = ran.map(({ out }) => (JSON.parse(out) as { commits: number }).commits);
  const info = json(await machine.run('call', 'project.info', '--project', dir)) as { counts: { commits: number } };
  expect(commits.reduce((sum, count) => sum + count, 0)).toBe(info.counts.commits);
});

test.describe('stemma call', () => {
  test('creates a project, stores and returns objects, and counts them', async ({ machine }) => {
    const dir = machine.path('p.stemma');
    const made = json(await machine.ask('call', 'project.create', '--input', JSON.stringify({ dir, name: 'P' }))) as { name: string; dir: string };
    expect(made).toMatchObject({ name: 'P', dir });
    const put = json(await machine.ask('call', 'artifact.put', '--project', dir, '--input', '{"text":"hello","contentType":"text/plain"}')) as {
      ref: string;
    };
    // b3sum of `hello`.
    expect(put.ref).toBe('blake3:ea8f163db38682925e4491c5e58d4bb3506ef8c14eb78a86e908c5624a67200f');
    const got = json(await machine.ask('call', 'artifact.get', '--project', dir, '--input', JSON.stringify({ ref: put.ref }))) as { data: string };
    expect(Buffer.from(got.data, 'base64').toString()).toBe('hello');
  });

  test('reads its input from a file and from standard input', async ({ machine }) => {
    const dir = machine.path('p.stemma');
    writeFileSync(machine.path('input.json'), JSON.stringify({ dir }));
    json(await machine.ask('call', 'project.create', '--input', `@${machine.path('input.json')}`));
    const ran = await machine.runWith('{"text":"päper","contentType":"text/plain"}', 'call', 'artifact.put', '--project', dir, '--input', '-');
    expect(json(ran)).toMatchObject({ size: 6, existed: false });
  });

  test('a refused call prints JSON on standard error and exits 1', { tag: '@long' }, async ({ machine }) => {
    // There may be a project above the temporary folder.
    machine.cwd = '/';
    const none = await machine.ask('call', 'project.info');
    machine.cwd = machine.path('work');
    expect(none).toMatchObject({ code: 1, out: '' });
    expect(JSON.parse(none.err)).toMatchObject({ code: 'BAD_REQUEST', data: { field: 'project' } });
    const dir = await sampleProject(machine);
    const missing = await machine.run('call', 'context.show', '--project', dir, '--input', '{"id":"ctx-00000000"}');
    expect(missing).toMatchObject({ code: 1, out: '' });
    expect(JSON.parse(missing.err)).toMatchObject({
      code: 'NOT_FOUND',
      message: expect.stringContaining('ctx-00000000'),
      data: { id: 'ctx-00000000' },
    });
    const bad = await machine.ask('call', 'context.show', '--project', dir, '--input', '{"id":17}');
    expect(bad).toMatchObject({ code: 1, out: '' });
    expect(JSON.parse(bad.err)).toMatchObject({ code: 'BAD_REQUEST', data: { field: 'id' } });
    const nowhere = await machine.ask('call', 'project.info', '--project', machine.path('no.stemma'));
    expect(nowhere.code).toBe(1);
    expect(JSON.parse(nowhere.err)).toMatchObject({ code: 'NOT_FOUND' });
  });

  test('wrong usage exits 2 and does nothing', async ({ machine }) => {
    for (const words of [
      ['call'],
      ['call', 'no.such'],
      ['call', 'project.info', '--input', '{'],
      ['call', 'project.info', '--input', '@nowhere'],
      ['call', 'project.info', '--what'],
    ])
      expect(await machine.ask(...words), words.join(' ')).toMatchObject({ code: 2, out: '' });
    expect(await machine.run('nothing')).toMatchObject({ code: 2, out: '' });
    for (const words of [
      ['ticket', 'acknowledge', 'ctx-1', 'taken', '--by', 'me'],
      ['ticket', 'acknowledge', '', 'taken', '--by', 'me'],
      ['job', 'start', '--event', 'soon'],
      ['log', '--limit', ''],
      ['log', '--limit', '1e3'],
    ]) {
      const { code, out, err } = await machine.ask(...words);
      expect({ code, out }, words.join(' ')).toEqual({ code: 2, out: '' });
      expect(err, words.join(' ')).toContain('expected a whole number of 0 or more');
    }
  });

  test('a stream prints one document per event, or only its result without --stream', async ({ machine }) => {
    const dir = machine.path('p.stemma');
    json(await machine.ask('call', 'project.create', '--input', JSON.stringify({ dir })));
    const input = JSON.stringify({ paths: [machine.giveHistory()] });
    const streamed = await machine.ask('call', 'import.run', '--project', dir, '--stream', '--input', input);
    expect(streamed.code).toBe(0);
    const documents = streamed.out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { phase?: string; commits?: number });
    expect(documents.length).toBeGreaterThan(2);
    expect(documents.slice(0, -1).every((document) => typeof document.phase === 'string')).toBe(true);
    expect(documents.at(-1)?.commits).toBeGreaterThan(5);
    const again = json(await machine.ask('call', 'import.run', '--project', dir, '--input', input));
    expect(again).toMatchObject({ commits: 0, skipped: [] });
  });

  test('the project is the named one, that of the environment, or the nearest', async ({ machine }) => {
    const dirOf = async (...words: string[]): Promise<string> => (json(await machine.ask('call', 'project.info', ...words)) as { dir: string }).dir;
    for (const name of ['named.stemma', 'environment.stemma', join('work', 'near.stemma')])
      json(await machine.ask('call', 'project.create', '--input', JSON.stringify({ dir: machine.path(name) })));
    expect(await dirOf()).toBe(machine.path('work', 'near.stemma'));
    machine.env.STEMMA_PROJECT = machine.path('environment.stemma');
    expect(await dirOf()).toBe(machine.path('environment.stemma'));
    expect(await dirOf('--project', machine.path('named.stemma'))).toBe(machine.path('named.stemma'));
  });
});

test.describe('stemma', () => {
  test('an import names the first skipped lines of a file and counts the others', async ({ machine }) => {
    const path = machine.path('broken.jsonl');
    writeFileSync(
      path,
      `${readFileSync(join(machine.giveHistory(), '4b9013ed-af4c-4d72-987c-ac3ad36a4dba.jsonl'), 'utf8').split('\n').slice(0, 4).join('\n')}\n${'{"type":\n'.repeat(10)}`,
    );
    const { out, code } = await machine.ask('import', '--project', machine.path('p.stemma'), path);
    expect(code).toBe(0);
    expect(out.match(/^skipped .*:\d+: a torn record/gm)).toHaveLength(3);
    expect(out).toContain(`${path}: 7 more lines; --json lists every line.`);
  });

  test('imports a history, forks it, exports the fork, and finds the same entries in it', async ({ machine }) => {
    await sampleProject(machine);
    const { rows } = json(await machine.ask('log', '--json')) as { rows: { commit: { id: string; type: string } }[] };
    expect(rows.length).toBeGreaterThan(5);
    const tip = rows[0]?.commit.id ?? '';

    const shown = json(await machine.ask('show', tip, '--all', '--json')) as { entries: { key: string; kind: string; source: { commit: string } }[] };
    expect(shown.entries.length).toBeGreaterThan(3);
    // In the middle of a turn, after a text. An open call would be closed by another entry.
    const isMiddle = (entry: (typeof shown.entries)[number], place: number): boolean =>
      entry.kind === 'text' && entry.source.commit === shown.entries[place + 1]?.source.commit;
    const cut = shown.entries.findLast(isMiddle)?.key ?? '';
    const fork = json(await machine.ask('fork', tip, '--at', cut, '--summary', 'another way', '--json')) as { id: string; summary: string };
    expect(fork.summary).toBe('another way');
    const forked = json(await machine.ask('show', fork.id, '--all', '--json')) as { entries: { key: string }[] };
    expect(forked.entries.map((entry) => entry.key)).toEqual(
      shown.entries.slice(0, shown.entries.findIndex((entry) => entry.key === cut) + 1).map((entry) => entry.key),
    );

    const file = machine.path('out.jsonl');
    const exported = await machine.ask('export', fork.id, '-o', file);
    expect(exported).toMatchObject({ code: 0, out: expect.stringContaining(file) });
    const written = readFileSync(file, 'utf8');
    const over = await machine.ask('export', tip, '-o', file);
    expect(over.code).toBe(1);
    expect(readFileSync(file, 'utf8')).toBe(written);

    const other = machine.path('other.stemma');
    const again = json(await machine.ask('import', '--project', other, file, '--json').then((ran) => ({ ...ran, err: '' }))) as { tips: string[] };
    const back = json(await machine.ask('show', again.tips[0] ?? '', '--all', '--json', '--project', other)) as { entries: { key: string }[] };
    expect(back.entries.map((entry) => entry.key)).toEqual(forked.entries.map((entry) => entry.key));
  });

  test('draws the chain, shows a commit, compares two and checks the project', { tag: '@long' }, async ({ machine }) => {
    const dir = await sampleProject(machine);
    const log = await machine.ask('log');
    expect(log.code).toBe(0);
    expect(log.out).toMatch(/● {2}ctx-[0-9a-f]{8}/);
    expect(log.out).toContain('├─');
    expect(log.out).toContain('✂');
    const [newest = '', older = ''] = [...log.out.matchAll(/ctx-[0-9a-f]+/g)].map(([id]) => id);
    expect((await machine.ask('show', newest.slice('ctx-'.length))).out).toContain(newest);
    expect((await machine.ask('log', newest)).out).toContain(older);
    expect((await machine.ask('diff', older, newest)).out).toMatch(/\d+ entries the same/);
    expect((await machine.ask('materialize', newest, '--format', 'anthropic-messages-v1')).out).toContain('"role"');
    expect((await machine.ask('export', newest, '--to', 'markdown')).out.length).toBeGreaterThan(100);
    expect(await machine.ask('fsck')).toMatchObject({ code: 0, out: expect.stringContaining('Sound') });
    expect((await machine.ask('library')).out).toContain(dir);
  });

  test('the log and the start of each command load neither the contract nor readers of formats', () => {
    const bundle = readFileSync(built('chunks', 'glance.js'), 'utf8');
    expect(bundle).toContain('firstParentRun');
    const everywhere = readFileSync(built('chunks', 'system.js'), 'utf8');
    for (const far of ['ZodError', 'toolUseResult', 'commander']) for (const text of [bundle, everywhere]) expect(text).not.toContain(far);
    expect(everywhere).not.toMatch(/import[^;]*from"node:/);
  });

  test('ends without a word when the reader of its output has enough', async ({ machine }) => {
    test.skip(process.platform === 'win32', 'needs a POSIX shell');
    const dir = await sampleProject(machine);
    const { status, stderr } = spawnSync('sh', ['-c', '"$0" "$1" log --project "$2" | true', node, built('cli', 'stemma.js'), dir], {
      env: machine.env,
      encoding: 'utf8',
    });
    expect({ status, stderr: stderr.replace(/^… .*\n/, '') }).toEqual({ status: 0, stderr: '' });
  });

  test('finds damage and exits 1', async ({ machine }) => {
    const dir = await sampleProject(machine);
    expect(JSON.parse((await machine.ask('fsck', '--json')).out)).toMatchObject({ ok: true, problems: [] });
    writeFileSync(join(dir, 'project.json'), '{');
    expect((await machine.run('fsck', '--json')).code).toBe(1);
  });

  test('repairs a project that no longer opens from its backup', { tag: '@long' }, async ({ machine }) => {
    const dir = await sampleProject(machine);
    const before = (await machine.ask('log')).out;
    expect(await machine.ask('backup', '--now')).toMatchObject({ code: 0 });
    const file = join(dir, 'stemma.db');
    // One bit of the page size, in the header.
    const bytes = readFileSync(file);
    bytes.writeUInt8(bytes.readUInt8(16) ^ 4, 16);
    writeFileSync(file, bytes);
    const refused = await machine.ask('log');
    expect(refused.code).not.toBe(0);
    expect(refused.err).toContain('stemma fsck');
    expect(await machine.ask('fsck', '--repair')).toMatchObject({ code: 0 });
    expect((await machine.ask('log')).out).toBe(before);
  });

  test('hands a branch back to the agent without changing its files', async ({ machine }) => {
    await sampleProject(machine);
    const { rows } = json(await machine.ask('log', '--json')) as { rows: { commit: { id: string } }[] };
    const resumed = json(await machine.ask('resume', rows[0]?.commit.id ?? '', '--cwd', machine.path('work'), '--json')) as {
      path: string;
      command: string;
      sessionId: string;
    };
    expect(resumed.path.startsWith(machine.claude)).toBe(true);
    expect(resumed.command).toContain(resumed.sessionId);
    expect(readFileSync(resumed.path, 'utf8')).toContain(resumed.sessionId);
  });

  test('carries out a turn with a model, and shows its job', { tag: '@long' }, async ({ machine }) => {
    await sampleProject(machine);
    const model = await modelServer((response) => stream(response, messageEvents({ text: 'The plan is fine.' })));
    try {
      machine.env.ANTHROPIC_API_KEY = 'sk-ant-test';
      machine.env.ANTHROPIC_BASE_URL = model.url;
      json(
        await machine.ask(
          'call',
          'profile.put',
          '--input',
          JSON.stringify({ name: 'Critic', card: { content: { kind: 'json', data: { name: 'Critic' } } } }),
        ),
      );
      const launched = await machine.ask(
        'call',
        'handover.launchPrincipal',
        '--input',
        JSON.stringify({ profileName: 'Critic', instruction: 'Judge it.' }),
      );
      const { agentTurnId } = json(launched) as { agentTurnId: string };
      const ran = await machine.run('job', 'start', agentTurnId, '--provider', 'anthropic', '--model', 'claude-x', '--calls', '3');
      expect(ran.out).toMatch(/The plan is fine\.\njob-\S+ {2}success {2}ctx-/);
      expect(ran.code).toBe(0);
      expect(model.asked).toHaveLength(1);
      expect(JSON.stringify(model.asked[0]?.body)).toContain('Judge it.');
      expect((await machine.ask('job', 'list')).out).toMatch(/^job-\S+ {2}success {2}Judge it\. by anthropic \(claude-x\) {2}1 call, \d+ tokens/);
      expect(json(await machine.ask('call', 'turn.reproduce', '--input', JSON.stringify({ turnId: agentTurnId })))).toMatchObject({
        identical: true,
      });
      expect(await machine.ask('job', 'start', agentTurnId, '--provider', 'anthropic')).toMatchObject({ code: 1 });
    } finally {
      model.close();
    }
  });

  test('helps', async ({ machine }) => {
    const help = await machine.run('--help');
    expect(help).toMatchObject({ code: 0, err: '' });
    for (const command of ['import', 'log', 'show', 'materialize', 'fork', 'diff', 'export', 'fsck', 'call', 'web'])
      expect(help.out).toContain(`\n  ${command} `);
    expect((await machine.ask('call', '--help')).out).toContain('context.materialize');
  });

  test('prints errors as sentences', async ({ machine }) => {
    machine.cwd = '/';
    expect(await machine.ask('log')).toMatchObject({ code: 2, err: expect.stringContaining('--project') });
    machine.cwd = machine.path('work');
    await sampleProject(machine);
    expect(await machine.run('show', 'ctx-00000000')).toMatchObject({ code: 1, out: '', err: expect.stringMatching(/^stemma: .*ctx-00000000/) });
  });

  test('lists calls, shows one, compares two, and returns an imported file', async ({ machine }) => {
    await sampleProject(machine);
    const { requests: calls } = json(await machine.ask('request', 'list', '--json')) as { requests: { requestId: string; proof: string }[] };
    expect(calls.length).toBeGreaterThan(4);
    // The sample has no request records, so its calls are rebuilt from entries.
    expect(calls.every((call) => call.proof === 'rebuilt')).toBe(true);
    const [first, second] = calls.map((call) => call.requestId) as [string, string];
    const shown = await machine.ask('request', 'show', first);
    expect(JSON.parse(shown.out)).toMatchObject({ messages: expect.any(Array) });
    expect(shown.err).toContain('not recorded');
    expect((await machine.ask('request', 'diff', first, second)).out).toContain('messages');
    const [source] = json(await machine.ask('source', 'list', '--json')) as { sourceId: string; path: string; bytes: number }[];
    const file = machine.path('again.jsonl');
    expect((await machine.ask('source', 'get', source?.sourceId ?? '', '-o', file)).code).toBe(0);
    expect(readFileSync(file).equals(readFileSync(source?.path ?? ''))).toBe(true);
    expect((await machine.ask('source', 'get', source?.sourceId ?? '', '-o', file)).code).toBe(1);
  });
});

test.describe('stemma ticket', () => {
  test('creates, moves, discusses and closes tickets, with the usual refusals', async ({ machine }) => {
    const dir = machine.path('work', 'p.stemma');
    json(await machine.ask('init', dir, '--json'));
    const made = json(await machine.ask('ticket', 'create', 'Retry failed jobs', '--by', '@pm', '--json')) as { ticketId: string };
    const finding = ['--type', 'review_finding', '--parent', made.ticketId, '--by', '@rev', '--json'];
    const found = json(await machine.ask('ticket', 'create', 'Counts twice', ...finding)) as { ticketId: string };
    const moved = await machine.ask('ticket', 'move', made.ticketId, 'review', '--reviewer', '@rev');
    expect(moved.out).toContain('@rev pending');
    const refused = await machine.ask('ticket', 'move', made.ticketId, 'closed');
    expect(refused.code).toBe(1);
    expect((await machine.ask('ticket', 'move', made.ticketId, 'done')).code).toBe(2);
    expect((await machine.ask('ticket', 'discuss', found.ticketId, 'Why twice?', '--by', '@author')).out).toMatch(/^ctx-/);
    expect((await machine.ask('ticket', 'show', found.ticketId)).out).toContain('Why twice?');
    json(await machine.ask('ticket', 'move', found.ticketId, 'closed', '--resolution', 'Begins at zero', '--json'));
    json(await machine.ask('ticket', 'verdict', made.ticketId, '@rev', 'approved', '--json'));
    json(await machine.ask('ticket', 'move', made.ticketId, 'closed', '--json'));
    const closed = json(await machine.ask('ticket', 'list', '--status', 'closed', '--json')) as { ticketId: string }[];
    expect(closed.map(({ ticketId }) => ticketId).sort()).toEqual([found.ticketId, made.ticketId].sort());
  });

  test('imports and changes tickets, shows where to start, answers questions and lists events', { tag: '@long' }, async ({ machine }) => {
    const dir = machine.path('work', 'p.stemma');
    json(await machine.ask('init', dir, '--json'));
    const line = (type: string, uuid: string, parentUuid: string | null, content: unknown) =>
      `${JSON.stringify({ type, uuid, parentUuid, sessionId: 's', timestamp: '2026-01-01T10:00:00.000Z', message: { role: type, content } })}\n`;
    const understood = async (parent: string | null, text: string) => {
      const given = { parent, text, type: 'delta', format: 'claude-code-v1', template: 'reviewer', principal: '@rev', checkpoint: 'explicit' };
      return (json(await machine.ask('call', 'context.checkpoint', '--input', JSON.stringify(given))) as { id: string }).id;
    };
    const review = await understood(null, line('user', 'u1', null, 'Review it'));
    await understood(review, line('user', 'u2', 'u1', 'Why twice?') + line('assistant', 'u3', 'u2', [{ type: 'text', text: 'It begins at one.' }]));

    const plan = '# Plan\n- [ ] Retry failed jobs\n- [x] Find out why\n';
    const brought = await machine.runWith(plan, 'ticket', 'import', '--kind', 'markdown', '--at', '2026-01-02T00:00:00Z');
    expect(brought.err).toContain('2 new tickets');
    const [ticketId = ''] = brought.out.split('\n');
    expect((await machine.runWith(plan, 'ticket', 'import')).err).toContain('2 imported before');
    expect((await machine.ask('ticket', 'import', machine.path('nothing.md'))).code).toBe(2);

    const changed = ['--title', 'Retry jobs', '--label', 'queue', '--body', 'Jobs are lost', '--reason', 'asked for', '--by', '@pm', '--json'];
    expect(json(await machine.ask('ticket', 'update', ticketId, ...changed))).toMatchObject({
      ...{ title: 'Retry jobs', labels: ['queue'], body: 'Jobs are lost' },
      versions: [{}, { by: '@pm', reason: 'asked for' }],
    });
    json(await machine.ask('ticket', 'move', ticketId, 'review', '--reviewer', '@rev', '--by', '@author', '--json'));
    const finding = ['--type', 'review_finding', '--parent', ticketId, '--by', '@rev', '--context', review, '--json'];
    const found = json(await machine.ask('ticket', 'create', 'Counts twice', ...finding)) as { ticketId: string };
    json(await machine.ask('ticket', 'discuss', found.ticketId, 'Why twice?', '--by', '@author', '--json'));
    expect(json(await machine.ask('ticket', 'start', found.ticketId, '@rev', '--json'))).toMatchObject({ task: 'answer', reason: 'discussion' });
    expect((await machine.ask('ticket', 'start', ticketId, '@other')).out).toContain('fresh');
    const answered = await machine.ask('ticket', 'answer', found.ticketId);
    expect(answered.out).toBe('It begins at one.');
    expect(answered.err).toMatch(/ctx-\w+ in thr-/);
    expect((await machine.ask('ticket', 'answer', found.ticketId)).code).toBe(1);

    const waiting = json(await machine.ask('ticket', 'events', '--json')) as { event: number; task: string }[];
    expect(waiting.map(({ task }) => task)).toEqual(['review']);
    const event = String(waiting[0]?.event);
    expect((await machine.ask('ticket', 'acknowledge', event, 'taken', '--by', '@runner')).out).toContain('taken by @runner');
    expect((await machine.ask('ticket', 'acknowledge', event, 'taken', '--by', '@other')).err).toContain('@runner');
    expect((await machine.ask('ticket', 'events', '--ticket', ticketId, '--state', 'taken')).out).toContain('@rev: review');

    await using runner = machine.follow('ticket', 'events', '--follow', '--json', '--after', event);
    json(await machine.ask('ticket', 'verdict', ticketId, '@rev', 'changes_requested', '--json'));
    json(await machine.ask('ticket', 'move', ticketId, 'in_progress', '--assignee', '@author', '--by', '@author', '--json'));
    await expect.poll(() => runner.lines().map((each) => JSON.parse(each))).toMatchObject([{ who: '@author', task: 'address_findings' }]);

    const help = (await machine.ask('ticket', '--help')).out;
    for (const name of ['list', 'show', 'create', 'update', 'move', 'discuss', 'answer', 'verdict', 'import', 'start', 'events', 'acknowledge'])
      expect(help).toMatch(new RegExp(`^  ${name} `, 'm'));
    expect((await machine.ask('ticket', 'events', '--help')).out).toContain('--follow');
  });
});
