import { appendFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { codexAnswered, codexAsked, codexLine, codexSaid } from '../../support/codex-lines.js';
import { desk } from '../../support/desk.js';
import { scratch } from '../../support/project.js';

const session = '33333333-3333-4333-8333-333333333333';
const edited = 'Count the stock again, with the cellar.';
const called = codexLine('response_item', { type: 'function_call', name: 'shell', arguments: '{}', call_id: 'call-9' });

/** A session of Codex with three turns, and a fork with another second prompt. */
async function withFork() {
  const home = scratch();
  const root = join(home, '.codex');
  const folder = join(root, 'sessions', '2026', '01', '01');
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `rollout-2026-01-01T00-00-00-${session}.jsonl`);
  const turns = [
    ['Open the shop.', 'Open.'],
    ['Count the stock again.', 'Twelve.'],
    ['And the shelf?', 'Three.'],
  ] as const;
  writeFileSync(
    file,
    codexLine('session_meta', { id: session, cwd: '/work', originator: 'codex', cli_version: '0.169.0', model_provider: 'openai' }) +
      turns.map(([asked, said], n) => codexAsked(n + 1, asked) + codexAnswered(n + 1, said)).join(''),
  );
  const { call } = desk(scratch(), { agentRoots: [{ agent: 'codex', root }] });
  await call.project.create({ dir: join(home, 'p.stemma') });
  const add = async (...paths: string[]) => {
    for await (const _ of await call.import.run({ paths })) void _;
  };
  await add(file);
  const rows = async () => (await call.context.graph({ offset: 0, limit: 100, together: true })).rows;
  const trunk = async () => ({
    rows: (await rows())
      .filter(({ forked, commit }) => !forked && commit.sessionId === session)
      .map(({ commit, lane, turn }) => [commit.id, lane, turn]),
    sessions: (await call.session.list({})).sessions.map(({ sessionId, title, turns: count, repository }) => [sessionId, title, count, repository]),
  });
  const before = await trunk();
  const [tip] = await call.context.tips({});
  const { entries } = await call.context.entries({ id: tip?.id ?? '', stop: 'root' });
  const key = entries.find(({ text }) => text === 'Count the stock again.')?.key as string;
  const made = await call.context.fork({
    id: tip?.id ?? '',
    at: key,
    edits: [{ op: 'replace', key, entry: { role: 'user', kind: 'text', text: edited } }],
  });
  /** Opens the fork in Codex, which then writes these lines. Returns the path of its file. */
  const continueIt = async (lines: string): Promise<string> => {
    const { path, prompt } = await call.export.resume({ id: made.id, cwd: home });
    expect(prompt).toBe(edited);
    appendFileSync(path, lines);
    return path;
  };
  const forked = async () => (await rows()).filter((row) => row.forked);
  const lastText = async (id: string) => (await call.context.entries({ id, stop: 'root' })).entries.at(-1);
  return { call, add, trunk, before, made, continueIt, forked, lastText };
}

const asks = codexAsked(2, edited);

describe('[W74] what Codex does with a fork stays on its branch', () => {
  test('killed before it answers, and killed in the middle: the branch ends with the open call', async () => {
    const { call, add, trunk, before, made, continueIt, forked, lastText } = await withFork();
    await add(await continueIt(asks));
    expect((await forked()).map(({ commit }) => commit.id)).toEqual([made.id]);
    await add(await continueIt(asks + called));
    const [row] = await forked();
    expect(row).toMatchObject({ turn: 2, commit: { parent: made.id } });
    expect(await lastText(row?.commit.id ?? '')).toMatchObject({ kind: 'tool_call', toolName: 'shell' });
    // Somebody continues the fork once more: a second answer to the same prompt.
    await add(await continueIt(asks + codexAnswered(2, 'Twenty-one.')));
    expect((await forked()).map(({ commit, turn }) => [commit.parent, turn])).toEqual([
      [made.id, 2],
      [made.id, 2],
    ]);
    expect(await trunk()).toEqual(before);
    expect(await call.project.check({})).toMatchObject({ ok: true });
  });

  test('compacts at once: the compaction and the answer continue the fork', async () => {
    const { call, add, trunk, before, made, continueIt, lastText } = await withFork();
    const summary = 'The shop is open. The stock is counted again.';
    const replaced = [summary].map((text) => ({ type: 'message', role: 'user', content: [{ type: 'input_text', text }] }));
    const compacts = codexLine('compacted', { message: summary, replacement_history: replaced });
    await add(await continueIt(asks + compacts + codexAnswered(2, 'Twenty-one.')));
    const tips = await call.context.tips({});
    const ends = await Promise.all(tips.map(async ({ id }) => ({ id, text: (await lastText(id))?.text })));
    const end = ends.find(({ text }) => text === 'Twenty-one.')?.id;
    expect((await call.context.history({ id: end ?? '' })).map(({ id }) => id)).toContain(made.id);
    expect(await trunk()).toEqual(before);
  });

  test('answers with a fork of its own', async () => {
    const { add, trunk, before, made, continueIt, forked, lastText } = await withFork();
    const path = await continueIt(asks);
    const own = /rollout-.*?-([0-9a-f-]{36})\.jsonl$/.exec(path)?.[1] ?? '';
    const other = '44444444-4444-4444-8444-444444444444';
    const copy = join(dirname(path), `rollout-2026-01-02T00-00-00-${other}.jsonl`);
    writeFileSync(copy, readFileSync(path, 'utf8').replaceAll(own, other) + codexAnswered(2, 'Twenty-one.'));
    await add(copy);
    const rows = await forked();
    expect(rows.map(({ commit }) => commit.parent)).toEqual([made.id]);
    expect((await lastText(rows[0]?.commit.id ?? ''))?.text).toBe('Twenty-one.');
    expect(await trunk()).toEqual(before);
  });

  test('its file is deleted, before or after it answers', async () => {
    const { add, trunk, before, made, continueIt, forked, lastText } = await withFork();
    for (const [lines, at] of [
      [asks, 'before'],
      [asks + codexSaid('assistant', 'Twelve.'), 'after'],
    ] as const) {
      const path = await continueIt(lines);
      if (at === 'after') await add(path);
      rmSync(path);
      await add(path);
      const [row] = await forked();
      if (at === 'before') expect(row?.commit.id).toBe(made.id);
      else expect((await lastText(row?.commit.id ?? ''))?.text).toBe('Twelve.');
    }
    expect(await trunk()).toEqual(before);
  });
});
