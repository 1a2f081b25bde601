import { appendFileSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { answer, prompt, result, call as toolCall } from '../../support/claude-lines.js';
import { desk } from '../../support/desk.js';
import { scratch } from '../../support/project.js';

const session = '33333333-3333-4333-8333-333333333333';
const edited = 'Count the stock again, with the cellar.';

/** A session of three turns. The second turn begins with a reminder, as an agent adds it. */
function story(sessionId = session): string {
  const extra = { sessionId, cwd: '/work/shop' };
  return (
    prompt('u1', 'Open the shop.', { extra }) +
    answer('a1', 'Open.', { parent: 'u1', extra }) +
    prompt('r2', '<system-reminder>Be brief.</system-reminder>', { parent: 'a1', extra: { ...extra, isMeta: true } }) +
    prompt('u2', 'Count the stock again.', { parent: 'r2', extra }) +
    answer('a2', 'Twelve.', { parent: 'u2', extra }) +
    prompt('u3', 'And the shelf?', { parent: 'a2', extra }) +
    answer('a3', 'Three.', { parent: 'u3', extra })
  );
}

async function withFork(more: Parameters<typeof desk>[1] = {}) {
  const home = scratch();
  const root = join(home, '.claude');
  const folder = join(root, 'projects', '-work-shop');
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `${session}.jsonl`);
  writeFileSync(file, story());
  const { call } = desk(scratch(), { agentRoots: [{ agent: 'claude-code', root }], ...more });
  await call.project.create({ dir: join(home, 'p.stemma') });
  const add = async (...paths: string[]) => {
    for await (const _ of await call.import.run({ paths })) void _;
  };
  await add(file);
  const trunk = async () => {
    const { rows } = await call.context.graph({ offset: 0, limit: 100, together: true });
    const [
      {
        sessions: [row],
        total,
      },
      list,
    ] = await Promise.all([call.session.list({}), call.session.list({})]);
    const ends = rows.filter(({ forked }) => !forked);
    return {
      rows: ends.map(({ commit, lane, turn }) => [commit.id, commit.summary, lane, turn]),
      session: { sessionId: row?.sessionId, title: row?.title, repository: row?.repository, turns: row?.turns },
      total: total + list.total,
    };
  };
  const before = await trunk();
  const [tip] = await call.context.tips({});
  const second = (await call.context.history({ id: tip?.id ?? '' }))[1];
  const { entries } = await call.context.entries({ id: second?.id ?? '', stop: second?.id });
  const key = entries.find(({ text }) => text === 'Count the stock again.')?.key as string;
  const made = await call.context.fork({
    id: tip?.id ?? '',
    at: key,
    edits: [{ op: 'replace', key, entry: { role: 'user', kind: 'text', text: edited } }],
  });
  const graph = async () => (await call.context.graph({ offset: 0, limit: 100, together: true })).rows;
  /** What the agent writes after it was opened with the fork: its own line with the prompt, and an answer. */
  const continueIt = async (name: string, said: string, more: { typed?: string; only?: 'prompt' } = {}) => {
    const resumed = await call.export.resume({ id: made.id, cwd: home });
    const extra = { sessionId: resumed.sessionId, cwd: home };
    const last = JSON.parse(readFileSync(resumed.path, 'utf8').trim().split('\n').at(-1) as string) as { uuid: string };
    appendFileSync(resumed.path, prompt(`${name}-u`, more.typed ?? resumed.prompt ?? '', { parent: last.uuid, extra }));
    if (!more.only) appendFileSync(resumed.path, answer(`${name}-a`, said, { parent: `${name}-u`, extra }));
    return { ...resumed, extra };
  };
  return { home, root, call, add, trunk, before, tip, second, made, graph, continueIt };
}

const textsOf = (entries: readonly { text?: string | undefined }[]): (string | undefined)[] => entries.map(({ text }) => text);

