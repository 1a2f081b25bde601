import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { CommitSeq } from '../../../src/core/base/index.js';
import type { WriteChain } from '../../../src/core/chain/index.js';
import { countCalls, loadPrices, prepareUsage, usageSessions } from '../../../src/core/usage/index.js';
import { numberNames, numberOf, numbersOf } from '../../../src/core/usage/names.js';
import { importInto } from '../../support/imports.js';
import { emptyChain } from '../../support/project.js';

const calls = 12_000;
const sessions = 40;

/** A project with calls of 1,000 input tokens each, whose sessions alternate from call to call. */
function chainWithCalls(): WriteChain {
  const chain = emptyChain();
  const numbered = numberNames(chain);
  const [first = null] = Array.from({ length: sessions }, (_, at) => numbered(`session-${at}`));
  chain.db.run(
    `WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ?)
     INSERT INTO usageCall (project, call, context, key, session, subagent, agent, model, at, input, output)
     SELECT ?, 'call-' || i, 0, 'k', ? + (i % ${sessions}), ?, ?, ?, 1767225600000 + i * 1000, 1000, 0 FROM n`,
    calls,
    chain.project,
    [first, ...['', 'claude-code', 'claude-opus-4-5'].map(numbered)],
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
  test('[N6] every call is priced and summed, and priced again after a change of the prices', { tags: 'long' }, async () => {
    const chain = chainWithCalls();
    expect(await costOf(chain)).toBeCloseTo(atPrice(5), 6);
    ownPrice(chain, 7);
    expect(await costOf(chain)).toBeCloseTo(atPrice(7), 6);
  });

  // Each question about usage prepares first: it once priced every call again.
  test('[N6] a preparation without new calls changes nothing', async () => {
    const chain = chainWithCalls();
    await prepareUsage(chain);
    const changes = () => chain.db.one('SELECT total_changes() AS changes');
    const before = changes();
    await prepareUsage(chain);
    expect(changes()).toEqual(before);
  });

  test('[N6] calls that are counted when their contents arrive have their prices at once', async () => {
    const chain = emptyChain();
    importInto(chain, join(import.meta.dirname, '../../fixtures/codex'));
    await prepareUsage(chain);
    const priced = () => chain.db.all('SELECT call, cost FROM usageCall ORDER BY call');
    const before = priced();
    for (const table of ['usageCopy', 'usageCall', 'usageQuarter', 'usageSum']) chain.db.run(`DELETE FROM ${table}`);
    const commits = chain.db.all<{ seq: CommitSeq }>('SELECT seq FROM commits ORDER BY seq').map(({ seq }) => seq);
    countCalls(chain, commits.slice(3));
    countCalls(chain, commits.slice(0, 3));
    expect(priced()).toEqual(before);
    expect(before).toContainEqual({ call: expect.any(String), cost: expect.any(Number) });
  });

  test('[N6] pricing that was interrupted continues at the next question', { tags: 'long' }, async () => {
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
    chain.db.run(
      `UPDATE usageCall SET priced = NULL, cost = NULL, input = 2000 WHERE project = ? AND session = ${numberOf("'session-3'")}`,
      chain.project,
    );
    expect(shownCost(chain)).toBeCloseTo(atPrice(5), 6);
    expect(await costOf(chain)).toBeCloseTo(atPrice(5) + (calls / sessions) * 1_000 * 5e-6, 6);
    ownPrice(chain, 7);
    expect(await costOf(chain)).toBeCloseTo(atPrice(7) + (calls / sessions) * 1_000 * 7e-6, 6);
  });

  test('[N6] calls that arrive by thousands are priced with those before them', async () => {
    const chain = chainWithCalls();
    expect(await costOf(chain)).toBeCloseTo(atPrice(5), 6);
    chain.db.run(
      `UPDATE usageCall SET priced = NULL, cost = NULL, input = 2000 WHERE project = ? AND session IN ${numbersOf("SELECT name FROM usageName WHERE name LIKE 'session-%' AND name < 'session-3'")}`,
      chain.project,
    );
    const doubled = chain.db.one<{ n: number }>('SELECT count(*) AS n FROM usageCall WHERE input = 2000')?.n ?? 0;
    expect(doubled).toBeGreaterThan(5_000);
    expect(await costOf(chain)).toBeCloseTo(atPrice(5) + (doubled * 1_000 * 5) / 1e6, 6);
  });
});

function fail(): never {
  throw new Error('interrupted');
}
