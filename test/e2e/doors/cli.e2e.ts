import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '../../support/e2e.js';
import type { Machine, Ran } from '../../support/machine.js';

const json = (ran: Ran): unknown => {
  expect(ran.err).toBe('');
  expect(ran.code).toBe(0);
  return JSON.parse(ran.out) as unknown;
};

/** A project with the sample's histories in it, found from the working directory. */
async function sampleProject(machine: Machine): Promise<string> {
  const dir = machine.path('work', 'larder.stemma');
  json(await machine.run('init', dir, '--json'));
  const ran = await machine.run('import', '--json', machine.giveHistory());
  expect(ran.code).toBe(0);
  return dir;
}

test.describe('stemma call', () => {
  test('makes a project, puts, gets, and says what there is', async ({ machine }) => {
    const dir = machine.path('p.stemma');
    const made = json(await machine.run('call', 'project.create', '--input', JSON.stringify({ dir, name: 'P' }))) as { name: string; dir: string };
    expect(made).toMatchObject({ name: 'P', dir });
    const put = json(await machine.run('call', 'artifact.put', '--project', dir, '--input', '{"text":"hello","contentType":"text/plain"}')) as {
      ref: string;
    };
    // b3sum of `hello`.
    expect(put.ref).toBe('blake3:ea8f163db38682925e4491c5e58d4bb3506ef8c14eb78a86e908c5624a67200f');
    const got = json(await machine.run('call', 'artifact.get', '--project', dir, '--input', JSON.stringify({ ref: put.ref }))) as { data: string };
    expect(Buffer.from(got.data, 'base64').toString()).toBe('hello');
  });

  test('reads its input from a file and from standard input', async ({ machine }) => {
    const dir = machine.path('p.stemma');
    writeFileSync(machine.path('input.json'), JSON.stringify({ dir }));
    json(await machine.run('call', 'project.create', '--input', `@${machine.path('input.json')}`));
    const ran = await machine.runWith('{"text":"päper","contentType":"text/plain"}', 'call', 'artifact.put', '--project', dir, '--input', '-');
    expect(json(ran)).toMatchObject({ size: 6, existed: false });
  });

  test('a refused call says so in JSON on standard error and exits 1', async ({ machine }) => {
    // Somebody's project may lie above the folder for temporary files.
    machine.cwd = '/';
    const none = await machine.run('call', 'project.info');
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
    const bad = await machine.run('call', 'context.show', '--project', dir, '--input', '{"id":17}');
    expect(bad).toMatchObject({ code: 1, out: '' });
    expect(JSON.parse(bad.err)).toMatchObject({ code: 'BAD_REQUEST', data: { field: 'id' } });
    const nowhere = await machine.run('call', 'project.info', '--project', machine.path('no.stemma'));
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
      ['nothing'],
      [],
    ])
      expect(await machine.run(...words), words.join(' ')).toMatchObject({ code: 2, out: '' });
  });

  test('a stream is one document per event, and its result alone without --stream', async ({ machine }) => {
    const dir = machine.path('p.stemma');
    json(await machine.run('call', 'project.create', '--input', JSON.stringify({ dir })));
    const input = JSON.stringify({ paths: [machine.giveHistory()] });
    const streamed = await machine.run('call', 'import.run', '--project', dir, '--stream', '--input', input);
    expect(streamed.code).toBe(0);
    const documents = streamed.out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { phase?: string; commits?: number });
    expect(documents.length).toBeGreaterThan(2);
    expect(documents.slice(0, -1).every((document) => typeof document.phase === 'string')).toBe(true);
    expect(documents.at(-1)?.commits).toBeGreaterThan(5);
    const again = json(await machine.run('call', 'import.run', '--project', dir, '--input', input));
    expect(again).toMatchObject({ commits: 0, skipped: [] });
  });

  test('the project is the one named, else of the environment, else the nearest', async ({ machine }) => {
    const dirOf = async (...words: string[]): Promise<string> => (json(await machine.run('call', 'project.info', ...words)) as { dir: string }).dir;
    for (const name of ['named.stemma', 'environment.stemma', join('work', 'near.stemma')])
      json(await machine.run('call', 'project.create', '--input', JSON.stringify({ dir: machine.path(name) })));
    expect(await dirOf()).toBe(machine.path('work', 'near.stemma'));
    machine.env.STEMMA_PROJECT = machine.path('environment.stemma');
    expect(await dirOf()).toBe(machine.path('environment.stemma'));
    expect(await dirOf('--project', machine.path('named.stemma'))).toBe(machine.path('named.stemma'));
  });
});

