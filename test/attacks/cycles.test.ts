// Rows that name each other in a circle: no call follows them without an end.
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { contract, procedureNames } from '../../src/core/contract/index.js';
import { kindOf } from '../../src/core/router/index.js';
import { registerSums, unwatchRows, watchRows } from '../../src/core/store/sums.js';
import { databaseIn } from '../support/damage.js';
import { everyTable } from '../support/every-table.js';

const circles: readonly (readonly [name: string, sql: string])[] = [
  ['a commit is its own parent', 'UPDATE commits SET parent = seq'],
  ['a commit has its child as its parent', 'UPDATE commits SET parent = (SELECT MIN(c.seq) FROM commits c WHERE c.seq > commits.seq)'],
  [
    'all commits are in one circle',
    'UPDATE commits SET parent = COALESCE((SELECT MAX(c.seq) FROM commits c WHERE c.seq < commits.seq), (SELECT MAX(seq) FROM commits))',
  ],
  [
    'commits and branches begin at themselves',
    'UPDATE commits SET parent = seq; UPDATE firstParentRun SET origin = (SELECT MAX(seq) FROM commits c WHERE c.run = no)',
  ],
  ['branches begin at their own commits', 'UPDATE firstParentRun SET origin = (SELECT MAX(seq) FROM commits c WHERE c.run = no)'],
  ['a ticket is below itself', 'UPDATE ticket SET parent = no'],
  ['tickets depend on each other', 'INSERT OR IGNORE INTO ticketDependency SELECT * FROM ticketDependency'],
];

/** Checksums that fail are damage. Valid ones come from somebody who sends a whole project. */
test.each(circles.flatMap(([name, sql]) => [false, true].map((isSummed) => [name, isSummed, sql] as const)))(
  '[T15] [T80] where %s, with valid checksums: %s, each call ends',
  { tags: 'long', timeout: 120_000 },
  async (_, isSummed, sql) => {
    const { client, project, inputs } = await everyTable();
    const raw = new Database(databaseIn(project.dir));
    raw.pragma('foreign_keys = OFF');
    registerSums(raw);
    if (isSummed) watchRows(raw);
    raw.exec(sql);
    if (isSummed) unwatchRows(raw);
    raw.close();
    let ended = 0;
    for (const name of procedureNames(contract)) {
      if (name === 'project.changes' || (!['reads', 'live'].includes(kindOf(name.split('.'))) && !(name in inputs))) continue;
      const call = name.split('.').reduce<unknown>((node, part) => (node as Record<string, unknown>)[part], client) as (
        input: object,
      ) => Promise<unknown>;
      for (const input of [...(inputs[name] ?? [{}]), { sessionId: 's1' }]) {
        await call(input).catch(() => undefined);
        ended += 1;
      }
    }
    expect(ended).toBeGreaterThan(200);
    const { ticketId = '' } = (await client.ticket.list({}))[0] ?? {};
    await client.ticket.update({ ticketId, parent: ticketId }).catch(() => undefined);
  },
);
