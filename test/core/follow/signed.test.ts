import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { toTimestamp } from '../../../src/core/base/index.js';
import { principalOf, signedName } from '../../../src/core/import/index.js';
import { openCapture } from '../../../src/core/project/capture.js';
import { answer, call, prompt, result } from '../../support/claude-lines.js';
import { door } from '../../support/door.js';
import { importInto } from '../../support/imports.js';
import { heldClock, scratch } from '../../support/project.js';
import { refusalOf } from '../handover/world.js';

const later = toTimestamp(Date.parse('2050-01-01T00:00:00Z'));

/** A session of Claude Code in a folder, as its file. */
function session(dir: string, id: string, text: string): string {
  const path = join(dir, `${id}.jsonl`);
  const lines = (prompt(`${id}-u`, text) + answer(`${id}-a`, 'Done.', { parent: `${id}-u` })).trimEnd().split('\n');
  writeFileSync(path, lines.map((line) => `${JSON.stringify({ ...JSON.parse(line), sessionId: id, cwd: '/work/larder' })}\n`).join(''));
  return path;
}

test('[C26] two sessions in one folder are two principals, and each resolves to its own commit', async () => {
  const clock = heldClock(Date.parse('2040-01-01T00:00:00Z'));
  const { client } = door({ machine: 'desk', clock });
  const dir = scratch();
  const author = await client.capture.checkpoint({ path: session(dir, 'author', 'Write it'), what: 'all' });
  const reviewer = await client.capture.checkpoint({ path: session(dir, 'reviewer', 'Review it'), what: 'all' });
  const [written, reviewed] = await Promise.all([author, reviewer].map(({ tip }) => client.context.show({ id: tip as never })));
  expect([written?.principal, reviewed?.principal]).toEqual(['claude-code@/work/larder#author', 'claude-code@/work/larder#reviewer']);
  expect(written?.machine).toBe('desk');
  const at = toTimestamp(clock.at);
  for (const commit of [written, reviewed]) expect((await client.context.resolve({ principal: commit?.principal ?? '', at })).id).toBe(commit?.id);
  const finding = await client.ticket.create({ title: 'A gap', type: 'task', by: reviewed?.principal ?? '' });
  expect(finding).toMatchObject({ contextId: reviewed?.id, contextFound: 'resolved' });
});

test('[C26] a recording has the principal, ticket and machine that were given', async () => {
  const { client } = door({ machine: 'desk' });
  const path = session(scratch(), 'one', 'Write it');
  const { tip } = await client.capture.checkpoint({ path, what: 'all', principal: '@coder', ticketId: 'tkt-1', machine: 'far' });
  expect(await client.context.show({ id: tip as never })).toMatchObject({ principal: '@coder', ticketId: 'tkt-1', machine: 'far' });
});

test('[C26] a subagent is a principal of its own', () => {
  const of = { principal: 'claude-code@/work', sessionId: 's1' };
  expect(principalOf({ ...of, template: 'claude-code' })).toBe('claude-code@/work#s1');
  expect(principalOf({ ...of, template: 'claude-code/explore' })).toBe('claude-code/explore@/work#s1');
  expect(principalOf({ principal: `a@${'x'.repeat(500)}`, sessionId: 's1', template: 'a' })).toHaveLength(400);
});

test('[C26] a principal that two unrelated sessions claim is refused, and nothing is written', async () => {
  const { client, chain } = door({ machine: 'desk' });
  const dir = scratch();
  await client.capture.checkpoint({ path: session(dir, 'one', 'Write it'), what: 'all', principal: '@coder' });
  const commits = () => chain.db.one('SELECT COUNT(*) AS n FROM commits');
  const before = commits();
  const taken = { code: 'CONFLICT', data: { field: 'principal', value: '@coder', sessionId: 'one' } };
  const path = session(dir, 'two', 'Review it');
  expect(await refusalOf(client.capture.checkpoint({ path, what: 'all', principal: '@coder' }))).toMatchObject(taken);
  const given = { parent: null, type: 'delta', format: 'claude-code-v1', template: 't', checkpoint: 'explicit', principal: '@coder' } as const;
  const checkpoint = client.context.checkpoint({ ...given, text: prompt('u9', 'hello'), sessionId: 'three' });
  expect(await refusalOf(checkpoint)).toMatchObject(taken);
  expect(commits()).toEqual(before);
  // A session that continues from a commit of the principal is related.
  const { id } = await client.context.resolve({ principal: '@coder', at: later });
  const next = await client.context.checkpoint({ ...given, parent: id, text: prompt('u9', 'hello', { parent: 'one-a' }), sessionId: 'three' });
  expect(next).toMatchObject({ principal: '@coder', sessionId: 'three' });
});

test('[C26] a session that was signed keeps its principal; its subagents are named after it', async () => {
  const { client } = door({ machine: 'desk' });
  const path = session(scratch(), 'one', 'Write it');
  await client.capture.checkpoint({ path, what: 'all', principal: '@coder' });
  const more = { ...JSON.parse(prompt('u2', 'More', { parent: 'one-a' })), sessionId: 'one', cwd: '/work/larder' };
  appendFileSync(path, `${JSON.stringify(more)}\n`);
  const { tip } = await client.capture.checkpoint({ path, what: 'all' });
  expect(await client.context.show({ id: tip as never })).toMatchObject({ principal: '@coder', summary: 'More' });
  expect(signedName('@coder', { template: 'claude-code/explore' })).toBe('@coder/explore');
  expect(signedName('@coder/explore', { template: 'claude-code/explore' })).toBe('@coder/explore');
});

