import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { blake3Of } from '../../../src/core/artifacts/index.js';
import type { Project } from '../../../src/core/project/index.js';
import { importAll, openEngine } from '../engine.js';
import { sessionFile } from '../material.js';
import { medians, type Part, plain, type Row, timed } from '../measure.js';

/** What every import must do at least: cut the file into lines and parse each. */
function parseOnly(files: readonly string[]): void {
  for (const file of files) eachLine(readFileSync(file), (bytes, start, end) => JSON.parse(bytes.toString('utf8', start, end)));
}

/** What every re-import that trusts nothing must do at least: cut into lines and hash each. */
function hashOnly(files: readonly string[]): void {
  for (const file of files) eachLine(readFileSync(file), (bytes, start, end) => blake3Of(bytes.subarray(start, end)));
}

function eachLine(bytes: Buffer, visit: (bytes: Buffer, start: number, end: number) => unknown): void {
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(10, start);
    visit(bytes, start, end);
    start = end + 1;
  }
}

function imports(folder: string): Row[] {
  const at = mkdtempSync(join(folder, 'imports-'));
  const files = [11, 12, 13, 14].map((seed) => {
    const file = join(at, `0000000${seed}-0000-4000-8000-000000000000.jsonl`);
    writeFileSync(file, sessionFile(8 * 1024 * 1024, seed));
    return file;
  });
  const megabytes = files.reduce((sum, file) => sum + readFileSync(file).length, 0) / 1e6;
  const stored = openEngine(join(at, 'stored'));
  const first = importAll(stored.chain, files);
  if (first.skipped.length || first.sessions !== files.length) throw new Error(`the material does not import: ${JSON.stringify(first.skipped[0])}`);
  const ms = medians({
    parse: plain(() => parseOnly(files)),
    hash: plain(() => hashOnly(files)),
    first: timed({
      prepare: (round: number) => openEngine(join(at, `fresh-${round}`)),
      run: (engine: Project) => importAll(engine.chain, files),
      clean: (engine: Project) => {
        engine.close();
        rmSync(engine.dir, { recursive: true, force: true });
      },
    }),
    again: plain(() => importAll(stored.chain, files)),
  });
  stored.close();
  rmSync(at, { recursive: true, force: true });
  const speed = (time: number): number => Math.round((megabytes / time) * 1_000);
  const figures = {
    parseMBs: speed(ms.parse),
    importMBs: speed(ms.first),
    hashMBs: speed(ms.hash),
    againMBs: speed(ms.again),
    commits: first.commits,
  };
  return [
    {
      id: 'T18',
      what: 'import, durable per file, over the speed of JSON.parse alone',
      ratio: ms.parse / ms.first,
      must: 0.4,
      stretch: 0.55,
      better: 'more',
      figures,
    },
    {
      id: 'T19',
      what: 're-import of unchanged files over line scan + blake3 per line',
      ratio: ms.hash / ms.again,
      must: 0.8,
      stretch: 2,
      better: 'more',
    },
  ];
}

export const importParts: readonly Part[] = [{ rows: ['T18', 'T19'], run: imports }];
