import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { settingsFrom } from '../../../src/core/usage/settings.js';
import { desk } from '../../support/desk.js';
import { scratch } from '../../support/project.js';

const cases = join(import.meta.dirname, '../../fixtures/cases');

async function imported(...paths: string[]) {
  const dataDir = scratch();
  const { call } = desk(dataDir);
  await call.project.create({ dir: join(scratch(), 'p.stemma') });
  for await (const _ of await call.import.run({ paths })) void _;
  return { call, dataDir };
}

test('[N23] a reply in steps has the window of the last one, and its advisor is a call', async () => {
  const { call } = await imported(join(cases, 'advisor-iterations'));
  const { calls } = await call.usage.calls({});
  expect(
    calls
      .toSorted((a, b) => (b.window ?? 0) - (a.window ?? 0))
      .map(({ model, window, advisor, beside, cost }) => [model, window, advisor, beside, cost?.amount.toFixed(4)]),
  ).toEqual([
    ['claude-sonnet-4-6', 117_551, undefined, undefined, '0.1048'],
    ['claude-opus-4-8', 100_000, true, 'advisor', '0.5500'],
  ]);
  const [tip] = await call.context.tips({});
  const { entries } = await call.context.entries({ id: tip?.id ?? '' });
  expect(JSON.stringify(entries)).toContain('Try the other way');
  expect(await call.usage.context({ id: tip?.id ?? '' })).toMatchObject({ counted: 117_551 });
});

test('[N23] speed, tier and searches are shown with the call and set its price', async () => {
  const fast = await imported(join(cases, 'fast-mode'));
  expect((await fast.call.usage.calls({})).calls.map(({ speed, cost }) => [speed, cost?.amount])).toEqual([
    ['fast', 60],
    [undefined, 30],
  ]);
  const priority = await imported(join(cases, 'codex-service-tier'));
  expect((await priority.call.usage.calls({})).calls.map(({ tier, cost }) => [tier, cost?.amount.toFixed(2)])).toEqual([
    ['priority', '36.25'],
    ['default', '0.80'],
  ]);
  const search = await imported(join(cases, 'web-search-cost'));
  expect((await search.call.usage.calls({})).calls).toMatchObject([{ serverTools: { webSearch: 3 } }]);
});

test('[N24] an agent’s larger sum makes a call beside the conversation, a smaller one a drift', async () => {
  const folder = scratch();
  const source = join(cases, 'cost-state/c6a3d6f9-2d8e-425d-a92c-cdbb6ca9a6e4.jsonl');
  const path = join(folder, 'c6a3d6f9-2d8e-425d-a92c-cdbb6ca9a6e4.jsonl');
  const { call } = await imported(source);
  expect((await call.usage.calls({})).calls.map(({ model, window, beside }) => [model, window, beside])).toEqual([
    ['claude-opus-4-8', 1_000, undefined],
    ['claude-haiku-4-5-20251001', 20_000, 'calls that stand in no line'],
  ]);
  expect((await call.session.list({})).sessions).toMatchObject([{ peakTokens: 1_000, limit: 1_000_000 }]);
  expect((await call.session.list({})).sessions[0]?.drift).toBeUndefined();
  // Sums that are smaller than the calls in the lines remove nothing.
  writeFileSync(path, readFileSync(source, 'utf8').replace('"inputTokens": 1000', '"inputTokens": 900'));
  const less = await imported(path);
  expect((await less.call.session.list({})).sessions).toMatchObject([{ drift: { recorded: 23_000, counted: 23_100, unit: 'tokens' } }]);
});

test('[N24] the agent’s sum counts too if it is imported after all calls', async () => {
  const source = join(cases, 'cost-state/c6a3d6f9-2d8e-425d-a92c-cdbb6ca9a6e4.jsonl');
  const path = join(scratch(), 'c6a3d6f9-2d8e-425d-a92c-cdbb6ca9a6e4.jsonl');
  const whole = readFileSync(source, 'utf8');
  writeFileSync(path, whole.slice(0, whole.trimEnd().lastIndexOf('\n') + 1));
  const { call } = await imported(path);
  expect((await call.usage.calls({})).calls).toHaveLength(1);
  writeFileSync(path, whole);
  for await (const _ of await call.import.run({ paths: [path] })) void _;
  expect((await call.usage.calls({})).calls.map(({ model, window }) => [model, window])).toEqual([
    ['claude-opus-4-8', 1_000],
    ['claude-haiku-4-5-20251001', 20_000],
  ]);
});

test('a Codex file that is read between a reply and its count has the same calls in the end', async () => {
  const folder = join(cases, 'codex-fork-child-alone');
  const [name = ''] = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.jsonl'));
  const whole = readFileSync(join(folder, name), 'utf8');
  const lines = whole.split('\n').slice(0, -1);
  const path = join(scratch(), basename(name));
  const seen = async (cuts: readonly number[]) => {
    const { call } = await imported(scratch());
    for (const cut of [...cuts, lines.length]) {
      writeFileSync(
        path,
        lines
          .slice(0, cut)
          .map((line) => `${line}\n`)
          .join(''),
      );
      for await (const _ of await call.import.run({ paths: [path] })) void _;
    }
    return (await call.usage.calls({})).calls
      .map(({ tokens, window, replayed, beside }) => JSON.stringify({ tokens, window, replayed, beside }))
      .sort();
  };
  const expected = await seen([]);
  expect(expected).toHaveLength(3);
  for (const cut of lines.keys()) if (lines[cut]?.includes('"token_count"')) expect(await seen([cut])).toEqual(expected);
});