test('[K4] a ticket write by a recorded agent commits the turn in progress first', async () => {
  const clock = heldClock(Date.now());
  const { client, chain, project } = door({ machine: 'desk', clock });
  const dir = scratch();
  await project.capture.watch({ places: [{ path: dir }], from: 'now', granularity: 'turn_boundary', signed: { principal: '@coder' }, cwd: '/work' });
  const path = join(dir, 'one.jsonl');
  const line = (text: string) => `${JSON.stringify({ ...JSON.parse(text), sessionId: 'one', cwd: '/work/larder' })}\n`;
  // The agent works: it has a prompt and asks for a tool, and no turn has ended.
  writeFileSync(
    path,
    line(prompt('u1', 'Find the gap')) + line(call('a1', 'toolu_1', 'Bash', { command: 'stemma ticket create' }, { parent: 'u1' })),
  );
  const ticket = await client.ticket.create({ title: 'A gap', type: 'task', by: '@coder' });
  expect(ticket.contextFound).toBe('resolved');
  const commit = await client.context.show({ id: ticket.contextId as never });
  expect(commit).toMatchObject({ principal: '@coder', machine: 'desk', sessionId: 'one', checkpoint: 'explicit', messageCount: 2 });
  const seen = (await client.context.entries({ id: commit.id })).entries.map(({ text, toolName }) => toolName ?? text);
  expect(seen).toEqual(['Find the gap', 'Bash']);
  // Writing again without news changes nothing; later work is committed at the next write.
  const again = await client.ticket.update({ ticketId: ticket.ticketId, body: 'more', by: '@coder' });
  expect(again.contextId).toBe(commit.id);
  appendFileSync(path, line(result('r1', 'toolu_1', 'done', { parent: 'a1' })));
  const moved = await client.ticket.transition({ ticketId: ticket.ticketId, to: 'in_progress', assignee: '@coder', by: '@coder' });
  expect((await client.context.show({ id: moved.contextId as never })).parent).toBe(commit.id);
  // A given context is taken as it is, and others have no turn in progress here.
  expect((await client.ticket.update({ ticketId: ticket.ticketId, body: 'x', by: '@coder', contextId: 'ctx-0' })).contextId).toBe('ctx-0');
  expect((await client.ticket.create({ title: 'Other', type: 'task', by: '@other' })).contextId).toBe(null);
  await client.capture.stop({ end: true });
  expect(chain.db.one('SELECT COUNT(*) AS n FROM followed')).toEqual({ n: 0 });
  expect((await client.context.resolve({ principal: '@coder', at: toTimestamp(clock.at) })).id).toBe(moved.contextId);
});

test('[C26] of two recordings in one folder, each has its own session', async () => {
  const { client, project, chain } = door({ machine: 'desk', clock: heldClock(Date.now()) });
  const other = openCapture(chain);
  const dir = scratch();
  const watch = (principal: string) => ({ places: [{ path: dir }], from: 'now', granularity: 'turn_boundary', signed: { principal } }) as const;
  await project.capture.watch(watch('@author'));
  session(dir, 'written', 'Write it');
  await project.capture.stop(true);
  await project.capture.watch(watch('@author'));
  await other.watch(watch('@reviewer'));
  session(dir, 'reviewed', 'Review it');
  await other.stop(true);
  await project.capture.stop(true);
  const of = async (principal: string) => (await client.context.resolve({ principal, at: later })).id as never;
  expect((await client.context.show({ id: await of('@author') })).sessionId).toBe('written');
  expect((await client.context.show({ id: await of('@reviewer') })).sessionId).toBe('reviewed');
});

test('[C26] an import stores the machine that the file names, else none', async () => {
  const { client, chain } = door({ machine: 'desk' });
  const dir = scratch();
  const attribute = (key: string, stringValue: string) => ({ key, value: { stringValue } });
  const span = {
    ...{ traceId: 't1', spanId: 's1', name: 'chat m', startTimeUnixNano: '1767225600000000000', endTimeUnixNano: '1767225601000000000' },
    attributes: [
      attribute('gen_ai.operation.name', 'chat'),
      attribute('gen_ai.conversation.id', 'c1'),
      attribute('gen_ai.input.messages', JSON.stringify([{ role: 'user', parts: [{ type: 'text', content: 'Hello' }] }])),
    ],
  };
  const spans = { resourceSpans: [{ resource: { attributes: [attribute('host.name', 'build-7')] }, scopeSpans: [{ spans: [span] }] }] };
  writeFileSync(join(dir, 'spans.json'), JSON.stringify(spans));
  session(dir, 'one', 'Write it');
  importInto(chain, dir);
  const { rows } = await client.context.graph({ offset: 0, limit: 10 });
  expect(Object.fromEntries(rows.map(({ commit }) => [commit.sessionId, commit.machine]))).toEqual({ c1: 'build-7', one: null });
});
