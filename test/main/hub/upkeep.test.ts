import { DummyDriver, Kysely, PostgresAdapter, PostgresDialect, PostgresIntrospector, PostgresQueryCompiler, sql } from 'kysely';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type Chain, checkpoint } from '../../../src/core/chain/index.js';
import { pull, push } from '../../../src/core/sync/index.js';
import { migrate, migrations, openHubDatabase } from '../../../src/main/hub/index.js';
import { startTestHub, type TestHub } from '../../support/hub.js';
import { emptyChain } from '../../support/project.js';

let hub: TestHub;
beforeAll(async () => {
  hub = await startTestHub();
});
afterAll(() => hub?.close());

const digests = ({ db, project }: Chain): string[] =>
  db.all<{ digest: Buffer }>('SELECT digest FROM context WHERE project = ? ORDER BY digest', project).map(({ digest }) => digest.toString('hex'));
const commit = (chain: Chain, text: string): void => {
  checkpoint(chain, {
    parent: null,
    type: 'delta',
    format: 'raw-text',
    template: 'test',
    checkpoint: 'turn_boundary',
    text,
    messageCount: 1,
    tokenCount: 1,
  });
};

describe('keeping a hub running', () => {
  test('[E30] an older hub works beside a newer schema, and steps run whatever their number', async () => {
    const all = new Kysely<unknown>({ dialect: new PostgresDialect({ pool: new pg.Pool({ connectionString: hub.databaseUrl, max: 2 }) }) });
    onTestFinished(() => all.destroy());
    const add = (statement: string) => ({ up: async (db: Kysely<unknown>) => void (await sql.raw(statement).execute(db)) });
    await migrate(all, { ...migrations, '999-newer': add('ALTER TABLE item ADD COLUMN newer text; CREATE TABLE newer (no integer)') });
    await migrate(all, { ...migrations, '998-between': add('CREATE TABLE between_both (no integer)') });
    expect((await sql<{ n: string }>`SELECT to_regclass('between_both') AS n`.execute(all)).rows[0]?.n).toBe('between_both');
    // This version knows neither step. The hub that ran before them goes on, and a new process of it starts.
    const again = await openHubDatabase(hub.databaseUrl);
    await again.close();
    const [mine, theirs] = [emptyChain(), emptyChain()];
    commit(mine, 'beside a newer schema');
    await push(mine, await hub.project('newer'));
    await pull(theirs, await hub.project('newer'));
    expect(digests(theirs)).toEqual(digests(mine));
  });

  test('[E30] no step removes, renames or tightens what an older hub uses', async () => {
    const statements: string[] = [];
    const db = new Kysely<unknown>({
      dialect: {
        createAdapter: () => new PostgresAdapter(),
        createDriver: () => new DummyDriver(),
        createIntrospector: (each) => new PostgresIntrospector(each),
        createQueryCompiler: () => new PostgresQueryCompiler(),
      },
      log: ({ query }) => void statements.push(query.sql),
    });
    for (const { up } of Object.values(migrations)) await up(db);
    const breaks = /\b(DROP|RENAME|TRUNCATE|DELETE FROM|SET NOT NULL|REVOKE)\b|ALTER COLUMN .* TYPE|ADD COLUMN (?!.*DEFAULT)[^,;]*NOT NULL/i;
    expect(statements.length).toBeGreaterThan(10);
    expect(statements.filter((each) => breaks.test(each))).toEqual([]);
    expect(breaks.test('ALTER TABLE item ADD COLUMN size bigint NOT NULL')).toBe(true);
  });
});
