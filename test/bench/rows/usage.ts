import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { tips } from '../../../src/core/chain/index.js';
import type { UsageFilter } from '../../../src/core/contract/index.js';
import type { Project } from '../../../src/core/project/index.js';
import { growthsOf, loadTokenizer, sumSessions, usageCalls, usageSessions } from '../../../src/core/usage/index.js';
import { numberNames } from '../../../src/core/usage/names.js';
import { loadPrices } from '../../../src/core/usage/prices.js';
import { holdOut } from '../../support/accuracy.js';
import * as engine from '../engine.js';
import { sessionFile } from '../material.js';
import { median, medians, type Part, plain, type Row, timed } from '../measure.js';

await loadPrices();
await loadTokenizer();

/** Real sessions, where this machine has them. */
const corpus = join(process.cwd(), '../../shared/transcripts/claude-code');
const nearCorpus = join(process.cwd(), '../shared/transcripts/claude-code');
const realFolder = [corpus, nearCorpus].find((folder) => existsSync(folder));
const realFiles = (): string[] =>
  realFolder === undefined ? [] : readdirSync(realFolder).flatMap((name) => (/^entire-.*\.jsonl$/.test(name) ? [join(realFolder, name)] : []));

type Engine = Pick<typeof engine, 'openEngine' | 'importAll'>;
const { importAll, openEngine } = engine;

const discarded = (engine: Project): void => {
  engine.close();
  rmSync(engine.dir, { recursive: true, force: true });
};

/** T29: an import with usage facts over the import of an engine that was built without them. Both read their own copy of the same code. */
async function factsOfImport(folder: string): Promise<Row[]> {
  const at = mkdtempSync(join(folder, 'facts-'));
  const real = realFiles();
  const files = real.length > 0 ? real : [31, 32].map((seed) => join(at, `session-${seed}.jsonl`));
  if (real.length === 0) for (const [n, file] of files.entries()) writeFileSync(file, sessionFile(8 * 1024 * 1024, 31 + n));
  const without: Engine = await import(pathToFileURL(join(dirname(fileURLToPath(import.meta.url)), 'without-facts.js')).href);
  const processor = { with: [] as number[], without: [] as number[] };
  const importBy = (name: keyof typeof processor, { openEngine, importAll }: Engine) =>
    timed({
      prepare: (round): Project => openEngine(join(at, `${name}-${round}`)),
      run: ({ chain }) => {
        const from = process.threadCpuUsage();
        importAll(chain, files);
        const { user, system } = process.threadCpuUsage(from);
        processor[name].push((user + system) / 1000);
      },
      clean: discarded,
    });
  const ms = medians({ with: importBy('with', engine), without: importBy('without', without) }, 15);
  const [withCpuMs, withoutCpuMs] = [median(processor.with), median(processor.without)];
  const what = `import of ${real.length > 0 ? 'the real sessions' : '16 MB'} with usage facts over without`;
  const figures = { withMs: ms.with, withoutMs: ms.without, withCpuMs, withoutCpuMs, ofCpu: withCpuMs / withoutCpuMs };
  return [{ id: 'T29', what, ratio: ms.with / ms.without, must: 1.05, stretch: 1.02, better: 'less', figures }];
}

/** The counted growths of real sessions, predicted by factors that were fitted to others. */
function accuracy(folder: string): Row[] {
  const what = (which: string): string => `calibrated growth of calls, hold-out: ${which}`;
  const rows = (median: number | undefined, within: number | undefined, figures: Record<string, number>, note?: string): Row[] => [
    {
      id: 'usage-median',
      what: what('median error'),
      ratio: median,
      must: 0.08,
      stretch: 0.05,
      better: 'less',
      figures,
      ...(note !== undefined && { note }),
    },
    {
      id: 'usage-within',
      what: what('share within 15 %'),
      ratio: within,
      must: 0.75,
      stretch: 0.9,
      better: 'more',
      figures,
      ...(note !== undefined && { note }),
    },
  ];
  const files = realFiles();
  if (files.length === 0) return rows(undefined, undefined, {}, 'the real sessions (../shared/transcripts) are not on this machine');
  const engine = openEngine(join(mkdtempSync(join(folder, 'growth-')), 'p'));
  importAll(engine.chain, files);
  const models = usageSessions(engine.chain, { groupBy: 'model' }).rows.map(({ key }) => key);
  const figures: Record<string, number> = {};
  const [errors, within, counts] = [[] as number[], [] as number[], [] as number[]];
  for (const model of models) {
    const found = holdOut(growthsOf(engine.chain, model, Number.POSITIVE_INFINITY));
    if (found.growths < 20) continue;
    figures[`${model} growths`] = found.growths;
    figures[`${model} median error`] = found.medianError;
    figures[`${model} within 15 %`] = found.within15;
    errors.push(found.medianError * found.growths);
    within.push(found.within15 * found.growths);
    counts.push(found.growths);
  }
  discarded(engine);
  const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
  return rows(sum(errors) / sum(counts), sum(within) / sum(counts), figures);
}

