import { describe, expect, test } from 'vitest';
import type { ContextId } from '../../../src/core/base/index.js';
import { answer, call, prompt, result } from '../../support/claude-lines.js';
import { some } from '../../support/long.js';
import { stream } from '../../support/model-server.js';
import { said, thinks } from '../../support/wire-replies.js';
import { behindServer, type Wire, wires } from '../../support/wires.js';

type Body = Record<string, unknown>;

const as = { provider: 'model', model: 'm' };

/** A project with a conversation, a provider behind a loopback server that answers so, and what `look` returned at each of its requests. */
async function behind(wire: Wire, ...answers: unknown[][]) {
  const peeked: unknown[] = [];
  let look: (() => Promise<unknown>) | undefined;
  const { server, client, ...made } = await behindServer(
    wire,
    ...answers.map((events) => (response: Parameters<typeof stream>[0]) => {
      void (async () => {
        peeked.push(await look?.());
        stream(response, events);
      })();
    }),
  );
  // A request for the list of models has no body.
  const bodies = (): Body[] =>
    server.asked.map(({ body: { stream: _, stream_options: __, ...body } }) => body).filter((body) => Object.keys(body).length > 0);
  const { id } = await client.context.checkpoint({
    ...{ parent: null, type: 'delta', format: 'claude-code-v1', template: 'coder', principal: 'ada', checkpoint: 'turn_boundary' },
    text:
      prompt('u1', 'Why does the larder test fail?') +
      call('c1', 't1', 'Read', { file_path: '/srv/larder/shelf.ts' }, { parent: 'u1' }) +
      result('r1', 't1', 'export const shelves = 12;', { parent: 'c1' }) +
      answer('a1', 'The shelf is empty.', { parent: 'r1' }) +
      prompt('u2', 'Fill it.', { parent: 'a1' }) +
      answer('a2', 'Filled.', { parent: 'u2' }),
  });
  const shown = (event: number, more = {}) => client.ticket.preview({ event, wire, model: 'm', ...more });
  const perform = async (eventId: number, more = {}): Promise<void> => {
    for await (const _ of await client.runner.start({ what: { eventId }, performer: as, ...more }));
  };
  return {
    ...{ ...made, client, bodies, peeked, id, shown, perform },
    peek: (work: () => Promise<unknown>) => {
      look = work;
    },
  };
}

type Made = Awaited<ReturnType<typeof behind>>;

/** The start that a person requests by handing out a ticket. */
async function handedOut({ client }: Made, who: string, contextId?: ContextId) {
  const ticket = { title: 'Fill the "shelf"', type: 'task', body: 'All of it.\n', by: 'maker', ...(contextId && { contextId }) };
  const { ticketId } = await client.ticket.create(ticket);
  await client.ticket.transition({ ticketId, to: 'in_progress', assignee: who, by: 'maker' });
  return startOf({ client }, ticketId);
}

async function startOf({ client }: Pick<Made, 'client'>, ticketId: string) {
  const event = (await client.ticket.events({ state: 'waiting' })).find((each) => each.ticketId === ticketId);
  if (!event) throw new Error(`Nothing starts on ${ticketId}.`);
  return event;
}

