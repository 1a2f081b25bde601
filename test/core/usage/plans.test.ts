import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import type { WriteChain } from '../../../src/core/chain/index.js';
import { listSessions } from '../../../src/core/sessions/index.js';
import { catchUpLedger, loadPrices, prepareUsage, usageCalls } from '../../../src/core/usage/index.js';
import { importInto } from '../../support/imports.js';
import { emptyChain } from '../../support/project.js';

beforeAll(() => loadPrices());

test('[N5] the calls of a session are read without those of other sessions', async () => {
  const chain = emptyChain();
  importInto(chain, join(import.meta.dirname, '../../fixtures/usage/two-models.jsonl'));
  await prepareUsage(chain);
  const plans: string[] = [];
  const db = new Proxy(chain.db, {
    get(target, name: 'all') {
      if (name !== 'all') return target[name];
      return (sql: string, ...values: never[]) => {
        if (/FROM usageCall u WHERE .*u\.session = /.test(sql))
          plans.push(...target.all<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`, ...values).map(({ detail }) => detail));
        return target.all(sql, ...values);
      };
    },
  });
  const watched = { ...chain, db } satisfies WriteChain;
  usageCalls(watched, { sessionId: listSessions(chain, {}).sessions[0]?.sessionId });
  for (const _ of catchUpLedger(watched));
  const reads = plans.filter((detail) => /^SEARCH u /.test(detail));
  expect(reads.length).toBeGreaterThan(1);
  expect(reads.filter((detail) => !detail.includes('INDEX usageCallSession'))).toEqual([]);
});