/** W15, in the engine: sums over 5,000 sessions with 1,000,000 calls. */
function sums(folder: string, { quick }: { readonly quick: boolean }): Row[] {
  const engine = openEngine(join(mkdtempSync(join(folder, 'sums-')), 'p'));
  const { chain } = engine;
  const [sessions, calls] = quick ? [100, 20_000] : [5_000, 1_000_000];
  chain.db.transaction(() => {
    const numbered = numberNames(chain);
    const names = Array.from({ length: sessions }, (_, n) => `session-${n}`);
    const [first] = names.map(numbered);
    const [other, explore, agent, haiku, opus] = ['', 'Explore', 'claude-code', 'claude-haiku-4-5', 'claude-opus-4-5'].map(numbered);
    chain.db.run(
      `WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${calls - 1})
       INSERT INTO usageCall (project, call, context, key, session, subagent, agent, model, at, input, cacheRead, cacheWrite, output, cost, priced)
       SELECT ${chain.project}, 'c' || i, 1, 'k', ${first} + (i % ${sessions}), CASE WHEN i % 7 = 0 THEN ${explore} ELSE ${other} END, ${agent},
              CASE WHEN i % 5 = 0 THEN ${haiku} ELSE ${opus} END,
              1767225600000 + (i % ${sessions}) * 3600000 + (i / ${sessions}) * 30000, 3, 60000, 900, 250, 0.04, 1 FROM n`,
    );
    sumSessions(chain, names);
  });
  const first = usageSessions(chain, { groupBy: 'session', limit: 100 });
  if (first.totals.calls !== calls) throw new Error(`${first.totals.calls} of ${calls} calls are in the sums`);
  const filters: Readonly<Record<string, UsageFilter>> = {
    all: {},
    model: { model: 'claude-haiku-4-5' },
    agent: { agent: 'claude-code' },
    month: { from: '2026-02-01T00:10:00Z' as never, to: '2026-03-01T00:00:00Z' as never },
    half: { from: '2026-03-01T00:00:00Z' as never },
  };
  const groups = ['session', 'day', 'model', 'repository', 'agent', null] as const;
  const cases = groups.flatMap((groupBy) =>
    Object.entries(filters).map(([name, filter]) => {
      const query = { groupBy, filter, timeZone: 'Europe/Berlin', limit: 100 };
      return [`${groupBy ?? 'totals'} ${name} ms`, plain(() => usageSessions(chain, query))] as const;
    }),
  );
  const ms = medians(Object.fromEntries(cases));
  discarded(engine);
  const most = Math.max(...Object.values(ms));
  const what = `usage.sessions over ${sessions} sessions and ${calls} calls: slowest group and filter, ms over 100`;
  return [
    {
      id: 'W15-sums',
      what,
      ratio: most / 100,
      must: 1,
      stretch: 0.8,
      better: 'less',
      figures: ms,
    },
  ];
}

/** W13, in the engine: the calls of a long session. */
function callsOfSession(folder: string): Row[] {
  const [file] = realFiles().filter((path) => path.includes('0cf3db51'));
  const id = 'W13-calls';
  const what = 'usage.calls of a session with 627 calls, ms over 100';
  if (file === undefined)
    return [{ id, what, ratio: undefined, must: 1, stretch: 0.5, better: 'less', note: 'the real session is not on this machine' }];
  const engine = openEngine(join(mkdtempSync(join(folder, 'calls-')), 'p'));
  importAll(engine.chain, [file]);
  const [tip] = tips(engine.chain, {});
  if (!tip) throw new Error('the session has no tip');
  usageCalls(engine.chain, { id: tip.id });
  const { calls } = medians({ calls: plain(() => usageCalls(engine.chain, { id: tip.id })) });
  discarded(engine);
  return [{ id, what, ratio: calls / 100, must: 1, stretch: 0.5, better: 'less', figures: { ms: calls } }];
}

export const usageParts: readonly Part[] = [
  { rows: ['T29'], run: factsOfImport },
  { rows: ['usage-median', 'usage-within'], run: accuracy },
  { rows: ['W15-sums'], run: sums },
  { rows: ['W13-calls'], run: callsOfSession },
];
