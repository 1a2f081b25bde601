import { expect, test } from 'vitest';
import { pulse } from '../../../src/core/runner/index.js';
import { untilCommitted } from '../../../src/main/mcp/committed.js';
import { agentDoor } from '../../support/agent-door.js';
import { answer, call, result } from '../../support/claude-lines.js';

const performer = { agent: 'claude-code' as const, folder: '/' };

test('[K4] a tool of Stemma waits until the commits of the job have its call', async () => {
  const input = { ticketId: '', to: 'in_progress' };
  const made = agentDoor(async function* (_order, _signal, write) {
    yield { kind: 'call', toolName: 'mcp__stemma__ticket_transition', text: '' };
    // The agent writes its file later than it calls.
    setTimeout(() => write(call('a-1', 't-1', 'mcp__stemma__ticket_transition', input)), 200);
    await untilCommitted(client, { as: '@author' }, 'ticket_transition', input);
    await client.ticket.transition({ ticketId: input.ticketId, to: 'in_progress', by: '@author', assignee: '@author' });
    write(result('r-1', 't-1', 'Moved.', { parent: 'a-1' }) + answer('a-2', 'Done.', { parent: 'r-1' }));
    yield { kind: 'end', text: 'Done.', isError: false };
  });
  const { client, engine, project } = made;
  const before = await client.ticket.create({ title: 'Add a clock', type: 'chore' });
  input.ticketId = (await client.ticket.create({ title: 'Retry calls', type: 'task', dependsOn: [before.ticketId] })).ticketId;
  await client.ticket.transition({ ticketId: before.ticketId, to: 'in_progress', assignee: '@pm' });
  await client.ticket.transition({ ticketId: before.ticketId, to: 'closed', resolution: 'Added.' });
  pulse(engine.runner(project), { rules: [{ for: { ticketType: 'task' }, who: '@author', performer }] });
  await Promise.all([...engine.jobs.jobs.values()].map(({ done }) => done));
  expect((await client.runner.list({})).map(({ error }) => error)).toEqual([null]);
  const { versions } = await client.ticket.get({ ticketId: input.ticketId });
  const claim = versions.find(({ by, changes }) => by === '@author' && changes.status?.to === 'in_progress');
  const { entries } = await client.context.entries({ id: claim?.contextId as never, stop: 'root' });
  expect(entries.at(-1)).toMatchObject({ kind: 'tool_call', toolCallId: 't-1' });
});
