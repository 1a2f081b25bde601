import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { holds, type Row } from './measure.js';
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

const [out, ...words] = process.argv.slice(2);
if (!out) throw new Error('usage: main FOLDER [--quick] [ROW…]');
const quick = words.includes('--quick');
const named = words.filter((word) => word !== '--quick');
const parts = [
  ...commitParts,
  ...walkParts,
  ...storageParts,
  ...importParts,
  ...wholeParts,
  ...memoryParts,
  ...documentParts,
  ...engineParts,
  ...largeParts,
  ...scaleParts,
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
const shown = (value: number): string => (value > 0 && value < 0.3 ? `1/${Math.round((1 / value) * 10) / 10}` : value.toFixed(value < 100 ? 2 : 0));
const verdict = (row: Row): string => (row.ratio === undefined ? '–' : holds(row, row.stretch) ? 'yes++' : holds(row, row.must) ? 'yes' : 'NO');

/** Work on the disk of the repository, because a temporary folder may be in memory. */
const folder = mkdtempSync(join(out, 'work-'));
const rows: Row[] = [];
console.log(`\n${cells(['row', 'measured in this run', 'ratio', 'must', 'stretch', 'holds'])}`);
try {
  for (const part of parts)
    for (const row of await part.run(folder, { quick })) {
      rows.push(row);
      console.log(
        cells([row.id, row.what, row.ratio === undefined ? '–' : shown(row.ratio), limit(row, row.must), limit(row, row.stretch), verdict(row)]),
      );
      const figures = Object.entries(row.figures ?? {}).map(([name, value]) => `${name} ${Math.round(value * 100) / 100}`);
      const aside = [row.note, figures.join(', ')].filter(Boolean).join('; ');
      if (aside) console.log(`${' '.repeat(12)}${aside}`);
    }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

const machine = { node: process.version, platform: process.platform, cores: availableParallelism() };
const file = join(out, '..', 'bench.json');
writeFileSync(
  file,
  `${JSON.stringify({ at: new Date().toISOString(), machine, rows: rows.map((row) => ({ ...row, must: row.must, holdsMust: holds(row, row.must), holdsStretch: holds(row, row.stretch) })) }, null, 2)}\n`,
);
const missed = rows.filter((row) => holds(row, row.must) === false);
console.log(
  `\n${rows.length} rows, ${missed.length} miss their must${missed.length ? `: ${missed.map((row) => row.id).join(', ')}` : ''}; written to out/bench.json`,
);