describe('[W74] an edited prompt and its answer are one branch, one row and one turn', () => {
  test('a fork that an agent continued: the answer is its child, and the trunk stays', async () => {
    const { call, add, trunk, before, second, made, graph, continueIt } = await withFork();
    expect(made.parent).toBe(second?.parent);
    const resumed = await continueIt('x', 'Twelve, and nine in the cellar.');
    expect(resumed.prompt).toBe(edited);
    // Until the agent writes, nothing is new.
    expect((await graph()).filter(({ forked }) => forked).map(({ commit }) => commit.id)).toEqual([made.id]);
    await add(resumed.path);

    const own = (await graph()).filter(({ forked }) => forked);
    expect(own).toHaveLength(1);
    const [row] = own;
    expect(row).toMatchObject({ turn: 2, tipOf: made.summary, fork: { commit: made.id, parent: second?.parent, title: made.summary } });
    expect(row?.commit).toMatchObject({ parent: made.id, summary: made.summary });
    expect(await trunk()).toEqual(before);

    const answerId = row?.commit.id ?? '';
    expect(textsOf((await call.context.entries({ id: answerId, stop: 'root' })).entries).slice(-2)).toEqual([
      edited,
      'Twelve, and nine in the cellar.',
    ]);
    const turns = await call.turn.list({ id: answerId });
    expect(turns.map(({ trigger }) => trigger.text)).toEqual(['Open the shop.', made.summary]);
    expect(await call.turn.get({ turnId: answerId })).toMatchObject({
      number: 2,
      input: { parent: second?.parent },
      output: [{ text: 'Twelve, and nine in the cellar.' }],
    });
    for (const id of [made.id, answerId])
      expect(await call.session.place({ id })).toMatchObject({
        sessionId: session,
        branch: { title: made.summary, main: false },
        turn: { number: 2, of: 2 },
      });
    expect((await call.session.list({})).sessions[0]).toMatchObject({ branches: 2, turns: 3, continuedAs: [resumed.sessionId] });
    expect(await call.project.check({})).toMatchObject({ ok: true });
    // The file of the agent is kept byte for byte.
    const source = (await call.source.list({})).find(({ path }) => path === resumed.path);
    expect(
      Buffer.from(
        (await call.artifact.get({ ref: (await call.source.get({ sourceId: source?.sourceId ?? '' })).artifactRef as string })).data,
        'base64',
      ).equals(readFileSync(resumed.path)),
    ).toBe(true);

    // What follows continues the branch.
    appendFileSync(
      resumed.path,
      prompt('x-u2', 'Thanks.', { parent: 'x-a', extra: resumed.extra }) + answer('x-a2', 'Welcome.', { parent: 'x-u2', extra: resumed.extra }),
    );
    await add(resumed.path);
    const later = (await call.context.tips({})).find(({ summary }) => summary === 'Thanks.');
    expect(later?.parent).toBe(answerId);
    expect(await call.session.place({ id: later?.id ?? '' })).toMatchObject({ branch: { title: made.summary }, turn: { number: 3, of: 3 } });
    expect(await trunk()).toMatchObject({ session: before.session });
  });

  test('a commit is named like its row, also after it was renamed', async () => {
    const { call, add, second, made, graph, continueIt } = await withFork();
    await add((await continueIt('x', 'Twelve.')).path);
    const rerun = await call.turn.rerun({ turnId: second?.id ?? '', provider: 'recorded' });
    for (let step = await rerun.next(); !step.done; ) step = await rerun.next();
    const same = async (): Promise<(string | undefined)[]> => {
      const own = (await graph()).filter(({ forked }) => forked);
      const shown = await Promise.all(own.map(({ commit }) => call.context.show({ id: commit.id })));
      expect(shown.map(({ fork }) => fork)).toEqual(own.map(({ fork }) => fork));
      return shown.map(({ fork }) => fork?.title).toSorted();
    };
    // The rerun of an unchanged turn has the title of that turn.
    expect(await same()).toEqual([made.summary, second?.summary].toSorted());
    const [row] = (await graph()).filter(({ fork }) => fork?.commit === made.id);
    await call.context.update({ id: made.id, summary: 'Mind the cellar' });
    expect(await same()).toEqual(['Mind the cellar', second?.summary].toSorted());
    expect((await call.session.place({ id: row?.commit.id ?? '' })).branch.title).toBe('Mind the cellar');
    expect(await call.context.show({ id: second?.id ?? '' })).not.toHaveProperty('fork');
  });

  test('a second continue of the same fork is a second answer to the same prompt', async () => {
    const { call, add, trunk, before, made, graph, continueIt } = await withFork();
    const first = await continueIt('x', 'Twelve.');
    await add(first.path);
    const second = await continueIt('y', 'Twenty-one.');
    await add(second.path);
    const own = (await graph()).filter(({ forked }) => forked);
    expect(own.map(({ commit, turn }) => [commit.parent, turn])).toEqual([
      [made.id, 2],
      [made.id, 2],
    ]);
    expect((await call.context.show({ id: made.id })).children).toHaveLength(2);
    expect(await trunk()).toEqual(before);
  });
});

