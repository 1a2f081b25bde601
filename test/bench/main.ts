import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { asideOf, holds, measureOnce, type Row, shown } from './measure.js';
import { report } from './report.js';
import { besideParts, ccusage } from './rows/beside.js';
import { captureParts } from './rows/capture.js';
import { cardParts } from './rows/cards.js';
import { commitParts } from './rows/commits.js';
import { documentParts } from './rows/documents.js';
import { engineParts } from './rows/engine.js';
import { exportParts } from './rows/exports.js';
import { hubParts } from './rows/hub.js';
import { importParts } from './rows/imports.js';
import { langGraphParts } from './rows/langgraph.js';
import { largeParts } from './rows/large.js';
import { memoryParts } from './rows/memory.js';
import { readingParts } from './rows/reading.js';
import { replayParts } from './rows/replay.js';
import { requestParts } from './rows/requests.js';
import { runnerParts } from './rows/runner.js';
import { scaleParts } from './rows/scale.js';
import { searchParts } from './rows/search.js';
import { storageParts } from './rows/storage.js';
import { ticketParts } from './rows/tickets.js';
import { usageParts } from './rows/usage.js';
import { walkParts } from './rows/walks.js';
import { wholeParts } from './rows/whole.js';
import { windowParts } from './rows/window.js';

const [out, ...words] = process.argv.slice(2);
if (!out) throw new Error('usage: main FOLDER [--quick] [ROW…]');
const quick = words.includes('--quick');
if (quick) measureOnce();
const named = words.filter((word) => word !== '--quick');
const parts = [
  ...commitParts,
  ...walkParts,
  ...storageParts,
  ...importParts,
  ...besideParts,
  ...windowParts,
  ...wholeParts,
  ...memoryParts,
  ...documentParts,
  ...engineParts,
  ...scaleParts,
  ...largeParts,
  ...exportParts,
  ...langGraphParts,
  ...readingParts,
  ...cardParts,
  ...requestParts,
  ...runnerParts,
  ...replayParts,
  ...captureParts,
  ...ticketParts,
  ...searchParts,
  ...usageParts,
  ...hubParts,
].filter((part) => named.length === 0 || part.rows.some((row) => named.includes(row)));
const unknown = named.filter((row) => !parts.some((part) => part.rows.includes(row)));
if (unknown.length > 0) throw new Error(`no row is called ${unknown.join(' or ')}`);

const widths = [11, 64, 9, 9, 9, 6];
const cells = (texts: readonly string[]): string =>
  texts.map((text, place) => (place < 2 ? text.padEnd(widths[place] ?? 0) : text.padStart(widths[place] ?? 0))).join(' ');
const limit = (row: Row, value: number): string => `${row.better === 'less' ? '≤' : '≥'} ${shown(value)}`;
const verdict = (row: Row): string => (row.ratio === undefined ? '–' : holds(row, row.stretch) ? 'yes++' : holds(row, row.must) ? 'yes' : 'NO');

/** Parts that take longer say so: a whole run lasts as long as they do. */
const slowSeconds = 10;

/** Work on the disk of the repository, because a temporary folder may be in memory. */
const folder = mkdtempSync(join(out, 'work-'));
const rows: Row[] = [];
const failed: { readonly id: string; readonly why: string }[] = [];

function print(row: Row): void {
  const ratio = row.ratio === undefined ? '–' : shown(row.ratio);
  console.log(cells([row.id, row.what, ratio, limit(row, row.must), limit(row, row.stretch), verdict(row)]));
  const aside = asideOf(row);
  if (aside) console.log(`${' '.repeat(12)}${aside}`);
}

if (named.length === 0)
  console.log(
    `${quick ? 'Smaller material and one round, for a look.' : 'All rows: half an hour, and as long again to make large projects once.'} In the background: npm run bench${quick ? ' -- --quick' : ''} > bench.log 2>&1 &`,
  );
console.log(`\n${cells(['row', 'measured in this run', 'ratio', 'must', 'stretch', 'holds'])}`);
const from = performance.now();
try {
  for (const part of parts) {
    const began = performance.now();
    try {
      for (const row of await part.run(folder, { quick })) {
        rows.push(row);
        print(row);
      }
    } catch (error) {
      // The other rows are still measured.
      const why = error instanceof Error ? error.message : String(error);
      for (const id of part.rows) failed.push({ id, why: why.split('\n')[0] ?? '' });
      console.log(`${part.rows.join(', ')}: failed: ${why}`);
    }
    const seconds = (performance.now() - began) / 1_000;
    if (seconds >= slowSeconds) console.log(`${' '.repeat(12)}${part.rows.join(', ')}: took ${Math.round(seconds)} s`);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

const machine = { node: process.version, platform: process.platform, cores: availableParallelism(), cpu: cpus()[0]?.model.trim() ?? 'not recorded' };
/** The versions of Stemma and of the programs that the rows compare it with. */
function readVersions(): Readonly<Record<string, string>> {
  const read = (file: string) => JSON.parse(readFileSync(file, 'utf8')) as { version: string; dependencies?: Record<string, string> };
  const peers = read(join('test', 'peers', 'package.json')).dependencies ?? {};
  const { stdout } = spawnSync('git', ['--version'], { encoding: 'utf8' });
  return {
    Stemma: read('package.json').version,
    SQLite: new Database(':memory:').prepare('SELECT sqlite_version()').pluck().get() as string,
    ...Object.fromEntries(['@langchain/langgraph', 'claude-replay', 'cbor-x'].flatMap((name) => (peers[name] ? [[name, peers[name]]] : []))),
    ccusage,
    ...(stdout && { git: stdout.trim().replace('git version ', '') }),
  };
}

const at = new Date().toISOString();
const versions = readVersions();
const minutes = (performance.now() - from) / 60_000;
writeFileSync(
  join(out, '..', 'bench.json'),
  `${JSON.stringify({ at, machine, versions, rows: rows.map((row) => ({ ...row, holdsMust: holds(row, row.must), holdsStretch: holds(row, row.stretch) })), failed }, null, 2)}\n`,
);
// The page tells of whole runs only.
const isWhole = named.length === 0 && !quick;
if (isWhole) writeFileSync(join(out, '..', '..', 'docs', 'performance.md'), report({ at, machine, versions, minutes, rows, failed }));
const missed = rows.filter((row) => holds(row, row.must) === false);
const names = (all: readonly { readonly id: string }[]): string => (all.length > 0 ? `: ${all.map((row) => row.id).join(', ')}` : '');
console.log(
  `\n${rows.length} rows, ${missed.length} miss their must${names(missed)}; ${failed.length} failed${names(failed)}; written to out/bench.json${isWhole ? ' and docs/performance.md' : ''}`,
);
if (failed.length > 0) process.exitCode = 1;
