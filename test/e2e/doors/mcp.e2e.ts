import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import type { Commit, Ticket, TicketEvent, TicketThread } from '../../../src/core/contract/index.js';
import { expect, test } from '../../support/e2e.js';
import { built, type Machine, node } from '../../support/machine.js';

type Given = Record<string, unknown>;
type Content = { type: string; text: string }[];

/** The SDK's client with a `stemma mcp` process. Closed with the test. */
async function agent(machine: Machine) {
  const transport = new StdioClientTransport({
    command: node,
    args: [built('cli', 'stemma.js'), 'mcp'],
    env: machine.env as Record<string, string>,
    cwd: machine.cwd,
    stderr: 'pipe',
  });
  const errors: Error[] = [];
  const client = new Client({ name: 'test', version: '1' });
  client.onerror = (error) => errors.push(error);
  await client.connect(transport);
  const raw = async (name: string, given: Given): Promise<{ isError: boolean; content: Content }> => {
    const { isError = false, content } = await client.callTool({ name, arguments: given });
    return { isError: isError as boolean, content: content as Content };
  };
  return {
    client,
    /** Output that is not protocol, and messages that could not be sent. */
    errors,
    raw,
    async call<T>(name: string, given: Given): Promise<T> {
      const { isError, content } = await raw(name, given);
      expect(isError, content.at(-1)?.text).toBe(false);
      expect(content[0]?.text).toContain('untrusted data');
      return JSON.parse(content[1]?.text ?? '') as T;
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
}

const spoken = [
  { type: 'user', uuid: 'm-1', parentUuid: null, message: { role: 'user', content: 'Why does the zanzibar pump stall?' } },
  { type: 'assistant', uuid: 'm-2', parentUuid: 'm-1', message: { role: 'assistant', content: [{ type: 'text', text: 'Its valve is stuck.' }] } },
]
  .map((line) => `${JSON.stringify({ ...line, sessionId: 's-1', timestamp: '2026-01-01T10:00:00.000Z' })}\n`)
  .join('');

test('[L11] checkpoints, searches, reads and tickets over MCP; results are marked as untrusted', async ({ machine }) => {
  expect((await machine.ask('init', machine.path('work', 'p.stemma'))).code).toBe(0);
  await using mcp = await agent(machine);

  const { tools } = await mcp.client.listTools();
  expect(tools.map((tool) => tool.name)).toEqual([
    'checkpoint',
    'search',
    'history',
    'entries',
    'materialize',
    'compaction',
    'sql',
    'findings',
    'session_diagnose',
    'session_repair',
    'blame',
    'sql_views',
    'resolve',
    'turn_reproduce',
    ...['create', 'update', 'get', 'list', 'overview', 'transition', 'verdict', 'discuss', 'thread', 'answer'].map((verb) => `ticket_${verb}`),
    ...['start_from', 'events', 'acknowledge', 'import'].map((verb) => `ticket_${verb}`),
    ...['mine'].map((verb) => `ticket_${verb}`),
    ...['list', 'messages', 'post', 'wait'].map((verb) => `space_${verb}`),
    ...['run_list', 'send_message', 'read_messages', 'enter_space', 'get_my_runs', 'run_timeline'],
    ...['card_add', 'card_get', 'box_create', 'box_cards', 'box_append'],
    ...['delegate', 'fork_join', 'ask_expert', 'batch'].map((verb) => `handover_${verb}`),
    ...['agent_begin', 'agent_input', 'agent_write', 'agent_finish', 'compose_preview', 'compose_messages'],
  ]);
  const schema = tools.find((tool) => tool.name === 'search')?.inputSchema;
  expect(schema).toMatchObject({ required: ['text'], properties: { text: { type: 'string', maxLength: 1_000 } } });

  const first = await mcp.call<Commit>('checkpoint', {
    parent: null,
    type: 'delta',
    format: 'claude-code-v1',
    text: spoken,
    template: 'coder',
    principal: '@mechanic',
    checkpoint: 'explicit',
  });
  expect(first).toMatchObject({ messageCount: 2, checkpoint: 'explicit' });

  await expect
    .poll(async () => (await mcp.call<{ hits: { commit: string }[] }>('search', { text: 'zanzibar' })).hits.map((hit) => hit.commit))
    .toEqual([first.id]);
  expect((await mcp.call<Commit[]>('history', { id: first.id })).map((commit) => commit.id)).toEqual([first.id]);
  const { entries } = await mcp.call<{ entries: { text: string }[] }>('entries', { id: first.id, limit: 1 });
  expect(entries.map((entry) => entry.text)).toEqual(['Why does the zanzibar pump stall?']);
  expect(await mcp.call('resolve', { principal: '@mechanic', at: new Date().toISOString() })).toMatchObject({ id: first.id });

  const narrative = await mcp.call<{ text: string; tokenCount: number }>('materialize', { id: first.id, maxTokens: 2_000 });
  expect(narrative.text).toContain('Its valve is stuck.');
  expect(narrative.tokenCount).toBeLessThanOrEqual(2_000);

  const { ticketId, ...made } = await mcp.call<Ticket>('ticket_create', { title: 'Free the valve', type: 'task', by: '@mechanic' });
  expect(made).toMatchObject({ status: 'open', contextId: first.id, contextFound: 'resolved' });
  const moved = await mcp.call<Ticket>('ticket_transition', { ticketId, to: 'in_progress', assignee: '@mechanic', by: '@mechanic' });
  expect(moved).toMatchObject({ status: 'in_progress', assignee: '@mechanic' });
  expect(moved.versions.at(-1)).toMatchObject({ contextId: first.id, contextFound: 'resolved' });
  expect((await mcp.call<Ticket[]>('ticket_list', { status: 'in_progress' })).map((each) => each.ticketId)).toEqual([ticketId]);

  expect(mcp.errors).toEqual([]);
});

test('reviews over MCP: starts, findings, discussions, answers and imported tickets', async ({ machine }) => {
  expect((await machine.ask('init', machine.path('work', 'p.stemma'))).code).toBe(0);
  await using mcp = await agent(machine);
  const asked = 'Why does the zanzibar pump stall?';
  const said = { type: 'delta', format: 'claude-code-v1', template: 'reviewer', principal: '@rev', checkpoint: 'explicit' };
  const [opening, ...rest] = spoken.split(/(?<=\n)/);
  const review = await mcp.call<Commit>('checkpoint', { ...said, parent: null, text: opening?.replace(asked, 'Look at the pump') });
  await mcp.call<Commit>('checkpoint', {
    ...said,
    parent: review.id,
    text: opening?.replace('m-1', 'm-3').replace('null', '"m-1"') + rest.join('').replace('"m-1"', '"m-3"'),
  });
  const { created } = await mcp.call<{ created: string[] }>('ticket_import', { text: '- [ ] Free the valve', kind: 'markdown' });
  const ticketId = created[0] as string;
  await mcp.call('ticket_transition', { ticketId, to: 'review', reviewers: ['@rev'], by: '@author' });
  const found = await mcp.call<Ticket>('ticket_create', {
    ...{ title: 'The pump stalls', type: 'review_finding', parent: ticketId, by: '@rev', contextId: review.id },
  });
  const finding = { ticketId: found.ticketId };
  await mcp.call('ticket_discuss', { ...finding, text: asked, principal: '@author' });
  expect(await mcp.call('ticket_start_from', { ...finding, who: '@rev' })).toMatchObject({ task: 'answer', reason: 'discussion' });
  const events = await mcp.call<TicketEvent[]>('ticket_events', { who: '@rev', state: 'waiting' });
  expect(events.map(({ task }) => task)).toEqual(['review', 'answer']);
  expect(await mcp.call('ticket_acknowledge', { event: events[0]?.event, by: '@rev', as: 'taken' })).toMatchObject({ state: 'taken' });
  expect(await mcp.call('ticket_answer', { ...finding, provider: 'recorded' })).toMatchObject({ text: 'Its valve is stuck.' });
  expect(await mcp.call<TicketThread>('ticket_thread', finding)).toMatchObject({ from: review.id, messages: [{ by: '@author' }, { by: '@rev' }] });
  expect(await mcp.call('ticket_overview', { text: 'pump' })).toMatchObject({ total: 1, rows: [{ parent: ticketId }] });
  expect(mcp.errors).toEqual([]);
});

test('[B15, B-33, R6] waits, cards and turns over MCP', async ({ machine }) => {
  expect((await machine.ask('init', machine.path('work', 'p.stemma'))).code).toBe(0);
  const call = async (procedure: string, input: Given): Promise<Given> => {
    const ran = await machine.ask('call', procedure, '--input', JSON.stringify(input));
    if (ran.code !== 0) throw new Error(ran.err);
    return JSON.parse(ran.out) as Given;
  };
  for (const [entityId, type] of [
    ['ann', 'human'],
    ['bot', 'agent'],
  ])
    await call('space.addEntity', { entityId, name: entityId, type });
  await call('space.create', { spaceId: 'team', members: ['ann', 'bot'] });
  await call('profile.put', { name: 'Writer', card: { content: { kind: 'json', data: { name: 'Writer', system_prompt_template: 'Write.' } } } });
  const { agentTurnId } = await call('handover.launchPrincipal', { profileName: 'Writer', instruction: 'Report' });
  await using mcp = await agent(machine);
  const refused = async (name: string, given: Given): Promise<unknown> => {
    const { isError, content } = await mcp.raw(name, given);
    expect(isError).toBe(true);
    expect(content[0]?.text).toContain('untrusted data');
    return JSON.parse(content[1]?.text ?? '');
  };

  const question = { spaceId: 'team', senderId: 'ann', text: 'Ready?', wait: { for: 'bot' } };
  expect(await refused('space_post', question)).toMatchObject({ code: 'UNAUTHORIZED', message: expect.stringContaining('the person ann') });
  const asked = await call('space.post', question);
  const { messageId } = asked.message as { messageId: string };
  expect(await mcp.call('space_wait', { messageId })).toMatchObject({ for: 'bot', answer: null });
  const [{ runId }] = asked.started as [{ runId: string }];
  const sent = await mcp.call<{ message: { messageId: string } }>('send_message', { runId, text: 'Which date?', wait: true });
  expect(await mcp.call('space_wait', { messageId })).toMatchObject({ answer: sent.message.messageId });
  await call('space.post', { spaceId: 'team', senderId: 'ann', text: 'Monday' });
  const { rendered } = await mcp.call<{ rendered: { system: string } }>('run_timeline', { runId });
  expect(rendered.system).toMatch(/You: called send_message\("Which date\?", wait: true\)[\s\S]*← RESUME: ann replied\. Continue from here\./);
  expect(await refused('send_message', { runId, text: 'Hm?', wait: { for: 'nobody' } })).toMatchObject({
    code: 'BAD_REQUEST',
    data: { field: 'wait.for' },
  });

  await mcp.call('agent_begin', { agentTurnId });
  const { cardIds } = await mcp.call<{ cardIds: string[] }>('agent_input', { agentTurnId, parameters: { model: 'm' } });
  const change = { cardId: cardIds[0], type: 'task.instruction', content: 'Something else' };
  expect(await refused('card_add', { card: change })).toMatchObject({ code: 'CONFLICT', data: { agentTurnId } });
  expect(await refused('agent_write', { agentTurnId, cards: [change] })).toMatchObject({ code: 'CONFLICT', data: { agentTurnId } });
  expect(await refused('box_create', { cardIds: ['ghost'] })).toMatchObject({ code: 'NOT_FOUND', data: { id: 'ghost' } });
  await mcp.call('agent_write', { agentTurnId, cards: [{ type: 'task.deliverable', content: 'Done.' }] });
  await mcp.call('agent_finish', { agentTurnId });
  expect(await mcp.call('turn_reproduce', { turnId: agentTurnId })).toMatchObject({ proof: 'recorded', identical: true, calls: 1 });
  expect(mcp.errors).toEqual([]);
});

test('an error has its code, and the server continues', async ({ machine }) => {
  expect((await machine.ask('init', machine.path('work', 'p.stemma'))).code).toBe(0);
  await using mcp = await agent(machine);
  const refused = async (name: string, given: Given): Promise<unknown> => {
    const { isError, content } = await mcp.raw(name, given);
    expect(isError).toBe(true);
    expect(content[0]?.text).toContain('untrusted data');
    return JSON.parse(content[1]?.text ?? '');
  };
  expect(await refused('history', { id: 'ctx-00000000' })).toMatchObject({
    code: 'NOT_FOUND',
    message: expect.stringContaining('ctx-00000000'),
    data: { id: 'ctx-00000000' },
  });
  expect(await refused('search', { text: 17 })).toMatchObject({ code: 'BAD_REQUEST', data: { field: 'text' } });
  const { ticketId } = await mcp.call<Ticket>('ticket_create', { title: 'T', type: 'task' });
  await mcp.call('ticket_transition', { ticketId, to: 'closed' });
  expect(await refused('ticket_transition', { ticketId, to: 'review' })).toMatchObject({ code: 'CONFLICT' });
  await expect(mcp.client.callTool({ name: 'no_such', arguments: {} })).rejects.toThrow('no_such');
  expect(mcp.errors).toEqual([]);
});

test('without a limit, a result has a default limit, so it does not fill the context window', async ({ machine }) => {
  expect((await machine.ask('init', machine.path('work', 'p.stemma'))).code).toBe(0);
  await using mcp = await agent(machine);
  const long = Array.from({ length: 120 }, (_, n) => ({
    type: 'user',
    uuid: `u-${n}`,
    parentUuid: n === 0 ? null : `u-${n - 1}`,
    message: { role: 'user', content: `Question ${n}: ${'why and wherefore '.repeat(40)}` },
    timestamp: '2026-01-01T10:00:00.000Z',
  }));
  const text = long.map((line) => `${JSON.stringify(line)}\n`).join('');
  const given = { parent: null, type: 'delta', format: 'claude-code-v1', text, template: 'coder', checkpoint: 'explicit' };
  const { id, tokenCount } = await mcp.call<Commit>('checkpoint', given);
  expect(tokenCount).toBeGreaterThan(15_000);
  const page = await mcp.call<{ entries: unknown[]; total: number }>('entries', { id });
  expect([page.entries.length, page.total]).toEqual([50, 120]);
  expect((await mcp.call<{ tokenCount: number }>('materialize', { id })).tokenCount).toBeLessThanOrEqual(10_000);
  expect((await mcp.call<{ tokenCount: number }>('materialize', { id, maxTokens: 40_000 })).tokenCount).toBeGreaterThan(15_000);
});

test('ends with its input and prints nothing else', async ({ machine }) => {
  expect((await machine.ask('init', machine.path('work', 'p.stemma'))).code).toBe(0);
  expect(await machine.runWith('', 'mcp')).toEqual({ code: 0, out: '', err: '' });
});
