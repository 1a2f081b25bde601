import { appendFileSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { familiesOf } from '../../../src/core/chain/index.js';
import { clustersOf } from '../../../src/core/sessions/clusters.js';
import { callsByCommit, loadPrices, nameIn, sumSessions } from '../../../src/core/usage/index.js';
import { importInto } from '../../support/imports.js';
import { emptyChain, scratch } from '../../support/project.js';

test('the calls of sessions that are kept follow imports, copies and corrections', async () => {
  await loadPrices();
  const chain = emptyChain();
  const fixtures = join(import.meta.dirname, '../../fixtures');
  const rows = () =>
    clustersOf(chain)
      .all.flatMap(({ families }) => callsByCommit(chain, families))
      .map(({ cost, ...row }) => ({ ...row, cost: cost.toFixed(9) }));
  const compare = (): void => {
    const known = rows();
    chain.derived.clear();
    expect(known).toEqual(rows());
  };
  const folder = scratch();
  // The files grow in four steps each. Some repeat the calls of others.
  for (const name of ['claude-code', 'usage', 'codex', 'subagents', 'gemini'])
    for (const file of readdirSync(join(fixtures, name), { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.jsonl'))) {
      const text = readFileSync(join(fixtures, name, file), 'utf8');
      const path = join(folder, `${name}-${file.replaceAll('/', '-')}`);
      for (let at = 0; at < 4; at++) {
        appendFileSync(path, text.slice(Math.floor((text.length * at) / 4), Math.floor((text.length * (at + 1)) / 4)));
        importInto(chain, path);
        compare();
      }
    }
  expect(familiesOf(chain).all.length).toBeGreaterThan(10);
  chain.db.transaction(() => {
    chain.db.run('UPDATE usageCall SET cost = cost * 2, input = input + 1');
    sumSessions(chain, chain.db.column<string>(`SELECT DISTINCT ${nameIn('u.session')} FROM usageCall u`));
  });
  compare();
});
