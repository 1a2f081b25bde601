import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { derivedName, formatVersion } from '../../../src/core/store/index.js';
import { median, type Part, type Row, type Run } from '../measure.js';
import { views } from '../views.js';

const script = join(dirname(fileURLToPath(import.meta.url)), 'scale.js');

/** Runs the program of `scale.ts` and returns what it printed. */
function scale(...words: readonly string[]): string {
  // Questions have the options of the process that the engine starts for them.
  const option = words[2]?.startsWith('analysis.') ? '--max-semi-space-size=8' : '--max-old-space-size=8192';
  const { status, stdout, stderr } = spawnSync(process.execPath, [option, script, ...words], { encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  return stdout;
}

/**
 * The folder of a project of a kind and size. It is kept for later runs, because a million commits take longer to make than all rows to measure, until
 * the layout of projects changes. What rows add to it is little.
 */
export function made(folder: string, kind: string, size: number): string {
  const kept = join(folder, '..', '..', 'bench-projects');
  const name = `${kind}-${size}-`;
  const at = join(kept, `${name}${formatVersion}-${derivedName}`);
  const done = join(at, 'made');
  if (existsSync(done)) return at;
  mkdirSync(kept, { recursive: true });
  for (const older of readdirSync(kept)) if (older.startsWith(name)) rmSync(join(kept, older), { recursive: true });
  mkdirSync(at);
  const from = performance.now();
  scale('make', kind, at, String(size));
  writeFileSync(done, '');
  console.log(
    `${' '.repeat(12)}made ${size.toLocaleString('en')} ${kind} for this and later runs in ${Math.round((performance.now() - from) / 1_000)} s`,
  );
  return at;
}

interface Asked {
  readonly ms: number;
  readonly peakMegabytes: number;
}

/** The first answer of a procedure in a process of its own. */
function asked(folder: string, [procedure, input]: readonly [string, object]): Asked {
  const { answers, peakMegabytes } = JSON.parse(scale('ask', folder, procedure, JSON.stringify(input))) as {
    answers: { ms: number }[];
    peakMegabytes: number;
  };
  return { ms: answers[0]?.ms ?? 0, peakMegabytes };
}

/** The same, once the pages of the files lie in memory, as after a look at the project on the same day; a quick run looks once. */
function askedAgain(folder: string, ask: readonly [string, object], { quick }: Run): Asked {
  if (!quick) asked(folder, ask);
  const answers = Array.from({ length: quick ? 1 : 3 }, () => asked(folder, ask));
  return { ms: median(answers.map(({ ms }) => ms)), peakMegabytes: Math.max(...answers.map(({ peakMegabytes }) => peakMegabytes)) };
}

const tip = { id: '$tip' };

function longSession(folder: string, { quick }: Run): Row[] {
  const [few, many] = quick ? [1_000, 5_000] : [25_000, 250_000];
  const at = { few: made(folder, 'entries', few), many: made(folder, 'entries', many) };
  const all = views.map(({ procedure, input }) => ({
    name: procedure,
    // A quick run has few processes.
    ...(!quick && { few: asked(at.few, [procedure, input]).ms }),
    many: asked(at.many, [procedure, input]).ms,
  }));
  const worst = all.toSorted((a, b) => b.many - a.many)[0];
  const figures = Object.fromEntries(
    all.flatMap(({ name, few, many }) => [...(few === undefined ? [] : [[`${name} few ms`, few] as const]), [`${name} many ms`, many] as const]),
  );
  const what = `first answer of the views at ${many.toLocaleString('en')} entries in one session, in seconds: the slowest`;
  return [{ id: 'T38', what, ratio: (worst?.many ?? 0) / 1_000, must: 1, stretch: 0.4, better: 'less', note: worst?.name ?? '', figures }];
}

const lists: readonly (readonly [string, object])[] = [
  ['project.info', {}],
  ['context.show', tip],
  ['session.list', { limit: 100 }],
  ['context.graph', { offset: 0, limit: 100, together: true }],
  ['context.graphMap', { together: true }],
  ['search.query', { text: 'queue retries', limit: 20 }],
];

/** The commits of a small and of a large project. */
export const commitCounts = (quick: boolean): readonly [few: number, many: number] => (quick ? [1_000, 10_000] : [10_000, 1_000_000]);

function manyCommits(folder: string, how: Run): Row[] {
  const [few, many] = commitCounts(how.quick);
  const at = { few: made(folder, 'commits', few), many: made(folder, 'commits', many) };
  const all = lists.map((list) => ({ name: list[0], few: askedAgain(at.few, list, how).ms, many: askedAgain(at.many, list, how).ms }));
  const ratios = all.map(({ name, few, many }) => ({ name, ratio: many / few })).sort((a, b) => b.ratio - a.ratio);
  return [
    {
      id: 'T44',
      what: `${many.toLocaleString('en')} commits over ${few.toLocaleString('en')}, first answers: the slowest of ${lists.length}`,
      ratio: ratios[0]?.ratio,
      must: 2,
      stretch: 1.2,
      better: 'less',
      note: ratios.map(({ name, ratio }) => `${name} ${ratio.toFixed(2)}`).join(', '),
      figures: Object.fromEntries(all.map(({ name, many }) => [`${name} ms`, many])),
    },
  ];
}

/** Lists, sums, questions and files over one library of many sessions, which is made once: 200 calls and 600 entries in each. */
function manySessions(folder: string, how: Run): Row[] {
  const size = how.quick ? 50 : 5_000;
  const at = made(folder, 'sessions', size);
  const of = `over ${size.toLocaleString('en')} sessions`;
  const files = mkdtempSync(join(folder, 'exported-'));
  const fileAt = (name: string): string => join(files, name);
  const all = {
    lists: [
      ['usage.calls', {}],
      ['usage.calls', { filter: { miss: true } }],
      ['usage.sessions', { limit: 100 }],
      ['session.list', { limit: 500 }],
      ['request.list', { limit: 100 }],
      ['context.graph', { offset: 0, limit: 100, together: true }],
    ],
    usage: [
      ['analysis.sums', {}],
      ['analysis.tools', {}],
    ],
    questions: [
      ['analysis.sql', { sql: 'SELECT model, count(*), sum(cost) FROM calls GROUP BY 1' }],
      ['analysis.sql', { sql: 'SELECT name, count(*), sum(is_error) FROM tool_calls GROUP BY 1' }],
      ['analysis.sql', { sql: 'SELECT kind, count(*), sum(tokens) FROM entries GROUP BY 1' }],
      ['finding.list', {}],
    ],
    calls: [['analysis.export', { sql: 'SELECT * FROM calls', format: 'parquet', path: fileAt('calls.parquet') }]],
    dataset: [['analysis.export', { dataset: true, format: 'parquet', path: fileAt('dataset') }]],
  } as const satisfies Record<string, readonly (readonly [string, object])[]>;
  const measured = Object.fromEntries(
    Object.entries(all).map(([kind, asks]) => [
      kind,
      asks.map((ask: readonly [string, object]) => ({
        name: `${ask[0]} ${JSON.stringify(ask[1])}`.slice(0, 60),
        ...(kind === 'lists' ? askedAgain : asked)(at, ask, how),
      })),
    ]),
  ) as Record<keyof typeof all, (Asked & { readonly name: string })[]>;
  rmSync(files, { recursive: true });
  const row = (id: string, what: string, kind: keyof typeof all, of: 'ms' | 'peakMegabytes', per: number, must: number, stretch: number): Row => {
    const worst = measured[kind].toSorted((a, b) => b[of] - a[of])[0];
    const figures = Object.fromEntries(
      measured[kind].flatMap(({ name, ms, peakMegabytes }) => [[`${name} ms`, ms] as const, [`${name} MB`, peakMegabytes] as const]),
    );
    return { id, what, ratio: (worst?.[of] ?? 0) / per, must, stretch, better: 'less', note: worst?.name ?? '', figures };
  };
  return [
    row('T42', `peak memory of lists and sums ${of}, in MB: the largest`, 'lists', 'peakMegabytes', 1, 300, 150),
    row('W15-lists', `first answers of lists ${of}, in ms: the slowest`, 'lists', 'ms', 1, 200, 80),
    row('W15-opens', `sums of Usage ${of}, in ms: the slower`, 'usage', 'ms', 1, 500, 200),
    row('W15-sql', `questions ${of}, in seconds: the slowest`, 'questions', 'ms', 1_000, 15, 5),
    row('W16', `Parquet of all calls ${of}, in seconds`, 'calls', 'ms', 1_000, 15, 8),
    row('W16-memory', `peak memory of the Parquet file ${of}, in MB`, 'calls', 'peakMegabytes', 1, 300, 150),
    row('W16-dataset', `Parquet of the whole project ${of}, in seconds`, 'dataset', 'ms', 1_000, 60, 30),
  ];
}

export const scaleParts: readonly Part[] = [
  { rows: ['T38'], run: longSession },
  { rows: ['T42', 'W15-lists', 'W15-opens', 'W15-sql', 'W16', 'W16-memory', 'W16-dataset'], run: manySessions },
  { rows: ['T44'], run: manyCommits },
];
