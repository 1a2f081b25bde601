import pg from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { pull, push } from '../../../src/core/sync/index.js';
import { hubAt } from '../../../src/main/team/index.js';
import { chainWith, commitText, startTestHub, type TestHub } from '../../support/hub.js';
import { emptyChain } from '../../support/project.js';

let hub: TestHub;
beforeAll(async () => {
  hub = await startTestHub();
});
afterAll(() => hub?.close());

/** Adds items without content to a project, and leaves the statistics as they were when the table was empty. */
async function fill(project: string, count: number): Promise<number> {
  const [row] = await hub.query<{ no: number }>(`SELECT no FROM project WHERE name = '${project}'`);
  const no = row?.no ?? 0;
  await hub.query('ALTER TABLE item SET (autovacuum_enabled = off)');
  await hub.query('ANALYZE item');
  await hub.query(
    `INSERT INTO item (project, seq, kind, name, digest, body)
     SELECT ${no}, seq, 'sessionMark', sha256(seq::text::bytea), sha256('x'), '{}' FROM generate_series(1, ${count}) seq`,
  );
  return no;
}

/** The issue measured 248 ms for each hello and push at this number. */
const items = 200_000;

describe('the queries of a hub', () => {
  test('[E69] hello, a push and a page read few of 200,000 rows, with old statistics', { tags: 'long' }, async () => {
    const remote = await hub.project('large');
    const no = await fill('large', items);
    const mine = chainWith('on top of many');
    // The statements of the calls, with their values and the rows that they return.
    const statements = vi.spyOn(pg.Client.prototype, 'query');
    onTestFinished(() => statements.mockRestore());
    await hub.client().sync.hello({ project: 'large' });
    await push(mine, remote);
    await hub.client().sync.items({ project: 'large', after: items - 5 });
    const selects = (statements.mock.calls as unknown as [string, unknown[]?][]).filter(([text]) => /^\s*select\b.*\bitem\b/is.test(String(text)));
    statements.mockRestore();
    expect(selects.length).toBeGreaterThan(4);
    const begin = (await import('../../../src/main/hub/database.js')).beginSql(no, true, 30_000);
    const client = new pg.Client({ connectionString: hub.databaseUrl });
    await client.connect();
    onTestFinished(() => client.end());
    await client.query(begin);
    for (const [text, values = []] of selects) {
      const { rows } = await client.query<{ 'QUERY PLAN': string }>({ text: `EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) ${text}`, values });
      const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
      expect(plan, text).not.toMatch(/Seq Scan on item/);
      for (const [, count] of plan.matchAll(/actual rows=([\d.]+)/g)) expect(Number(count), `${text}\n${plan}`).toBeLessThan(100);
      for (const [, count] of plan.matchAll(/Rows Removed by \w+: (\d+)/g)) expect(Number(count), `${text}\n${plan}`).toBeLessThan(100);
    }
  });

  test('[E69] a list of projects counts nothing', async () => {
    const statements = vi.spyOn(pg.Client.prototype, 'query');
    onTestFinished(() => statements.mockRestore());
    await hub.project('listed');
    statements.mockClear();
    expect(await hub.client().projects.list({})).toContainEqual({ project: 'listed', role: 'admin' });
    expect(statements.mock.calls.map(([text]) => String(text)).filter((text) => /"(?:item|object|pack)"/.test(text))).toEqual([]);
  });

  test('[E70] the line of a share link is walked once, not for each page; its news appear', { tags: 'long' }, async () => {
    const chain = emptyChain();
    let parent: string | null = null;
    for (let i = 0; i < 30; i++) parent = commitText(chain, `turn ${i}`, parent).id;
    const remote = await hub.project('walked');
    await push(chain, remote);
    const digest = chain.db.one<{ digest: Buffer }>('SELECT digest FROM commits WHERE id = ?', parent)?.digest.toString('hex') ?? '';
    const { token } = await hub.client().members.share({ project: 'walked', commit: digest, name: 'a link', role: 'reader' });
    const { sync } = hub.client(token);
    const walks = () => statements.mock.calls.filter(([text]) => /RECURSIVE/.test(String(text))).length;
    const statements = vi.spyOn(pg.Client.prototype, 'query');
    onTestFinished(() => statements.mockRestore());
    const theirs = emptyChain();
    await pull(theirs, hubAt({ hub: hub.address, project: 'walked', token }));
    await Promise.all(Array.from({ length: 5 }, (_, i) => sync.items({ project: 'walked', after: 5 * i })));
    for (let i = 0; i < 5; i++) await sync.about({ project: 'walked', hashes: [digest] });
    expect(walks()).toBe(1);
    // What others add to the project meanwhile costs no walk, either.
    await push(chainWith('something else'), remote);
    await hub.query(
      `INSERT INTO item (project, seq, kind, name, digest, body, about)
       SELECT project, 100, 'branchMark', sha256('mark'), sha256('mark'), '{"context":"${digest}","title":"named","archivedAt":null,"deletedAt":null}', name
         FROM item WHERE kind = 'context' AND project = (SELECT no FROM project WHERE name = 'walked') ORDER BY seq DESC LIMIT 1 OFFSET 1`,
    );
    expect((await pull(theirs, hubAt({ hub: hub.address, project: 'walked', token }))).items).toEqual({ branchMark: 1 });
    expect(walks()).toBe(1);
  });

  test('[E71] an answer ends at its limit of bytes before the contents are read', { tags: 'long' }, async () => {
    await hub.project('heavy');
    const [row] = await hub.query<{ no: number }>("SELECT no FROM project WHERE name = 'heavy'");
    await hub.query(
      `INSERT INTO item (project, seq, kind, name, digest, body)
       SELECT ${row?.no}, seq, 'blackboard', sha256(seq::text::bytea), sha256('x'), convert_to('{"x":"' || repeat('a', 3000000) || '"}', 'UTF8') FROM generate_series(1, 20) seq`,
    );
    const { sync } = hub.client();
    const pages: number[] = [];
    for (let after = 0, isLast = false; !isLast; ) {
      const page = await sync.items({ project: 'heavy', after });
      expect(page.seq).toBeGreaterThan(after);
      pages.push(page.seq - after);
      [after, isLast] = [page.seq, page.isLast];
    }
    expect(pages.reduce((a, b) => a + b)).toBe(20);
    expect(Math.max(...pages)).toBeLessThanOrEqual(6);
  });
});