test('[W77] a session that Stemma wrote for an agent is followed without live capture', { tags: 'long' }, async () => {
  const { call, made, graph, continueIt, trunk, before } = await withFork({ clock: Date.now });
  const resumed = await continueIt('x', 'Twenty-one.');
  await expect.poll(async () => (await graph()).find(({ commit }) => commit.parent === made.id)?.commit.summary).toBe(made.summary);
  expect(await call.capture.status({})).toMatchObject({ watching: false, files: [{ path: resumed.path }] });
  expect((await call.session.list({})).sessions[0]?.live).toBe(true);
  expect(await trunk()).toEqual(before);
  // The agent begins another turn: it runs until its answer is there.
  appendFileSync(resumed.path, prompt('x-u2', 'And the attic?', { parent: 'x-a', extra: resumed.extra }));
  await expect.poll(async () => (await call.capture.status({})).files[0]?.open).toBe(true);
});

test('[W76] the file that a dry run names is the file that is written', async () => {
  const { home, call, made } = await withFork();
  const where = { id: made.id, cwd: home };
  const planned = await call.export.resume({ ...where, dryRun: true });
  const again = await call.export.resume({ ...where, dryRun: true });
  const written = await call.export.continue(where);
  expect([again.path, written.path]).toEqual([planned.path, planned.path]);
  expect(written.command).toBe(planned.command);
  expect(statSync(planned.path).isFile()).toBe(true);
  // The next session of the same context is another file.
  expect((await call.export.resume(where)).path).not.toBe(planned.path);
});