test.describe('stemma', () => {
  test('goes from a history to a fork and back to a file, and finds the same entries in it', async ({ machine }) => {
    await sampleProject(machine);
    const { rows } = json(await machine.run('log', '--json')) as { rows: { commit: { id: string; type: string } }[] };
    expect(rows.length).toBeGreaterThan(5);
    const tip = rows[0]?.commit.id ?? '';

    const shown = json(await machine.run('show', tip, '--all', '--json')) as { entries: { key: string; kind: string; source: { commit: string } }[] };
    expect(shown.entries.length).toBeGreaterThan(3);
    // In the middle of a turn, after a text: a call left open would be closed by one entry more.
    const isMiddle = (entry: (typeof shown.entries)[number], place: number): boolean =>
      entry.kind === 'text' && entry.source.commit === shown.entries[place + 1]?.source.commit;
    const cut = shown.entries.findLast(isMiddle)?.key ?? '';
    const fork = json(await machine.run('fork', tip, '--at', cut, '--summary', 'another way', '--json')) as { id: string; summary: string };
    expect(fork.summary).toBe('another way');
    const forked = json(await machine.run('show', fork.id, '--all', '--json')) as { entries: { key: string }[] };
    expect(forked.entries.map((entry) => entry.key)).toEqual(
      shown.entries.slice(0, shown.entries.findIndex((entry) => entry.key === cut) + 1).map((entry) => entry.key),
    );

    const file = machine.path('out.jsonl');
    const exported = await machine.run('export', fork.id, '-o', file);
    expect(exported).toMatchObject({ code: 0, out: expect.stringContaining(file) });
    const written = readFileSync(file, 'utf8');
    const over = await machine.run('export', tip, '-o', file);
    expect(over.code).toBe(1);
    expect(readFileSync(file, 'utf8')).toBe(written);

    const other = machine.path('other.stemma');
    const again = json(await machine.run('import', '--project', other, file, '--json').then((ran) => ({ ...ran, err: '' }))) as { tips: string[] };
    const back = json(await machine.run('show', again.tips[0] ?? '', '--all', '--json', '--project', other)) as { entries: { key: string }[] };
    expect(back.entries.map((entry) => entry.key)).toEqual(forked.entries.map((entry) => entry.key));
  });

  test('draws the chain, reads a commit, compares two and checks the project for a person', async ({ machine }) => {
    const dir = await sampleProject(machine);
    const log = await machine.run('log');
    expect(log.code).toBe(0);
    expect(log.out).toMatch(/● {2}ctx-[0-9a-f]{8}/);
    expect(log.out).toContain('├─');
    expect(log.out).toContain('✂');
    const [newest = '', older = ''] = [...log.out.matchAll(/ctx-[0-9a-f]+/g)].map(([id]) => id);
    expect((await machine.run('show', newest.slice('ctx-'.length))).out).toContain(newest);
    expect((await machine.run('log', newest)).out).toContain(older);
    expect((await machine.run('diff', older, newest)).out).toMatch(/\d+ entries the same/);
    expect((await machine.run('materialize', newest, '--format', 'anthropic-messages-v1')).out).toContain('"role"');
    expect((await machine.run('export', newest, '--to', 'markdown')).out.length).toBeGreaterThan(100);
    expect(await machine.run('fsck')).toMatchObject({ code: 0, out: expect.stringContaining('Sound') });
    expect((await machine.run('library')).out).toContain(dir);
  });

  test('finds damage and exits 1', async ({ machine }) => {
    const dir = await sampleProject(machine);
    expect(JSON.parse((await machine.run('fsck', '--json')).out)).toMatchObject({ ok: true, problems: [] });
    writeFileSync(join(dir, 'project.json'), '{');
    expect((await machine.run('fsck', '--json')).code).toBe(1);
  });

  test('repairs a project that no longer opens, and says what was wrong with it', async ({ machine }) => {
    const dir = await sampleProject(machine);
    const before = (await machine.run('log')).out;
    const file = join(dir, 'stemma.db');
    // One bit of the page size, in the header.
    const bytes = readFileSync(file);
    bytes.writeUInt8(bytes.readUInt8(16) ^ 4, 16);
    writeFileSync(file, bytes);
    const refused = await machine.run('log');
    expect(refused.code).not.toBe(0);
    expect(refused.err).toContain('stemma fsck');
    expect(await machine.run('fsck', '--repair')).toMatchObject({ code: 0 });
    expect((await machine.run('log')).out).toBe(before);
  });

  test('hands a branch back to the agent without touching what is there', async ({ machine }) => {
    await sampleProject(machine);
    const { rows } = json(await machine.run('log', '--json')) as { rows: { commit: { id: string } }[] };
    const resumed = json(await machine.run('resume', rows[0]?.commit.id ?? '', '--cwd', machine.path('work'), '--json')) as {
      path: string;
      command: string;
      sessionId: string;
    };
    expect(resumed.path.startsWith(machine.claude)).toBe(true);
    expect(resumed.command).toContain(resumed.sessionId);
    expect(readFileSync(resumed.path, 'utf8')).toContain(resumed.sessionId);
  });

  test('helps', async ({ machine }) => {
    const help = await machine.run('--help');
    expect(help).toMatchObject({ code: 0, err: '' });
    for (const command of ['import', 'log', 'show', 'materialize', 'fork', 'diff', 'export', 'fsck', 'call', 'web'])
      expect(help.out).toContain(`\n  ${command} `);
    expect((await machine.run('call', '--help')).out).toContain('context.materialize');
  });

  test('says in words what it could not do', async ({ machine }) => {
    machine.cwd = '/';
    expect(await machine.run('log')).toMatchObject({ code: 2, err: expect.stringContaining('--project') });
    machine.cwd = machine.path('work');
    await sampleProject(machine);
    expect(await machine.run('show', 'ctx-00000000')).toMatchObject({ code: 1, out: '', err: expect.stringMatching(/^stemma: .*ctx-00000000/) });
  });

  test('lists calls with their proofs, shows one, compares two, and gives an imported file back', async ({ machine }) => {
    await sampleProject(machine);
    const calls = json(await machine.run('request', 'list', '--json')) as { requestId: string; proof: string }[];
    expect(calls.length).toBeGreaterThan(4);
    // The sample holds no request records: its calls are rebuilt from entries, and called no more than that.
    expect(calls.every((call) => call.proof === 'rebuilt')).toBe(true);
    const [first, second] = calls.map((call) => call.requestId) as [string, string];
    const shown = await machine.run('request', 'show', first);
    expect(JSON.parse(shown.out)).toMatchObject({ messages: expect.any(Array) });
    expect(shown.err).toContain('not recorded');
    expect((await machine.run('request', 'diff', first, second)).out).toContain('messages');
    const [source] = json(await machine.run('source', 'list', '--json')) as { sourceId: string; path: string; bytes: number }[];
    const file = machine.path('again.jsonl');
    expect((await machine.run('source', 'get', source?.sourceId ?? '', '-o', file)).code).toBe(0);
    expect(readFileSync(file).equals(readFileSync(source?.path ?? ''))).toBe(true);
    expect((await machine.run('source', 'get', source?.sourceId ?? '', '-o', file)).code).toBe(1);
  });
});

