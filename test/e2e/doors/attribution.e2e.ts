import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Commit, Ticket, TicketThread } from '../../../src/core/contract/index.js';
import { expect, test } from '../../support/e2e.js';
import { built, type Machine, node, root } from '../../support/machine.js';

const agent = join(root, 'test', 'support', 'agent.mjs');

async function call<T>(machine: Machine, procedure: string, input: object): Promise<T> {
  const ran = await machine.ask('call', procedure, '--input', JSON.stringify(input));
  if (ran.code !== 0) throw new Error(ran.err);
  return JSON.parse(ran.out) as T;
}
const json = async <T>(machine: Machine, ...words: string[]): Promise<T> => {
  const ran = await machine.ask(...words, '--json');
  if (ran.code !== 0) throw new Error(ran.err);
  return JSON.parse(ran.out) as T;
};
const commitsOf = async (machine: Machine): Promise<Commit[]> =>
  (await call<{ rows: { commit: Commit }[] }>(machine, 'context.graph', { offset: 0, limit: 100 })).rows.map(({ commit }) => commit).reverse();
const facts = ({ principal, ticketId, machine, sessionId }: Commit) => ({ principal, ticketId, machine, sessionId });

/** A session of an agent under `stemma run`, as its principal. Returns its standard output. */
function session(machine: Machine, principal: string, options: string[], ...steps: string[]): Promise<string> {
  const words = ['run', '--agent', 'claude-code', '--principal', principal, ...options, '--', node, agent, ...steps];
  const env = { ...machine.env, STEMMA_AS: principal, STEMMA_CLI: built('cli', 'stemma.js') };
  return new Promise((resolve, reject) => {
    const child = spawn(node, [built('cli', 'stemma.js'), ...words], { cwd: machine.cwd, env });
    let out = '';
    child.stdout.on('data', (part: Buffer) => (out += part));
    child.on('close', (code) => (code === 0 ? resolve(out) : reject(new Error(`the run ended with ${code}: ${out}`))));
  });
}

test.beforeEach(({ machine }) => machine.ask('init', machine.path('work', 'live.stemma')));