describe.for(some(wires, 2))('the preview of a call is the body of its request: %s', (wire) => {
  test('[U11] a start of a ticket begins a conversation, and goes on after a tool call', async () => {
    const made = await behind(wire, thinks('ticket_list')[wire], said[wire]);
    const { client, bodies, peeked, peek, shown, perform } = made;
    await client.template.put({ name: 'coder', text: 'You write code.' });
    const { event, contextId } = await handedOut(made, 'coder');
    expect(contextId).toBe(null);
    const tips = await client.context.tips({});
    const before = await shown(event);
    // A preview takes nothing and stores nothing.
    expect([await client.context.tips({}), (await client.ticket.events({ state: 'waiting' })).length]).toEqual([tips, 1]);
    expect(before.messages.map(({ role }) => role)).toEqual(['system', 'system', 'user']);
    expect(before.messages[0]?.content).toBe('You write code.');
    expect(before.messages.at(-1)?.content).toContain('You are coder. Work on this ticket.');
    peek(async () => (await shown(event)).body);
    await perform(event);
    expect(bodies()).toHaveLength(2);
    expect(bodies()[0]).toEqual(before.body);
    expect(bodies()).toEqual(peeked);
    expect(JSON.stringify(before.tools)).toContain('"ticket_transition"');
  });

  test('[U11] a start on a context, and the answer of a thread', async () => {
    const made = await behind(wire, said[wire]);
    const { client, bodies, shown, perform, id } = made;
    const start = await handedOut(made, 'ada', id);
    expect(start.contextId).toBe(id);
    const work = await shown(start.event);
    expect(work.messages.at(-1)?.content).toContain('You are ada.');
    expect(work.messages.at(-2)?.content).toBe('Filled.');
    const decided = { tools: ['tickets'], enableShareContext: false };
    const less = await shown(start.event, decided);
    expect([less.dropped.map(({ layer }) => layer).includes('framework__context'), less.layers.includes('framework__context')]).toEqual([
      true,
      false,
    ]);
    expect(less.tools?.length).toBeLessThan(work.tools?.length ?? 0);
    await perform(start.event, decided);
    const finding = await client.ticket.create({
      ...{ title: 'Half full', body: 'Look again.', type: 'review_finding', parent: start.ticketId, by: 'ada', contextId: id },
    });
    await client.ticket.discuss({ ticketId: finding.ticketId, text: 'Why?', principal: 'ben' });
    const question = await startOf(made, finding.ticketId);
    expect(question.task).toBe('answer');
    const reply = await shown(question.event);
    expect(reply.messages.find(({ content }) => content.includes('Half full'))?.role).toBe('system');
    await perform(question.event);
    expect(bodies()).toEqual([less.body, reply.body]);
    // The thread is answered, so the start makes no further call.
    await expect(shown(question.event)).rejects.toMatchObject({ code: 'CONFLICT' });
    await expect(shown(9_999)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  test('[U11] a summary, a compaction and a judgment of what it lost', { tags: 'long' }, async () => {
    const { client, bodies, id } = await behind(wire, said[wire]);
    const of = { wire, model: 'm' } as const;
    const summary = await client.compose.preview({ id, task: 'summarize', ...of });
    for await (const _ of await client.context.summarize({ ids: [id], ...as }));
    const compaction = await client.compose.preview({ id, task: 'compact', keepLast: 1, ...of });
    const { commit } = await client.compose.compact({ id, keepLast: 1, ...as });
    const judgment = await client.compose.preview({ id: commit?.id as ContextId, task: 'judge', ...of });
    await client.usage.judgeCompaction({ id: commit?.id as ContextId, ...as });
    expect(bodies()).toEqual([summary, compaction, judgment].map(({ body }) => body));
    expect(summary.parameters).toEqual({ max_tokens: 300 });
    for (const { messages, tools } of [summary, compaction, judgment]) expect([messages.at(-1)?.layer, tools]).toEqual(['query', null]);
    expect(judgment.messages.at(-1)?.content).toContain('/srv/larder/shelf.ts');
  });
});

test('a preview of a task refuses what the task does not have, and a task without a call', async () => {
  const { client, id } = await behind('anthropic', said.anthropic);
  const refused = (input: Parameters<typeof client.compose.preview>[0]) => expect(client.compose.preview(input)).rejects;
  await refused({ id, task: 'summarize', query: 'Why?' }).toMatchObject({ code: 'BAD_REQUEST', data: { field: 'query' } });
  await refused({ id, task: 'judge', keepLast: 2 }).toMatchObject({ code: 'BAD_REQUEST', data: { field: 'keepLast' } });
  await refused({ id, keepLast: 2 }).toMatchObject({ code: 'BAD_REQUEST', data: { field: 'keepLast' } });
  await refused({ id, task: 'judge' }).toMatchObject({ code: 'BAD_REQUEST' });
  await refused({ id, task: 'compact', budgetTokens: 1_000_000 }).toMatchObject({ code: 'CONFLICT' });
});