test.describe('stemma ticket', () => {
  test('makes, moves, discusses and closes, and is refused as everywhere', async ({ machine }) => {
    const dir = machine.path('work', 'p.stemma');
    json(await machine.run('init', dir, '--json'));
    const made = json(await machine.run('ticket', 'create', 'Retry failed jobs', '--by', '@pm', '--json')) as { ticketId: string };
    const finding = ['--type', 'review_finding', '--parent', made.ticketId, '--by', '@rev', '--json'];
    const found = json(await machine.run('ticket', 'create', 'Counts twice', ...finding)) as { ticketId: string };
    const moved = await machine.run('ticket', 'move', made.ticketId, 'review', '--reviewer', '@rev');
    expect(moved.out).toContain('@rev pending');
    const refused = await machine.run('ticket', 'move', made.ticketId, 'closed');
    expect(refused.code).toBe(1);
    expect((await machine.run('ticket', 'move', made.ticketId, 'done')).code).toBe(2);
    expect((await machine.run('ticket', 'discuss', found.ticketId, 'Why twice?', '--by', '@author')).out).toMatch(/^ctx-/);
    expect((await machine.run('ticket', 'show', found.ticketId)).out).toContain('Why twice?');
    json(await machine.run('ticket', 'move', found.ticketId, 'closed', '--resolution', 'Begins at zero', '--json'));
    json(await machine.run('ticket', 'verdict', made.ticketId, '@rev', 'approved', '--json'));
    json(await machine.run('ticket', 'move', made.ticketId, 'closed', '--json'));
    const closed = json(await machine.run('ticket', 'list', '--status', 'closed', '--json')) as { ticketId: string }[];
    expect(closed.map(({ ticketId }) => ticketId).sort()).toEqual([found.ticketId, made.ticketId].sort());
  });

  test('brings in, changes, says who should start and from where, has questions answered, and is told of what is new', async ({ machine }) => {
    const dir = machine.path('work', 'p.stemma');
    json(await machine.run('init', dir, '--json'));
    const line = (type: string, uuid: string, parentUuid: string | null, content: unknown) =>
      `${JSON.stringify({ type, uuid, parentUuid, sessionId: 's', timestamp: '2026-01-01T10:00:00.000Z', message: { role: type, content } })}\n`;
    const understood = async (parent: string | null, text: string) => {
      const given = { parent, text, type: 'delta', format: 'claude-code-v1', template: 'reviewer', principal: '@rev', checkpoint: 'explicit' };
      return (json(await machine.run('call', 'context.checkpoint', '--input', JSON.stringify(given))) as { id: string }).id;
    };
    const review = await understood(null, line('user', 'u1', null, 'Review it'));
    await understood(review, line('user', 'u2', 'u1', 'Why twice?') + line('assistant', 'u3', 'u2', [{ type: 'text', text: 'It begins at one.' }]));

    const plan = '# Plan\n- [ ] Retry failed jobs\n- [x] Find out why\n';
    const brought = await machine.runWith(plan, 'ticket', 'import', '--kind', 'markdown', '--at', '2026-01-02T00:00:00Z');
    expect(brought.err).toContain('2 new tickets');
    const [ticketId = ''] = brought.out.split('\n');
    expect((await machine.runWith(plan, 'ticket', 'import')).err).toContain('2 known already');
    expect((await machine.run('ticket', 'import', machine.path('nothing.md'))).code).toBe(2);

    const changed = ['--title', 'Retry jobs', '--label', 'queue', '--body', 'Jobs are lost', '--reason', 'asked for', '--by', '@pm', '--json'];
    expect(json(await machine.run('ticket', 'update', ticketId, ...changed))).toMatchObject({
      ...{ title: 'Retry jobs', labels: ['queue'], body: 'Jobs are lost' },
      versions: [{}, { by: '@pm', reason: 'asked for' }],
    });
    json(await machine.run('ticket', 'move', ticketId, 'review', '--reviewer', '@rev', '--by', '@author', '--json'));
    const finding = ['--type', 'review_finding', '--parent', ticketId, '--by', '@rev', '--context', review, '--json'];
    const found = json(await machine.run('ticket', 'create', 'Counts twice', ...finding)) as { ticketId: string };
    json(await machine.run('ticket', 'discuss', found.ticketId, 'Why twice?', '--by', '@author', '--json'));
    expect(json(await machine.run('ticket', 'start', found.ticketId, '@rev', '--json'))).toMatchObject({ task: 'answer', reason: 'discussion' });
    expect((await machine.run('ticket', 'start', ticketId, '@other')).out).toContain('fresh');
    const answered = await machine.run('ticket', 'answer', found.ticketId);
    expect(answered.out).toBe('It begins at one.');
    expect(answered.err).toMatch(/ctx-\w+ in thr-/);
    expect((await machine.run('ticket', 'answer', found.ticketId)).code).toBe(1);

    const waiting = json(await machine.run('ticket', 'events', '--json')) as { event: number; task: string }[];
    expect(waiting.map(({ task }) => task)).toEqual(['review']);
    const event = String(waiting[0]?.event);
    expect((await machine.run('ticket', 'acknowledge', event, 'taken', '--by', '@runner')).out).toContain('taken by @runner');
    expect((await machine.run('ticket', 'acknowledge', event, 'taken', '--by', '@other')).err).toContain('@runner');
    expect((await machine.run('ticket', 'events', '--ticket', ticketId, '--state', 'taken')).out).toContain('@rev: review');

    await using runner = machine.follow('ticket', 'events', '--follow', '--json', '--after', event);
    json(await machine.run('ticket', 'verdict', ticketId, '@rev', 'changes_requested', '--json'));
    json(await machine.run('ticket', 'move', ticketId, 'in_progress', '--assignee', '@author', '--by', '@author', '--json'));
    await expect.poll(() => runner.lines().map((each) => JSON.parse(each))).toMatchObject([{ who: '@author', task: 'address_findings' }]);

    const help = (await machine.run('ticket', '--help')).out;
    for (const name of ['list', 'show', 'create', 'update', 'move', 'discuss', 'answer', 'verdict', 'import', 'start', 'events', 'acknowledge'])
      expect(help).toMatch(new RegExp(`^  ${name} `, 'm'));
    expect((await machine.run('ticket', 'events', '--help')).out).toContain('--follow');
  });
});
