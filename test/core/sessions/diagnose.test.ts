import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { answer, prompt } from '../../support/claude-lines.js';
import { desk } from '../../support/desk.js';
import { scratch } from '../../support/project.js';

const cases = join(import.meta.dirname, '../../fixtures/cases');

async function imported(name: string) {
  const { call } = desk(scratch());
  await call.project.create({ dir: join(scratch(), 'p.stemma') });
  for await (const _ of await call.import.run({ paths: [join(cases, name)] })) void _;
  const { sessions } = await call.session.list({});
  return { call, sessionId: sessions[0]?.sessionId ?? '' };
}

test.each([
  ['unpaired-tools', ['orphan_result', 'unanswered_call']],
  ['orphan-result-after-compaction', ['orphan_result']],
  ['empty-text-block', ['empty_text']],
  ['lone-surrogate', ['lone_surrogate']],
  ['rewind-mid', []],
  ['model-switch-thinking', []],
])('[F51] %s: a repair changes only what a model would refuse', async (name, kinds) => {
  const { call, sessionId } = await imported(name);
  const { problems } = await call.session.diagnose({ sessionId });
  expect(problems.map(({ kind }) => kind).sort()).toEqual(kinds);
  const before = await call.context.tips({});
  const plan = await call.session.repair({ sessionId, dryRun: true });
  expect(plan.commit).toBe(null);
  expect(plan.changes.map(({ kind }) => kind).sort()).toEqual(kinds);
  expect(await call.context.tips({})).toEqual(before);
  const { commit, changes } = await call.session.repair({ sessionId });
  expect(changes).toEqual(plan.changes);
  expect(commit === null).toBe(kinds.length === 0);
  if (!commit) return;
  const { entries } = await call.context.entries({ id: commit.id });
  const calls = entries.flatMap(({ kind, toolCallId }) => (kind === 'tool_call' ? [toolCallId] : []));
  const results = entries.flatMap(({ kind, toolCallId }) => (kind === 'tool_result' ? [toolCallId] : []));
  expect(results.sort()).toEqual(calls.sort());
  expect(JSON.stringify(entries).isWellFormed()).toBe(true);
  const tips = await call.context.tips({});
  for (const { id } of before) expect(tips.some((tip) => tip.id === id)).toBe(true);
});

test.each([
  ['truncated-tail', 'torn_line'],
  ['nul-tail-claude', 'torn_line'],
])('[F51] %s: damaged lines are diagnosed, and the fork lacks them', async (name, kind) => {
  const { call, sessionId } = await imported(name);
  const { problems } = await call.session.diagnose({ sessionId });
  expect(problems).toEqual([{ kind, message: expect.stringMatching(/^Line \d+ of /), fix: expect.any(String) }]);
  const { commit, changes } = await call.session.repair({ sessionId });
  expect(changes.map((change) => [change.kind, change.after])).toEqual([[kind, null]]);
  expect(commit).not.toBe(null);
});

test('[F51] a record whose parent is missing is diagnosed', async () => {
  const { call } = desk(scratch());
  await call.project.create({ dir: join(scratch(), 'p.stemma') });
  const path = join(scratch(), 's1.jsonl');
  writeFileSync(
    path,
    prompt('u1', 'go') + answer('a1', 'done', { parent: 'u1' }) + prompt('u2', 'more', { parent: 'lost' }) + answer('a2', 'ok', { parent: 'u2' }),
  );
  for await (const _ of await call.import.run({ paths: [path] })) void _;
  const [session] = (await call.session.list({})).sessions;
  const { problems } = await call.session.diagnose({ sessionId: session?.sessionId ?? '' });
  expect(problems.map(({ kind }) => kind)).toEqual(['broken_parent']);
});

test('[F51] an unknown session, and an input with both or neither, are refused', async () => {
  const { call } = await imported('rewind-mid');
  await expect(call.session.repair({ sessionId: 'nowhere' })).rejects.toMatchObject({ code: 'NOT_FOUND', data: { id: 'nowhere' } });
  await expect(call.session.diagnose({})).rejects.toMatchObject({ code: 'BAD_REQUEST', data: { field: 'sessionId' } });
});