describe('[W74] what an agent does with a fork stays on its branch', () => {
  test('killed before it answers, then going on', async () => {
    const { call, add, trunk, before, tip, made, graph, continueIt } = await withFork();
    const handed = async (id = made.id) => (await call.session.place({ id })).handed;
    expect(await handed()).toEqual({ waiting: 0, ends: 'prompt', fileGone: false });
    const resumed = await continueIt('x', '', { only: 'prompt' });
    await add(resumed.path);
    expect((await graph()).filter(({ forked }) => forked).map(({ commit }) => commit.id)).toEqual([made.id]);
    // The branch says what happened.
    expect(await handed()).toEqual({ waiting: 1, ends: 'prompt', fileGone: false });
    appendFileSync(resumed.path, toolCall('x-c', 't9', 'Read', { file_path: '/work/a' }, { parent: 'x-u', extra: resumed.extra }));
    await add(resumed.path);
    const [row] = (await graph()).filter(({ forked }) => forked);
    expect(row?.commit.parent).toBe(made.id);
    expect(await handed(row?.commit.id)).toEqual({ waiting: 0, ends: 'work', fileGone: false });
    appendFileSync(
      resumed.path,
      result('x-r', 't9', 'twelve', { parent: 'x-c', extra: resumed.extra }) + answer('x-a', 'Twelve.', { parent: 'x-r', extra: resumed.extra }),
    );
    await add(resumed.path);
    const own = (await graph()).filter(({ forked }) => forked);
    expect(own.map(({ turn }) => turn)).toEqual([2]);
    expect(await handed(own[0]?.commit.id)).toEqual({ waiting: 0, ends: 'reply', fileGone: false });
    expect(await trunk()).toEqual(before);
    expect(await handed(tip?.id as typeof made.id)).toBe(null);
  });

  test('compacts at once: the compaction and the answer continue the fork', async () => {
    const { call, add, trunk, before, made, graph, continueIt } = await withFork();
    const resumed = await continueIt('x', '', { only: 'prompt' });
    const lines = readFileSync(resumed.path, 'utf8').trim().split('\n');
    const own = JSON.parse(lines.pop() as string) as Record<string, unknown>;
    const last = (JSON.parse(lines.at(-1) as string) as { uuid: string }).uuid;
    const at = { isSidechain: false, cwd: '/work', sessionId: resumed.sessionId, version: '2.1.0', timestamp: '2026-01-01T01:00:00.000Z' };
    writeFileSync(
      resumed.path,
      [
        ...lines,
        JSON.stringify({
          ...at,
          type: 'system',
          subtype: 'compact_boundary',
          content: 'Conversation compacted',
          parentUuid: null,
          logicalParentUuid: last,
          uuid: 'k1',
          compactMetadata: { trigger: 'auto', preTokens: 9 },
        }),
        JSON.stringify({
          ...at,
          type: 'user',
          isCompactSummary: true,
          parentUuid: 'k1',
          uuid: 'k2',
          message: { role: 'user', content: 'This session is being continued. The shop is open.' },
        }),
        JSON.stringify({ ...own, parentUuid: 'k2' }),
      ].join('\n') +
        '\n' +
        answer('x-a', 'Twenty-one.', { parent: 'x-u', extra: resumed.extra }),
    );
    await add(resumed.path);
    const rows = (await graph()).filter(({ commit }) => commit.sessionId === resumed.sessionId);
    expect(rows.map(({ commit, turn }) => [commit.type, turn])).toEqual([
      ['delta', 2],
      ['compaction', undefined],
    ]);
    expect((await graph()).map(({ commit }) => commit.id)).not.toContain(made.id);
    expect(rows[1]?.commit.parent).toBe(made.id);
    expect(textsOf((await call.context.entries({ id: rows[0]?.commit.id ?? '' })).entries)).toEqual([
      'This session is being continued. The shop is open.',
      edited,
      'Twenty-one.',
    ]);
    expect((await trunk()).session).toEqual(before.session);
  });

  test('answers with a fork of its own', async () => {
    const { root, call, add, trunk, before, made, graph, continueIt } = await withFork();
    const resumed = await continueIt('x', '', { only: 'prompt' });
    const other = '44444444-4444-4444-8444-444444444444';
    const path = join(root, 'projects', '-work-shop', `${other}.jsonl`);
    writeFileSync(
      path,
      readFileSync(resumed.path, 'utf8').replaceAll(resumed.sessionId, other) +
        answer('x-a', 'Twenty-one.', { parent: 'x-u', extra: { sessionId: other } }),
    );
    await add(path);
    const own = (await graph()).filter(({ forked }) => forked);
    expect(own.map(({ commit }) => commit.parent)).toEqual([made.id]);
    expect((await call.session.list({})).sessions).toHaveLength(1);
    expect(await trunk()).toEqual(before);
  });

  test('its file is deleted, before or after it answers', async () => {
    const { call, add, trunk, before, made, graph, continueIt } = await withFork();
    const first = await continueIt('x', '', { only: 'prompt' });
    rmSync(first.path);
    await add(first.path);
    expect((await graph()).filter(({ forked }) => forked).map(({ commit }) => commit.id)).toEqual([made.id]);
    const handed = async (id = made.id) => (await call.session.place({ id })).handed;
    expect(await handed()).toEqual({ waiting: 1, ends: 'prompt', fileGone: true });
    const second = await continueIt('y', 'Twelve.');
    await add(second.path);
    rmSync(second.path);
    await add(second.path);
    const [row] = (await graph()).filter(({ forked }) => forked);
    expect(textsOf((await call.context.entries({ id: row?.commit.id ?? '' })).entries).at(-1)).toBe('Twelve.');
    expect(await handed(row?.commit.id)).toEqual({ waiting: 0, ends: 'reply', fileGone: true });
    expect(await trunk()).toEqual(before);
  });

  test('runs a slash command, which it writes in tags and replaces by a text', async () => {
    const { home, call, add, tip, second, trunk, graph } = await withFork();
    const before = await trunk();
    const { entries } = await call.context.entries({ id: second?.id ?? '', stop: second?.id });
    const key = entries.find(({ text }) => text === 'Count the stock again.')?.key as string;
    const command = { role: 'user', kind: 'text', text: '/review the cellar' } as const;
    const made = await call.context.fork({ id: tip?.id ?? '', at: key, edits: [{ op: 'replace', key, entry: command }] });
    const resumed = await call.export.resume({ id: made.id, cwd: home });
    expect(resumed.prompt).toBe('/review the cellar');
    const extra = { sessionId: resumed.sessionId, cwd: home };
    const last = JSON.parse(readFileSync(resumed.path, 'utf8').trim().split('\n').at(-1) as string) as { uuid: string };
    const tags =
      '<command-message>review is running…</command-message>\n<command-name>/review</command-name>\n<command-args>the cellar</command-args>';
    appendFileSync(
      resumed.path,
      prompt('s-u', tags, { parent: last.uuid, extra }) +
        prompt('s-m', 'Review the cellar carefully.', { parent: 's-u', extra: { ...extra, isMeta: true } }) +
        answer('s-a', 'Reviewed.', { parent: 's-m', extra }),
    );
    await add(resumed.path);
    const rows = (await graph()).filter(({ commit }) => commit.sessionId === resumed.sessionId);
    expect(rows.map(({ commit, fork, turn }) => [commit.parent, fork?.title, turn])).toEqual([[made.id, '/review the cellar', 2]]);
    expect(textsOf((await call.context.entries({ id: rows[0]?.commit.id ?? '', stop: made.id })).entries).slice(-3)).toEqual([
      '/review the cellar',
      'Review the cellar carefully.',
      'Reviewed.',
    ]);
    expect((await trunk()).session).toEqual(before.session);
  });

  test('goes back and types another prompt: that branch is titled by it', async () => {
    const { add, graph, trunk, before, continueIt } = await withFork();
    const { path, extra } = await continueIt('x', 'Twelve.');
    const own = readFileSync(path, 'utf8').trim().split('\n');
    const parent = own.map((line) => JSON.parse(line) as { uuid: string; parentUuid: string }).find(({ uuid }) => uuid === 'x-u')?.parentUuid ?? '';
    appendFileSync(path, prompt('z-u', 'Something else.', { parent, extra }) + answer('z-a', 'Else.', { parent: 'z-u', extra }));
    await add(path);
    const other = (await graph()).find(({ commit }) => commit.summary === 'Something else.');
    expect(other?.tipOf).toBe('Something else.');
    expect((await trunk()).session).toEqual(before.session);
  });

  test('another prompt than that of the fork is no answer to it', async () => {
    const { add, trunk, before, graph, continueIt } = await withFork();
    const resumed = await continueIt('x', 'Closed.', { typed: 'Close the shop.' });
    await add(resumed.path);
    const rows = await graph();
    expect(rows.filter(({ commit }) => commit.summary === 'Close the shop.')).toHaveLength(1);
    expect(rows.filter(({ forked }) => forked)).toHaveLength(1);
    expect((await trunk()).session).toEqual(before.session);
    expect(statSync(resumed.path).size).toBeGreaterThan(0);
  });
});
