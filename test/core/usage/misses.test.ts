import { join } from 'node:path';
import { expect, test } from 'vitest';
import { atOnce } from '../../../src/core/base/index.js';
import { catchUpLedger, catchUpUsage, ledgerIsDue, loadPrices, usageCalls } from '../../../src/core/usage/index.js';
import { nameIn, numberOf } from '../../../src/core/usage/names.js';
import { importInto } from '../../support/imports.js';
import { emptyChain } from '../../support/project.js';
import { countingReads } from '../../support/reads.js';

const fixtures = join(import.meta.dirname, '../../fixtures');

test('[T42] calls that missed are read from the ledger, and are those that all calls show', { tags: 'long' }, async () => {
  await loadPrices();
  const chain = emptyChain();
  for (const folder of ['usage', 'codex', 'claude-code', 'cases']) importInto(chain, join(fixtures, folder));
  atOnce(catchUpUsage(chain));
  const ask = (query: Parameters<typeof usageCalls>[1]) => {
    const counted = countingReads(chain);
    return { ...usageCalls(counted.chain, query), rows: counted.reads.rows };
  };
  const queries: readonly Parameters<typeof usageCalls>[1][] = [
    { filter: { miss: true } },
    { filter: { miss: true }, offset: 2, limit: 3 },
    { filter: { miss: true, model: 'claude-opus-4-5' } },
    { filter: { miss: true, from: '2026-02-01T00:00:00.000Z' as never } },
  ];
  expect(ledgerIsDue(chain)).toBe(true);
  const direct = queries.map(ask);
  expect(direct[0]?.total).toBeGreaterThan(4);
  atOnce(catchUpLedger(chain));
  expect(ledgerIsDue(chain)).toBe(false);
  for (const [at, query] of queries.entries()) {
    const { rows, ...kept } = ask(query);
    const { rows: all, ...known } = direct[at] as ReturnType<typeof ask>;
    expect(kept).toEqual(known);
    expect(rows).toBeLessThan(all);
  }
});

test('[T42] the number of calls is that of the rows, from sums that are kept', () => {
  const chain = emptyChain();
  importInto(chain, join(fixtures, 'usage'));
  atOnce(catchUpUsage(chain));
  const sessions = chain.db.column<string>(`SELECT DISTINCT ${nameIn('u.session')} FROM usageCall u`);
  for (const sessionId of [undefined, ...sessions.filter((session) => session !== '')]) {
    const rows = chain.db.one<{ count: number }>(
      `SELECT COUNT(*) AS count FROM usageCall WHERE ? IS NULL OR session = ${numberOf('?')}`,
      sessionId ?? null,
      sessionId ?? null,
    );
    const counted = countingReads(chain);
    expect(usageCalls(counted.chain, { ...(sessionId !== undefined && { sessionId }), limit: 1 }).total).toBe(rows?.count);
  }
});