test('[C26] run records the principal, ticket and machine, else the session and this host', { tag: '@long' }, async ({ machine }) => {
  await session(machine, '@coder', ['--ticket', 'tkt-1', '--machine', 'far'], 'session:one', 'turn');
  const [first] = await commitsOf(machine);
  expect(first && facts(first)).toEqual({ principal: '@coder', ticketId: 'tkt-1', machine: 'far', sessionId: 'one' });
  expect((await machine.run('run', '--agent', 'claude-code', '--', node, agent, 'session:two', 'turn')).code).toBe(0);
  const second = (await commitsOf(machine)).find(({ sessionId }) => sessionId === 'two') as Commit;
  expect(second.principal).toMatch(/#two$/);
  expect(second.machine).toBeTruthy();
});

test('[C26] capture and hook record the principal, ticket and machine that are given', async ({ machine }) => {
  const folder = join(machine.claude, 'projects', '-work');
  mkdirSync(folder, { recursive: true });
  const line = (type: string, uuid: string, parentUuid: string | null, message: object, sessionId: string) =>
    `${JSON.stringify({ parentUuid, cwd: '/work', sessionId, type, message, uuid, timestamp: '2026-01-01T10:00:00.000Z' })}\n`;
  const transcript = (id: string): string => {
    const path = join(folder, `${id}.jsonl`);
    const answer = { id: `m-${id}`, role: 'assistant', model: 'm', stop_reason: 'end_turn', content: [{ type: 'text', text: 'Done.' }] };
    writeFileSync(
      path,
      line('user', `u-${id}`, null, { role: 'user', content: `Do ${id}` }, id) + line('assistant', `a-${id}`, `u-${id}`, answer, id),
    );
    return path;
  };
  const signed = ['--principal', '@hooked', '--ticket', 'tkt-2', '--machine', 'far'];
  const event = { session_id: 'one', transcript_path: transcript('one'), cwd: '/work', hook_event_name: 'Stop', last_assistant_message: 'Done.' };
  expect(await machine.runWith(JSON.stringify(event), 'hook', ...signed)).toEqual({ code: 0, out: '', err: '' });
  expect((await commitsOf(machine)).map(facts)).toEqual([{ principal: '@hooked', ticketId: 'tkt-2', machine: 'far', sessionId: 'one' }]);

  const two = transcript('two');
  await using following = machine.follow('capture', two, '--principal', '@captured', '--ticket', 'tkt-3', '--machine', 'near');
  await expect.poll(() => following.lines().length).toBeGreaterThan(0);
  const captured = (await commitsOf(machine)).find(({ sessionId }) => sessionId === 'two') as Commit;
  expect(facts(captured)).toEqual({ principal: '@captured', ticketId: 'tkt-3', machine: 'near', sessionId: 'two' });

  const settings = join(machine.claude, 'settings.json');
  expect((await machine.run('hook', '--install', '--yes', ...signed)).code).toBe(0);
  expect(readFileSync(settings, 'utf8')).toContain('--principal @hooked --ticket tkt-2 --machine far');
});

test('[C26] a principal that an unrelated session has is refused through every door', { tag: '@long' }, async ({ machine }) => {
  await session(machine, '@coder', [], 'session:one', 'turn');
  const before = (await commitsOf(machine)).length;
  const given = { parent: null, type: 'delta', format: 'markdown', text: 'Hello', template: 't', checkpoint: 'explicit' };
  const input = { ...given, principal: '@coder', sessionId: 'two' };
  const ran = await machine.ask('call', 'context.checkpoint', '--input', JSON.stringify(input));
  const refusal = { code: 'CONFLICT', data: { field: 'principal', value: '@coder', sessionId: 'one' } };
  expect([ran.code, JSON.parse(ran.err)]).toMatchObject([1, refusal]);
  const host = await machine.web(machine.path('work', 'live.stemma'));
  const answer = await fetch(`${host.origin}/api/context/checkpoint`, {
    method: 'POST',
    headers: { authorization: `Bearer ${host.bearer}`, 'content-type': 'application/json' },
    body: JSON.stringify(input),
  });
  expect([answer.status, await answer.json()]).toMatchObject([409, refusal]);
  expect(await commitsOf(machine)).toHaveLength(before);
});

test('[C11, C26, K4, K6] a reviewer and an author in one folder, each with its own context', { tag: '@long' }, async ({ machine }) => {
  const { ticketId } = await json<Ticket>(machine, 'ticket', 'create', 'Make retries work', '--by', '@pm');
  // The author works and hands the change to the reviewer. Both sessions are in the same folder.
  await session(machine, '@author', ['--ticket', ticketId], 'session:author', 'turn', 'turn');
  await json(machine, 'ticket', 'move', ticketId, 'in_progress', '--assignee', '@author', '--by', '@author');
  const moved = await json<Ticket>(machine, 'ticket', 'move', ticketId, 'review', '--reviewer', '@rev', '--by', '@author');
  // The reviewer finds something in the middle of a turn, and works on.
  const out = await session(machine, '@rev', ['--ticket', ticketId], 'session:reviewer', 'turn', `finding:${ticketId}`, 'turn');
  const finding = JSON.parse(out) as Ticket;

  const all = await commitsOf(machine);
  const author = all.filter(({ principal }) => principal === '@author');
  const reviewer = all.filter(({ principal }) => principal === '@rev');
  expect([author.map(({ sessionId }) => sessionId), new Set(reviewer.map(({ sessionId }) => sessionId))]).toEqual([
    ['author', 'author'],
    new Set(['reviewer']),
  ]);
  // Each write of a ticket has the context of its author at that moment: the reviewer's includes the turn in progress.
  expect(moved).toMatchObject({ contextId: author.at(-1)?.id, contextFound: 'resolved' });
  expect(finding).toMatchObject({ contextFound: 'resolved', type: 'review_finding' });
  const known = reviewer.find(({ id }) => id === finding.contextId) as Commit;
  expect(known).toMatchObject({ checkpoint: 'explicit', sessionId: 'reviewer' });
  const seen = async (id: string): Promise<string[]> =>
    (await call<{ entries: { text?: string; toolName?: string }[] }>(machine, 'context.entries', { id })).entries.map(
      ({ text, toolName }) => toolName ?? text ?? '',
    );
  expect(await seen(known.id)).toEqual(['question 1', 'answer 1', 'question 2', 'Bash']);
  const at = '2050-01-01T00:00:00.000Z';
  for (const [principal, last] of [['@author', author.at(-1)] as const, ['@rev', reviewer.at(-1)] as const])
    expect((await call<{ id: string }>(machine, 'context.resolve', { principal, at })).id).toBe(last?.id);

  // The author asks; the question stands on what the reviewer knew, belongs to the asker, and moves nobody's understanding.
  const asked = await call<{ commit: Commit }>(machine, 'ticket.discuss', { ticketId: finding.ticketId, text: 'Why?', principal: '@author' });
  expect(asked.commit).toMatchObject({ parent: known.id, principal: '@author' });
  expect((await seen(asked.commit.id)).at(-1)).toBe('Why?');
  expect((await call<{ id: string }>(machine, 'context.resolve', { principal: '@rev', at })).id).toBe(reviewer.at(-1)?.id);
  const understood = await call<Ticket>(machine, 'ticket.update', { ticketId, body: 'Retry three times.', by: '@author' });
  expect(understood.contextId).toBe(author.at(-1)?.id);
  expect((await call<TicketThread>(machine, 'ticket.thread', { ticketId: finding.ticketId })).from).toBe(known.id);
});
