import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { prompt } from '../../support/claude-lines.js';
import { databaseIn } from '../../support/damage.js';
import { door } from '../../support/door.js';
import { scratch } from '../../support/project.js';

type Client = ReturnType<typeof door>['client'];

/** A project with a row in each table that a caller names by an id, and its calls. */
async function filled(client: Client) {
  const path = join(scratch(), 's1.jsonl');
  writeFileSync(path, prompt('a', 'hello') + prompt('b', 'again', { parent: 'a' }));
  for await (const _ of await client.import.run({ paths: [path] }));
  await client.session.rename({ sessionId: 's1', title: 'renamed' });
  const ticket = await client.ticket.create({ title: 'a ticket', type: 'task', body: 'its body', labels: ['x'] });
  const card = await client.card.add({
    card: { type: 'task.instruction', content: { kind: 'text', text: 'do it' }, metadata: { role: 'user' }, authorId: 'ada' },
  });
  const box = await client.box.create({ cardIds: [card.cardId] });
  const me = await client.space.addEntity({ name: 'Ada', type: 'human' });
  const space = await client.space.create({ name: 'a space', members: [me.entityId] });
  const { message } = await client.space.post({ spaceId: space.spaceId, senderId: me.entityId, text: 'a message' });
  return { ticket, card, box, space, me, message };
}

/** The code of a refused call; undefined for a call that succeeds. */
const codeOf = (work: Promise<unknown>): Promise<string | undefined> =>
  work.then(
    () => undefined,
    (error: { code?: string }) => error.code ?? String(error),
  );

function wasSet(work: () => unknown): boolean {
  try {
    work();
    return true;
  } catch {
    return false;
  }
}

/** Whether a value has an object with this id that is marked as damaged. */
function isMarked(value: unknown, field: string, id: string): boolean {
  if (Array.isArray(value)) return value.some((item) => isMarked(item, field, id));
  if (typeof value !== 'object' || value === null) return false;
  const own = value as Readonly<Record<string, unknown>>;
  return (own[field] === id && own.damaged === true) || Object.values(own).some((member) => isMarked(member, field, id));
}

describe('[T80] what a damaged row shows is marked, and never an internal error', () => {
  test('each column of each table that a caller names by an id', { tags: 'long', timeout: 120_000 }, async () => {
    const { client, project } = door();
    const { ticket, card, box, space, me, message } = await filled(client);
    const reads: readonly {
      table: string;
      field: string;
      id: string;
      single?: () => Promise<unknown>;
      lists: readonly (() => Promise<unknown>)[];
    }[] = [
      {
        table: 'ticket',
        field: 'ticketId',
        id: ticket.ticketId,
        single: () => client.ticket.get({ ticketId: ticket.ticketId }),
        lists: [() => client.ticket.list({}), () => client.ticket.overview({})],
      },
      { table: 'ticketVersion', field: 'ticketId', id: ticket.ticketId, single: () => client.ticket.get({ ticketId: ticket.ticketId }), lists: [] },
      {
        table: 'card',
        field: 'cardId',
        id: card.cardId,
        single: () => client.card.get({ cardId: card.cardId }),
        lists: [() => client.card.batch({ cardIds: [card.cardId] }), () => client.box.cards({ boxId: box.boxId })],
      },
      { table: 'box', field: 'boxId', id: box.boxId, single: () => client.box.get({ boxId: box.boxId }), lists: [] },
      { table: 'boxPart', field: 'boxId', id: box.boxId, single: () => client.box.get({ boxId: box.boxId }), lists: [] },
      {
        table: 'space',
        field: 'spaceId',
        id: space.spaceId,
        single: () => client.space.get({ spaceId: space.spaceId }),
        lists: [() => client.space.list({})],
      },
      { table: 'spaceMessage', field: 'messageId', id: message.messageId, lists: [() => client.space.messages({ spaceId: space.spaceId })] },
      { table: 'entity', field: 'entityId', id: me.entityId, lists: [() => client.space.entities({})] },
      { table: 'source', field: 'sessionId', id: 's1', lists: [() => client.session.list({})] },
      { table: 'sessionMark', field: 'sessionId', id: 's1', lists: [() => client.session.list({})] },
    ];
    const raw = new Database(databaseIn(project.dir));
    raw.pragma('foreign_keys = OFF');
    const failures: string[] = [];
    for (const { table, field, id, single, lists } of reads) {
      const columns = raw
        .prepare("SELECT name, type FROM pragma_table_info(?) WHERE name NOT IN ('rowSum', 'no', 'project', 'box', 'place', 'ticket')")
        .all(table) as {
        name: string;
        type: string;
      }[];
      expect(columns.length, table).toBeGreaterThan(0);
      for (const { name, type } of columns) {
        const row = raw.prepare(`SELECT ${table === 'boxPart' ? '0' : 'rowid'} AS at, "${name}" AS value FROM "${table}" LIMIT 1`).get() as
          | { at: number; value: unknown }
          | undefined;
        const where = table === 'boxPart' ? '1' : `rowid = ${row?.at}`;
        const set = raw.prepare(`UPDATE "${table}" SET "${name}" = ? WHERE ${where}`);
        // An index over JSON refuses a malformed text.
        const value = String(row?.value ?? '');
        const lies = {
          TEXT: [`${value}~`, value.startsWith('[') ? '[1]' : value.replace(/[a-z](?="[,}])/, 'z')],
          BLOB: [Buffer.from('a lie')],
        }[type] ?? [Number(row?.value ?? 0) + 1];
        if (!lies.some((lie) => wasSet(() => set.run(lie)))) failures.push(`${table}.${name} was not changed`);
        const isFound = name !== field;
        const one = single ? await codeOf(single()) : undefined;
        if (single && one !== 'CORRUPT' && (isFound || one !== 'NOT_FOUND')) failures.push(`${table}.${name}: single read: ${one}`);
        for (const list of lists) {
          const answer = await list().catch((error: { code?: string }) => error);
          const code = (answer as { code?: string }).code;
          if (code === 'CORRUPT') continue;
          if (code !== undefined || (isFound && JSON.stringify(answer).includes(id) && !isMarked(answer, field, id)))
            failures.push(`${table}.${name}: list: ${code ?? 'unmarked'}`);
        }
        set.run(row?.value ?? null);
      }
    }
    raw.close();
    expect(failures).toEqual([]);
  });

  test('a switch and a number of the settings', async () => {
    for (const [name, lie] of [
      ['enableShareContext', 'true'],
      ['maxChainDepth', '8'],
    ]) {
      const { client, project } = door();
      await client.project.setSettings({ enableShareContext: false, maxChainDepth: 9 });
      expect(await client.project.settings({})).toEqual({ enableShareContext: false, maxChainDepth: 9 });
      const raw = new Database(databaseIn(project.dir));
      raw.prepare('UPDATE setting SET value = ? WHERE name = ?').run(lie, name);
      raw.close();
      expect(await client.project.settings({})).toMatchObject({ damaged: true });
    }
  });

  test('a write does not give a damaged row a new checksum', async () => {
    const { client, project } = door();
    const { ticket } = await filled(client);
    const raw = new Database(databaseIn(project.dir));
    raw.exec("UPDATE ticket SET title = 'a lie'");
    expect(await codeOf(client.ticket.update({ ticketId: ticket.ticketId, labels: ['y'] }))).toBe('CORRUPT');
    expect(await codeOf(client.ticket.transition({ ticketId: ticket.ticketId, to: 'closed', resolution: 'x' }))).toBe('CORRUPT');
    raw.close();
  });
});
