import { expect, test } from 'vitest';
import type { WriteChain } from '../../../src/core/chain/index.js';
import { openPulse } from '../../../src/core/runner/index.js';
import { door } from '../../support/door.js';
import { model, says } from '../../support/model-of-jobs.js';

const performer = { provider: 'model' };

async function writers(ended: number) {
  const made = door({ providers: [model(() => says('Done.'))] });
  const { client, engine, project, chain } = made;
  await client.profile.put({ name: 'Writer', card: { content: { kind: 'json', data: { name: 'Writer' } } } } as never);
  const launch = async () => (await client.handover.launchPrincipal({ profileName: 'Writer', instruction: 'Write it.' })).agentTurnId ?? '';
  for (let turn = 0; turn < ended; turn++) await launch();
  chain.db.run("UPDATE agentTurn SET status = 'success', endedAt = 1");
  await client.runner.setPolicy({ rules: [{ for: { agent: 'Writer' }, performer }] });
  const policy = await client.runner.getPolicy({});
  const parts = engine.runner(project);
  const settle = () => Promise.all([...engine.jobs.jobs.values()].map(({ done }) => done));
  return { ...made, launch, policy, parts, settle };
}

/** The chain, counting the rows that it reads, and naming the tables that SQLite reads from one end to the other. */
function counting(chain: WriteChain): { readonly chain: WriteChain; rows: number; readonly scanned: Set<string> } {
  const counter = { rows: 0, chain, scanned: new Set<string>() };
  const { db } = chain;
  const look = (...[sql, ...values]: Parameters<typeof db.all>): void => {
    for (const { detail } of db.all<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`, ...values)) {
      const table = /^SCAN (\w+)(?! VIRTUAL)/.exec(detail)?.[1];
      // The index of waits that are open is as long as their number.
      if (table !== undefined && table !== 'CONSTANT' && !detail.endsWith('INDEX spaceWaitOpen')) counter.scanned.add(`${table}: ${detail}`);
    }
  };
  const counted = {
    ...db,
    one: (...words: Parameters<typeof db.one>) => {
      look(...words);
      const row = db.one(...words);
      counter.rows += row === undefined ? 0 : 1;
      return row;
    },
    all: (...words: Parameters<typeof db.all>) => {
      look(...words);
      const rows = db.all(...words);
      counter.rows += rows.length;
      return rows;
    },
  };
  return Object.assign(counter, { chain: { ...chain, db: counted as never } });
}

test('[U12] an idle pulse reads the same rows after 5 and after 60 turns', { tags: 'long' }, async () => {
  const scanned = new Set<string>();
  const readAt = async (ended: number): Promise<number[]> => {
    const { parts, policy, chain } = await writers(ended);
    const pulse = openPulse();
    const counter = counting(chain);
    return [1, 2].map(() => {
      counter.rows = 0;
      pulse({ ...parts, chain: counter.chain }, policy);
      for (const table of counter.scanned) scanned.add(table);
      return counter.rows;
    });
  };
  expect(await readAt(60)).toEqual(await readAt(5));
  expect([...scanned]).toEqual([]);
});

test('[U12] after idle pulses, the next one starts what has come', async () => {
  const { parts, policy, launch, settle, client, chain, clock } = await writers(2);
  const pulse = openPulse();
  for (let idle = 0; idle < 3; idle++) pulse(parts, policy);
  const turn = await launch();
  pulse(parts, policy);
  await settle();
  const statusOf = (id: string) => chain.db.one<{ status: string }>('SELECT status FROM agentTurn WHERE agentTurnId = ?', id)?.status;
  expect(statusOf(turn)).toBe('success');
  // A turn that the policy covers only now.
  const other = await launch();
  pulse(parts, { ...policy, rules: [] });
  expect(statusOf(other)).toBe('dispatched');
  pulse(parts, policy);
  await settle();
  expect(statusOf(other)).toBe('success');
  // What could not be started is tried again later, although nothing has changed.
  const third = await launch();
  const absent = { ...policy, rules: [{ for: { agent: 'Writer' }, performer: { provider: 'absent' } }] };
  pulse(parts, absent as never);
  clock.at += 31_000;
  pulse(parts, absent as never);
  pulse(parts, policy);
  await settle();
  expect(statusOf(third)).toBe('success');
  expect((await client.runner.list({})).length).toBeGreaterThan(2);
});
