import { describe, expect, test } from 'vitest';
import type { WriteChain } from '../../../src/core/chain/index.js';
import { loadPrices, prepareUsage, usageSessions } from '../../../src/core/usage/index.js';
import { emptyChain } from '../../support/project.js';

const calls = 12_000;
const sessions = 40;

/** A project with calls of 1,000 input tokens each, whose sessions alternate from call to call. */
function chainWithCalls(): WriteChain {
  const chain = emptyChain();
  chain.db.run(
    `WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ?)
     INSERT INTO usageCall (project, call, context, key, session, subagent, agent, model, at, input, output)
     SELECT ?, 'call-' || i, 0, 'k', 'session-' || (i % ${sessions}), '', 'claude-code', 'claude-opus-4-5', 1767225600000 + i * 1000, 1000, 0 FROM n`,
    calls,
    chain.project,
  );
  return chain;
}

const shownCost = (chain: WriteChain): number => usageSessions(chain, { groupBy: null }).totals.cost?.amount ?? 0;
const costOf = async (chain: WriteChain): Promise<number> => {
  await prepareUsage(chain);
  return shownCost(chain);
};
const atPrice = (perMillion: number): number => (calls * 1_000 * perMillion) / 1e6;
const ownPrice = (chain: WriteChain, input: number): void =>
  void Object.assign(chain, { usageSettings: () => JSON.stringify({ models: { 'claude-opus-4-5': { input, output: 0 } } }) });

describe('prices of many calls', () => {
  test('[N6] every call is priced and summed, and priced again after a change of the prices', async () => {
    const chain = chainWithCalls();
    expect(await costOf(chain)).toBeCloseTo(atPrice(5), 6);
    ownPrice(chain, 7);
    expect(await costOf(chain)).toBeCloseTo(atPrice(7), 6);
  });

  test('[N6] pricing that was interrupted continues at the next question', async () => {
    const chain = chainWithCalls();
    expect(await costOf(chain)).toBeCloseTo(atPrice(5), 6);
    ownPrice(chain, 7);
    const { transaction } = chain.db;
    let left = 2;
    const broken = { ...chain, db: { ...chain.db, transaction: <T>(work: () => T): T => (left-- > 0 ? transaction(work) : fail()) } };
    ownPrice(broken, 7);
    await expect(prepareUsage(broken)).rejects.toThrow('interrupted');
    expect(await costOf(chain)).toBeCloseTo(atPrice(7), 6);
  });

  test('[N6] a question shows the stored prices, and the preparation prices new calls', { tags: 'long' }, async () => {
    const chain = chainWithCalls();
    await loadPrices();
    expect(shownCost(chain)).toBe(0);
    expect(await costOf(chain)).toBeCloseTo(atPrice(5), 6);
    chain.db.run("UPDATE usageCall SET priced = NULL, cost = NULL, input = 2000 WHERE project = ? AND session = 'session-3'", chain.project);
    expect(shownCost(chain)).toBeCloseTo(atPrice(5), 6);
    expect(await costOf(chain)).toBeCloseTo(atPrice(5) + (calls / sessions) * 1_000 * 5e-6, 6);
    ownPrice(chain, 7);
    expect(await costOf(chain)).toBeCloseTo(atPrice(7) + (calls / sessions) * 1_000 * 7e-6, 6);
  });

  test('[N6] calls that arrive by thousands are priced with those before them', async () => {
    const chain = chainWithCalls();
    expect(await costOf(chain)).toBeCloseTo(atPrice(5), 6);
    chain.db.run("UPDATE usageCall SET priced = NULL, cost = NULL, input = 2000 WHERE project = ? AND session < 'session-3'", chain.project);
    const doubled = chain.db.one<{ n: number }>('SELECT count(*) AS n FROM usageCall WHERE input = 2000')?.n ?? 0;
    expect(doubled).toBeGreaterThan(5_000);
    expect(await costOf(chain)).toBeCloseTo(atPrice(5) + (doubled * 1_000 * 5) / 1e6, 6);
  });
});

function fail(): never {
  throw new Error('interrupted');
}