test('[N25] own prices replace the table from their day on, and bad ones are refused by name', async () => {
  const { call, dataDir } = await imported(join(cases, 'fast-mode'));
  expect((await call.price.list({})).models).toMatchObject([
    { model: 'claude-opus-4-8', limit: 1_000_000, source: 'list', rows: [{ input: 5, output: 25 }] },
  ]);
  await call.price.set({
    model: 'claude-opus-4-8',
    from: '2026-08-01',
    rows: [
      { input: 1, output: 2 },
      { above: 500_000, input: 3, output: 4, webSearch: 1 },
    ],
  });
  // What a person reads are names of models, not patterns.
  const { factors, tools, windows } = await call.price.list({});
  for (const { models } of [...factors, ...tools, ...windows]) expect(models).toMatch(/^[\w ,.[\]-]+$/);
  // Twice the price for the fast call, as the table says.
  expect((await call.usage.sessions({})).totals.cost?.amount).toBe(7 + 14);
  expect((await call.price.list({})).models).toMatchObject([{ source: 'own', rows: [{ input: 1 }, { above: 500_000, input: 3 }] }]);
  await call.price.set({ model: 'claude-opus-4-8', from: '2026-12-01', rows: [{ input: 100, output: 100 }] });
  expect((await call.usage.sessions({})).totals.cost?.amount).toBe(21);
  const before = readFileSync(join(dataDir, 'usage.json'), 'utf8');
  await expect(call.price.set({ model: 'm', from: '2026-01-01', rows: [{ input: -1, output: 2 }] })).rejects.toMatchObject({
    code: 'BAD_REQUEST',
    data: { field: 'rows.0.input' },
  });
  await expect(call.price.set({ model: 'm', from: 'soon', rows: [{ input: 1, output: 2 }] })).rejects.toMatchObject({
    code: 'BAD_REQUEST',
    data: { field: 'from' },
  });
  await expect(call.price.remove({ model: 'unknown' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  expect(readFileSync(join(dataDir, 'usage.json'), 'utf8')).toBe(before);
  await call.price.remove({ model: 'claude-opus-4-8' });
  expect((await call.usage.sessions({})).totals.cost?.amount).toBe(90);
  expect(existsSync(join(dataDir, 'usage.json'))).toBe(true);
  // A star stands for any ending. Prices from a later day on are not those of the calls before it.
  await call.price.set({ model: 'claude-*', from: '2026-12-01', rows: [{ input: 1, output: 2 }] });
  expect((await call.price.list({})).models).toMatchObject([{ source: 'list', rows: [{ input: 5 }] }]);
  await call.price.set({ model: 'claude-*', from: '2026-01-01', rows: [{ input: 1, output: 2 }] });
  expect((await call.price.list({})).models).toMatchObject([{ source: 'own', rows: [{ input: 1 }] }]);
});

test('[N25] own prices that contradict each other or are no prices are refused by name', () => {
  const row = { input: 1, output: 2 };
  const of = (...prices: readonly object[]): string => JSON.stringify({ prices });
  const day = { model: 'm', from: '2026-01-01', rows: [row] };
  const refused: Readonly<Record<string, string>> = {
    'rows[0].input is null': of(day).replace('"input":1', '"input":1e999'),
    'prices[0].until is "2027-01-01"': of({ ...day, until: '2027-01-01' }),
    'prices[1] is': of(day, { ...day, rows: [{ input: 3, output: 4 }] }),
    'prices[0].rows[1] is': of({ ...day, rows: [row, { above: 0, input: 3, output: 4 }] }),
    'rows[0].above is 1.5': of({ ...day, rows: [{ above: 1.5, ...row }] }),
    'prices[0].from is "2026-02-31"': of({ ...day, from: '2026-02-31' }),
    'prices[0].from is "2026"': of({ ...day, from: '2026' }),
    'models.m is {"input":3}': JSON.stringify({ models: { m: { input: 3 } } }),
  };
  for (const [named, text] of Object.entries(refused)) expect(() => settingsFrom(text)).toThrow(named);
});

test('[N25] own prices of an exact name come before those of a pattern, whatever their days', () => {
  const priced = (model: string, from: string): object => ({ model, from, rows: [{ input: 1, output: 2 }] });
  const given = [priced('gpt-*', '2026-05-01'), priced('gpt-5*', '2026-02-01'), priced('gpt-5', '2026-01-01'), priced('gpt-5', '2026-03-01')];
  expect(settingsFrom(JSON.stringify({ prices: given })).prices.map(({ model, from }) => `${model} ${from}`)).toEqual([
    'gpt-5 2026-03-01',
    'gpt-5 2026-01-01',
    'gpt-5* 2026-02-01',
    'gpt-* 2026-05-01',
  ]);
});
