import { appendFileSync, mkdirSync, truncateSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { entries, tips, type WriteChain } from '../../../src/core/chain/index.js';
import { namedFile } from '../../../src/core/files/index.js';
import { follow, importGrowth } from '../../../src/core/follow/index.js';
import { historyFolders, listSources } from '../../../src/core/import/index.js';
import { growing } from '../../support/growing.js';
import { importInto, said } from '../../support/imports.js';
import { emptyChain, scratch } from '../../support/project.js';
import { linesOf, session } from '../formats/copilot-cli/lines.js';

/** What a model would see at the end of each branch, with the keys. */
const contextsOf = (chain: WriteChain): string[] =>
  tips(chain, {})
    .map(({ id }) => JSON.stringify(entries(chain, { id, stop: 'root' }).entries.map(({ source: _, ...entry }) => entry)))
    .sort();

const rows = growing.map((one) => [`${one.agent} (${one.place})`, one] as const);

test.each(rows)('[L1, L2] %s: each step adds exactly the new entries', (_, { place, write }) => {
  const path = join(scratch(), place);
  mkdirSync(dirname(path), { recursive: true });
  const chain = emptyChain();
  const added: number[] = [];
  const take = (what: 'settled' | 'resting' | 'all'): void => {
    const taken = importGrowth(chain, namedFile(path), { what, granularity: 'turn_boundary' });
    expect(taken.skipped).toEqual([]);
    added.push(taken.entries);
  };
  for (const _step of write(path)) {
    take('settled');
    take('resting');
  }
  const meanwhile = added.filter((count) => count > 0).length;
  take('all');
  const whole = emptyChain();
  const { entries: all } = importInto(whole, path);
  expect(contextsOf(chain)).toEqual(contextsOf(whole));
  expect(added.reduce((sum, count) => sum + count, 0)).toBe(all);
  expect(meanwhile, `entries after each look: ${added}`).toBeGreaterThan(0);
  expect(importInto(chain, path)).toMatchObject({ commits: 0, entries: 0 });
});

test('[L1, L2, F44] histories of every agent are followed while they are written', { tags: 'long' }, async () => {
  const chain = emptyChain(() => performance.timeOrigin + performance.now());
  const homes = growing.map((one, at) => ({ ...one, home: join(scratch(), String(at)) }));
  const live = await follow(chain, {
    places: homes.flatMap(({ agent, home }) => historyFolders({ agent, root: home }).map((path) => ({ path, agent }))),
    from: 'now',
    granularity: 'turn_boundary',
    isRunning: () => true,
    times: { settle: 5, maxWait: 40, rest: 60, quiet: 120, patience: 600_000 },
  });
  onTestFinished(() => live.close());
  const written = homes.map(({ home, place, write }) => {
    mkdirSync(dirname(join(home, place)), { recursive: true });
    return write(join(home, place))[Symbol.iterator]();
  });
  for (let left = written; left.length > 0; ) {
    left = left.filter((steps) => !steps.next().done);
    await new Promise((resume) => setImmediate(resume));
  }
  const followed = (home: string): boolean => listSources(chain).some(({ path }) => path.startsWith(home));
  await vi.waitFor(() => expect(homes.filter(({ home }) => !followed(home)).map(({ place }) => place)).toEqual([]), {
    timeout: 60_000,
    interval: 50,
  });
  live.flush(true);
  const whole = emptyChain();
  for (const { home, place } of homes) importInto(whole, join(home, place));
  expect(contextsOf(chain)).toEqual(contextsOf(whole));
  expect(live.status().problems).toEqual([]);
});

test('[F35] a rewind of Copilot, which cuts the file, keeps the branch that was followed', () => {
  const chain = emptyChain();
  const path = join(scratch(), 'events.jsonl');
  const take = () => importGrowth(chain, namedFile(path), { what: 'resting', granularity: 'turn_boundary' });
  const rewound = session.findIndex(({ data }) => JSON.stringify(data).includes('Overload'));
  const again = [
    { ...session[rewound], id: 'again', data: { content: 'Another way' } },
    { ...session.at(-1), id: 'other' },
  ];
  appendFileSync(path, linesOf(session));
  take();
  const before = contextsOf(chain);
  truncateSync(path, linesOf(session.slice(0, rewound)).length);
  expect(take()).toMatchObject({ commits: 0, entries: 0 });
  appendFileSync(path, linesOf(again));
  expect(take()).toMatchObject({ entries: 2 });
  expect(contextsOf(chain)).toEqual(expect.arrayContaining(before));
  const other = tips(chain, {}).find(({ id }) => said(chain, id, 'root').includes('user text  Another way'));
  expect(said(chain, other?.id as never, 'root').slice(-3)).toEqual(['assistant text  Done.', 'user text  Another way', 'assistant text  OK']);
});
