// Every procedure with every kind of bad value in every field: it answers or refuses by name, and is never an internal error.
import { inspect } from 'node:util';
import { ORPCError } from '@orpc/server';
import { expect, test } from 'vitest';
import { contract, describeProcedure, procedureNames } from '../../src/core/contract/index.js';
import { badValues, chosen, fields, isPlace, nested, put, type Schema, valid } from '../support/bad-inputs.js';
import { door } from '../support/door.js';
import { everyTable } from '../support/every-table.js';
import { scratch } from '../support/project.js';
import { laterRefusal } from '../support/refusal.js';

/** What the contract can answer. Anything else is a bug, which a caller gets as 500. */
const refusals = new Set(['BAD_REQUEST', 'UNAUTHORIZED', 'NOT_FOUND', 'CONFLICT', 'LOCKED', 'UNAVAILABLE']);

/** Procedures that open another project. The test opens its own again after each. */
const opening = new Set(['project.create', 'project.open', 'project.trust', 'team.open', 'library.sample']);
/** Reads what a call answers. A stream that does not end by itself is ended. */
async function answered(output: unknown): Promise<void> {
  if (typeof output !== 'object' || output === null || !(Symbol.asyncIterator in output)) return;
  const stream = (output as AsyncIterable<unknown>)[Symbol.asyncIterator]();
  const patience = new Promise<'late'>((resolve) => setTimeout(() => resolve('late'), 100).unref());
  for (let events = 0; events < 20; events++) {
    const next = await Promise.race([stream.next(), patience]);
    if (next === 'late' || next.done) break;
  }
  void Promise.resolve(stream.return?.()).catch(() => {});
}

const shown = (value: unknown): string => (value === nested ? '5,000 lists' : inspect(value, { depth: 2, maxStringLength: 60 }).slice(0, 200));

test('[C29] a time of more than a hundred years is refused', async () => {
  const { client } = door();
  const { entityId } = await client.space.addEntity({ name: 'Bot', type: 'agent' });
  const { spaceId } = await client.space.create({ members: [entityId] });
  const seconds = 3_155_760_001;
  const task = { targetStrategy: 'new', targetRef: 'Writer', instruction: 'x' };
  const calls = {
    ttlSeconds: client.artifact.put({ text: 'x', contentType: 'text/plain', policy: 'ephemeral', ttlSeconds: seconds }),
    deadlineSeconds: client.handover.forkJoin({ sourceAgentId: 'lead', tasks: [task], deadlineSeconds: seconds }),
    'wait.timeoutMs': client.space.post({ spaceId, senderId: entityId, text: 'x', wait: { timeoutMs: seconds * 1_000 } }),
    runAfter: client.run.setPlan({ entityId, name: 'x', instruction: 'x', runAfter: '999999999 weeks' }),
  };
  for (const [field, call] of Object.entries(calls)) expect(await laterRefusal(call), field).toMatchObject({ code: 'BAD_REQUEST', data: { field } });
});

test('[K1] [K2] [K3] a text of a ticket that shows nothing is missing', async () => {
  const { client } = door();
  const { ticketId } = await client.ticket.create({ title: 'x', type: 'task' });
  const move = (to: 'in_progress' | 'review' | 'closed', more: object) => client.ticket.transition({ ticketId, to, ...more });
  for (const blank of [' ', '\n\t', '\u200b', '\u202e']) {
    const calls = {
      title: client.ticket.create({ title: blank, type: 'task' }),
      assignee: move('in_progress', { assignee: blank }),
      'reviewers.1': move('review', { reviewers: ['@ann', blank] }),
      resolution: move('closed', { resolution: blank }),
      reason: move('closed', { reason: blank }),
      text: client.ticket.discuss({ ticketId, text: blank }),
    };
    for (const [field, call] of Object.entries(calls))
      expect(await laterRefusal(call), field).toMatchObject({ code: 'BAD_REQUEST', data: { field } });
  }
  expect((await move('in_progress', { assignee: '🙂' })).assignee).toBe('🙂');
});

test('[C32] no value of any field makes a procedure fail', { tags: 'long' }, async () => {
  const { client, inputs, project } = await everyTable();
  const known = new Map(Object.values(inputs).flatMap((each) => each.flatMap((input) => Object.entries(input))));
  const place = scratch();
  const calls = client as unknown as Record<string, Record<string, (input: unknown) => Promise<unknown>>>;
  const failures: string[] = [];
  const slow: string[] = [];
  let turn = 0;
  for (const name of procedureNames(contract)) {
    const [namespace = '', procedure = ''] = name.split('.');
    const root = (describeProcedure(contract, name)?.input ?? {}) as Schema;
    const [own = {}] = inputs[name] ?? [];
    const example = { ...(valid(root, root, '', known) as object), ...own };
    const tries = [
      ...[null, nested, [], 'x', { ...example, more: 1 }].map((input) => [input, `the input ${shown(input)}`] as const),
      ...[...fields(root, root)].flatMap(([path, schema]) => {
        const at = path.reduce<unknown>((value, step) => (value as Record<string, unknown> | undefined)?.[step], example);
        const field = path.findLast((step) => step !== '0') ?? '';
        const values = badValues(schema, at ?? 'x', isPlace(field) ? place : undefined);
        return chosen(values, turn++).map((bad) => [put(example, path, bad), `${path.join('.')} = ${shown(bad)}`] as const);
      }),
    ];
    for (const [input, what] of tries) {
      const before = performance.now();
      try {
        await answered(await calls[namespace]?.[procedure]?.(input));
      } catch (error) {
        const isRefusal = error instanceof ORPCError && refusals.has(error.code);
        if (!isRefusal) failures.push(`${name} with ${what}: ${error instanceof ORPCError ? error.code : ''} ${String(error).slice(0, 300)}`);
      }
      if (performance.now() - before > 20_000) slow.push(`${name} with ${what}`);
    }
    if (opening.has(name)) await client.project.open({ dir: project.dir });
  }
  expect(failures).toEqual([]);
  expect(slow).toEqual([]);
  expect((await client.project.check({})).problems).toEqual([]);
});
