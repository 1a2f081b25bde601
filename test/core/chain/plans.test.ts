import { expect, test } from 'vitest';
import type { Timestamp } from '../../../src/core/base/index.js';
import { commitsAfter, keepRestPoints, resolve, restIsDue, type WriteChain } from '../../../src/core/chain/index.js';
import { atOnce, changes } from '../../../src/core/project/index.js';
import { emptyChain } from '../../support/project.js';

/** A chain that collects the statements which read an index of all commits of the project. */
function watched() {
  const chain = emptyChain();
  const broad: string[] = [];
  const db = new Proxy(chain.db, {
    get(target, name: 'one' | 'all' | 'run') {
      if (name !== 'one' && name !== 'all' && name !== 'run') return target[name];
      return (sql: string, ...values: never[]) => {
        const plan = target.all<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`, ...values);
        if (plan.some(({ detail }) => /INDEX contextId \(project=\?\)$/.test(detail))) broad.push(sql);
        return target[name](sql, ...values);
      };
    },
  });
  return { chain: { ...chain, db } satisfies WriteChain, broad };
}

test('[S22] the newest commits are found without reading the others', async () => {
  const { chain, broad } = watched();
  resolve(chain, 'someone', '2026-01-01T00:00:00.000Z' as Timestamp);
  commitsAfter(chain, 0, 10);
  restIsDue(chain);
  atOnce(keepRestPoints(chain));
  await changes(() => chain, {}, undefined).next();
  expect(broad).toEqual([]);
  chain.db.one('SELECT id FROM commits WHERE project = 1');
  expect(broad).toHaveLength(1);
});
