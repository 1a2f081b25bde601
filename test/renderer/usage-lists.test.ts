// Every number of the place Usage leads to what it consists of: its list has as many rows.
import './page.js';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { AnalysisSums, AnalysisTools } from '../../src/core/contract/index.js';
import { factsIn } from '../../src/renderer/views/usage/facts.js';
import { type ChosenFacets, inRange, matching, ofGroup, type ShownGrouping, toolSlices } from '../../src/renderer/views/usage/slices.js';
import { type ListedCalls, listSql } from '../../src/renderer/views/usage/statements.js';
import { addSlices, type Sums, sumGroups } from '../../src/renderer/views/usage/sums.js';
import { door } from '../support/door.js';

const fixture = (name: string): string => join(import.meta.dirname, '..', 'fixtures', name);
const range = { from: '2000-01-01', to: '2100-01-01' };
const groups: readonly ShownGrouping[] = ['day', 'model', 'repository', 'agent', 'person', 'branch', 'tool', 'session'];

/** The numbers of a row, by what they list. */
const numbersOf = (
  { sessions, calls, toolCalls, misses, errors, results }: Sums,
  isTool: boolean,
): Readonly<Partial<Record<ListedCalls, number>>> => ({
  ...{ sessions, calls: isTool ? toolCalls : calls, errors },
  ...(isTool ? { unknown: toolCalls - results } : { misses }),
});

test('[Q8] the numbers of every row lead to as many sessions, calls, misses and errors', { tags: 'long' }, async () => {
  const { client } = door();
  for await (const _ of await client.import.run({ paths: ['usage', 'codex', 'copilot-cli'].map(fixture) })) void _;
  const { slices, sessions } = factsIn(JSON.parse((await client.analysis.sums({})).packed) as AnalysisSums);
  const tools = toolSlices(JSON.parse((await client.analysis.tools({})).packed) as AnalysisTools, sessions);
  const wrong: unknown[] = [];
  let compared = 0;
  const compare = async (by: ShownGrouping, chosen: ChosenFacets, found: Sums, key?: string, session?: string): Promise<void> => {
    for (const [what, shown] of Object.entries(numbersOf(found, by === 'tool')) as [ListedCalls, number][]) {
      if (shown === 0) continue;
      const sql = listSql(what, { by, range, chosen }, key, session);
      const { rows } = await client.analysis.sql({ sql, limit: 100_000 });
      compared++;
      if (rows.length !== shown) wrong.push({ by, key, session, what, shown, listed: rows.length });
    }
  };
  const model = [...sumGroups(slices, 'model').keys()].find((name) => name !== '') ?? '';
  for (const chosen of [{}, { model: [model] }] as ChosenFacets[]) {
    for (const by of 'model' in chosen ? (['day', 'tool', 'session'] as const) : groups) {
      const shown = matching(inRange(by === 'tool' ? tools : slices, range), chosen);
      await compare(by, chosen, addSlices(shown));
      for (const [key, found] of [...sumGroups(shown, by)].slice(0, 3)) await compare(by, chosen, found, key);
    }
  }
  const [[key, ofModel] = ['', undefined]] = sumGroups(slices, 'model');
  const [[session, found] = ['', undefined]] = sumGroups(ofGroup(slices, 'model', key), 'session');
  expect(ofModel).toBeDefined();
  if (found) await compare('model', {}, found, key, session);
  expect(compared).toBeGreaterThan(50);
  expect(wrong).toEqual([]);
});
