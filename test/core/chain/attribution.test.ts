import { expect, test } from 'vitest';
import { toTimestamp } from '../../../src/core/base/index.js';
import { checkpoint, resolve } from '../../../src/core/chain/index.js';
import { answer, prompt } from '../../support/claude-lines.js';
import { door } from '../../support/door.js';
import { drained } from '../../support/scripted-model.js';

/** A captured turn of an agent on a machine named `desk`. */
function worked() {
  const made = door({ machine: 'desk' });
  const text = prompt('u1', 'fix it') + answer('a1', 'It is done now.', { parent: 'u1' });
  const turn = checkpoint(made.chain, {
    parent: null,
    type: 'delta',
    format: 'claude-code-v1',
    text,
    template: 'coder',
    principal: 'agent:coder',
    machine: 'far',
    checkpoint: 'turn_boundary',
  });
  return { ...made, turn };
}

test('[C11, C25] what is made in Stemma belongs to its author, and resolve never answers with it', async () => {
  const { client, turn, clock } = worked();
  const { id } = turn;
  const key = (await client.context.entries({ id })).entries[0]?.key;
  const made = [];
  for (const principal of [undefined, 'ann@desk']) {
    clock.at += 1_000;
    const edit = { op: 'append' as const, entry: { role: 'user' as const, kind: 'text' as const, text: 'more' } };
    made.push(await client.context.fork({ id, edits: [edit], principal }));
    made.push(await client.context.fork({ id, at: key, edits: [edit], principal }));
    made.push(await client.context.compact({ id, summary: 'All is done.', principal }));
    made.push(await client.context.snapshot({ id, principal }));
    const rerun = await client.turn.rerun({ turnId: id, provider: 'recorded', principal });
    const { result } = await drained(rerun as never);
    made.push(await client.context.show({ id: (result as { commits: (typeof id)[] }).commits[0] as typeof id }));
    for (const commit of made.splice(0)) expect(commit).toMatchObject({ principal: principal ?? 'user@desk', machine: 'desk' });
  }
  const at = toTimestamp(clock.at + 1);
  expect((await client.context.resolve({ principal: 'agent:coder', at })).id).toBe(id);
  expect((await client.context.resolve({ principal: 'ann@desk', at })).id).toBe(null);
  const ticket = await client.ticket.create({ title: 'Check', type: 'task', by: 'agent:coder' });
  expect(ticket).toMatchObject({ contextId: id, contextFound: 'resolved' });
  const { commit } = await client.ticket.discuss({ ticketId: ticket.ticketId, text: 'Why?' });
  expect(commit.principal).toBe('user@desk');

  // Another agent with work of its own asks in the thread, on the chain of the first: its understanding is still its own work.
  const given = { parent: null, type: 'delta', format: 'claude-code-v1', template: 'coder', checkpoint: 'turn_boundary' } as const;
  const own = await client.context.checkpoint({ ...given, text: prompt('v1', 'review it'), principal: 'agent:reviewer' });
  clock.at += 1_000;
  const asked = await client.ticket.discuss({ ticketId: ticket.ticketId, text: 'Why now?', principal: 'agent:reviewer' });
  expect(asked.commit.principal).toBe('agent:reviewer');
  expect((await client.context.resolve({ principal: 'agent:reviewer', at: toTimestamp(clock.at + 1) })).id).toBe(own.id);
});

test('[C25] a fork that an older version signed with the agent is not the work of the agent', () => {
  const { chain, turn } = worked();
  const by = { principal: 'agent:coder', template: 'coder', type: 'delta', format: 'claude-code-v1', checkpoint: 'explicit' } as const;
  const fork = checkpoint(chain, { ...by, parent: turn.id, text: prompt('u2', 'more', { parent: 'a1' }) });
  const deeper = checkpoint(chain, { ...by, parent: fork.id, text: prompt('u3', 'still more', { parent: 'u2' }) });
  const at = toTimestamp(8.64e15);
  expect(resolve(chain, 'agent:coder', at).id).toBe(deeper.id);
  chain.db.run('UPDATE commits SET forked = 1 WHERE id IN (?, ?)', fork.id, deeper.id);
  expect(resolve(chain, 'agent:coder', at).id).toBe(turn.id);
});

test('[C28] a commit says of principal, machine and session that they were not recorded', async () => {
  const { client } = door({ machine: 'desk' });
  const given = { parent: null, type: 'delta', format: 'claude-code-v1', template: 'coder', checkpoint: 'turn_boundary' } as const;
  const unknown = { principal: null, machine: null, sessionId: null };
  const { id, ...bare } = await client.context.checkpoint({ ...given, text: prompt('u1', 'fix it') });
  expect(bare).toMatchObject(unknown);
  const { rows } = await client.context.graph({ offset: 0, limit: 1 });
  for (const commit of [await client.context.show({ id }), rows[0]?.commit, ...(await client.context.tips({}))])
    expect(commit).toMatchObject(unknown);
  const known = { principal: '@a', machine: 'far', sessionId: 's' };
  expect(await client.context.checkpoint({ ...given, text: prompt('u2', 'more'), ...known })).toMatchObject(known);
});
