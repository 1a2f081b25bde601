import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { createEngine, createSession } from '../../src/core/project/index.js';
import { run } from '../../src/main/cli/program.js';
import { importInto } from '../support/imports.js';
import { scratch } from '../support/project.js';

/** A project with a real session's counts, changed if wanted, and the lines that a command prints about it. */
function commands(fixture = 'two-models.jsonl', change?: (text: string) => string) {
  const dir = scratch();
  vi.stubEnv('STEMMA_DATA_DIR', join(dir, 'data'));
  vi.stubEnv('STEMMA_HOME', join(dir, 'data'));
  const engine = createEngine({
    dataDir: join(dir, 'data'),
    agentRoots: [],
    sampleDir: dir,
    startup: { paths: [], project: null },
    platform: 'linux',
  });
  const project = createSession(engine).use(engine.create({ dir: join(dir, 'p'), name: 'p' }));
  const file = join(import.meta.dirname, '../fixtures/usage', fixture);
  const changed = join(dir, fixture);
  if (change) writeFileSync(changed, change(readFileSync(file, 'utf8')));
  importInto(project.chain, change ? changed : file);
  engine.close();
  return async (...words: string[]): Promise<string> => {
    const lines: string[] = [];
    const write = vi.spyOn(process.stdout, 'write').mockImplementation((text) => lines.push(String(text)) > 0);
    const told = vi.spyOn(process.stderr, 'write').mockImplementation((text) => lines.push(String(text)) > 0);
    await run(['node', 'stemma', ...words, '--trust', '--project', join(dir, 'p.stemma')]);
    write.mockRestore();
    told.mockRestore();
    return lines.join('');
  };
}

test('[N5] stemma usage sums by session, model, day and tool', { tags: 'long' }, async () => {
  const stemma = commands();
  const sessions = await stemma('usage');
  expect(sessions).toMatch(/^total +59 +641 +3,334,164 +423,539 +≥ 1,890 +≥ \$3\.52$/m);
  expect(sessions).toContain('Cost at API prices of 2026-09-23.');
  expect(sessions).toContain('53 replies without an output count');
  expect(await stemma('usage', '--by', 'model')).toMatch(/^claude-sonnet-4-5-20250929 +28 .* not recorded +≥ \$1\.27$/m);
  expect(await stemma('usage', '--by', 'day', '--time-zone', 'UTC')).toMatch(/^2026-01-19 +58 /m);
  const tools = await stemma('usage', 's', '--by', 'tool');
  expect(tools).toMatch(/^tool +uses +≈ in calls +≈ in results +duplicates +≈ × calls +share$/m);
  expect(tools).toMatch(/^Grep +14 /m);
  expect(await stemma('usage', '--by', 'tool')).toBe(tools);
  expect(JSON.parse(await stemma('usage', '--json'))).toMatchObject({ total: 1, totals: { calls: 59 } });
});

test('[N5] stemma usage names sessions by their titles, with the id behind', async () => {
  const stemma = commands('compacted.jsonl');
  expect(await stemma('usage')).toMatch(/^Fix the login +3 +2,600 .* s$/m);
});

test('[N6] stemma usage warns of a day and a session over budget, at API prices', async () => {
  const stemma = commands();
  writeFileSync(join(process.env.STEMMA_DATA_DIR ?? '', 'usage.json'), '{"budgets":{"day":0.5,"session":3}}');
  const warned = await stemma('usage', '--time-zone', 'UTC');
  expect(warned).toMatch(/Over budget: day 2026-01-19 cost ≥ \$2\.94 at API prices, and the budget of a day is \$0\.50\./);
  expect(warned).toMatch(/Over budget: session .+ cost .+ and the budget of a session is \$3\.00\./);
  expect(JSON.parse(await stemma('usage', '--by', 'model', '--json'))).toMatchObject({
    overBudget: [{ kind: 'day', budget: 0.5 }, { kind: 'day' }, { kind: 'session' }],
  });
});

test('[N7] stemma cache lists misses with their cause and loss', async () => {
  const stemma = commands();
  const misses = await stemma('cache', 's');
  expect(misses).toMatch(/^time +cause +lost +cost +prompt or tool$/m);
  expect(misses).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d +expired after 16 min +57,414 tokens +\$0\.33 /m);
  expect(misses).toContain('model changed');
  expect(misses).toContain('6 misses, 307,724 tokens paid again, $1.36 more than a cache read');
  expect(await stemma('cache', 'nonsense')).toContain('no calls of the session nonsense are in this project');
  expect(process.exitCode).toBeGreaterThan(0);
  process.exitCode = undefined;
});

test('[N6, N7] a loss without a price is unknown, not 0', async () => {
  const one = commands(undefined, (text) => text.replaceAll('claude-sonnet-4-5-20250929', 'nobody-1'));
  expect(await one('cache')).toMatch(/6 misses, 307,724 tokens paid again, ≥ \$\d\.\d\d more than a cache read/);
  const both = commands(undefined, (text) => text.replaceAll(/claude-(sonnet|opus|haiku)-[\w-]+/g, 'nobody-1'));
  expect(await both('cache')).toMatch(/misses, [\d,]+ tokens paid again at no known price$/m);
});

test('[N1] stemma log and show have the counted tokens', async () => {
  const stemma = commands();
  const log = await stemma('log');
  expect(log).toMatch(/ctx-[0-9a-f]+ .* 93,300 tokens counted/);
  const [id = ''] = /ctx-[0-9a-f]+/.exec(log) ?? [];
  expect(await stemma('show', id)).toContain('93,300 tokens counted, 47% of 200,000');
});

test('[N1, N6] stemma diff has the counted tokens and the cost of each side', { tags: 'long' }, async () => {
  const stemma = commands();
  const [a = '', b = ''] = (await stemma('log')).match(/ctx-[0-9a-f]+/g) ?? [];
  expect(await stemma('diff', a, b)).toMatch(/93,300 counted and [\d,]+ counted tokens/);
  expect(await stemma('diff', a, b, '--stop', 'root')).toMatch(/≈[\d,]+ and ≈[\d,]+ tokens/);
  expect(await stemma('diff', a, b, '--markdown')).toMatch(/\| 93,300 counted \| [\d,]+ \| [\w, ]+ \| ≥ \$\d+\.\d+ \|/);
});

test('[N10] stemma compaction prints what was counted and what the summary does not mention', async () => {
  const stemma = commands('compacted.jsonl');
  const shown = await stemma('compaction', 's');
  expect(shown).toMatch(/Compaction 1 ctx-[0-9a-f]+/);
  expect(shown).toContain('1,300 → 400 tokens counted');
  expect(shown).toMatch(/not mentioned: 1 of 1 file, /);
  expect(shown).toMatch(/file +\/repo\/src\/login\.ts: read/);
  const [id = ''] = /ctx-[0-9a-f]+/.exec(shown) ?? [];
  expect(await stemma('show', id)).toContain('400 tokens counted');
  expect(JSON.parse(await stemma('compaction', id, '--json'))).toMatchObject([{ commit: id, totals: [{ kind: 'file', lost: 1 }, {}, {}, {}] }]);
  expect(JSON.parse(await stemma('compaction', id.replace('ctx-', ''), '--json', '--limit', '0'))).toMatchObject([{ lost: [] }]);
});
