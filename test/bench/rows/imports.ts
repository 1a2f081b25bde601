import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { blake3Of } from '../../../src/core/artifacts/index.js';
import type { Timestamp } from '../../../src/core/base/index.js';
import { atOnce } from '../../../src/core/base/index.js';
import { writable } from '../../../src/core/chain/index.js';
import { bureauAgent, claudeCode, type ImportableFormat, importableFormats } from '../../../src/core/formats/index.js';
import type { Project } from '../../../src/core/project/index.js';
import { indexInPieces } from '../../../src/core/search/index.js';
import { importAll, openEngine } from '../engine.js';
import { sessionFile } from '../material.js';
import { medians, type Part, plain, type Row, type Run, timed } from '../measure.js';

/** The floor of an import: split the file into lines and parse each. */
function parseOnly(files: readonly string[]): void {
  for (const file of files) eachLine(readFileSync(file), (bytes, start, end) => JSON.parse(bytes.toString('utf8', start, end)));
}

/** The floor of a re-import that verifies everything: split into lines and hash each. */
function hashOnly(files: readonly string[]): void {
  for (const file of files) eachLine(readFileSync(file), (bytes, start, end) => blake3Of(bytes.subarray(start, end)));
}

/** A document counts as one line. */
function eachLine(bytes: Buffer, visit: (bytes: Buffer, start: number, end: number) => unknown): void {
  const isDocument = bytes[0] === 0x7b && bytes[1] === 10;
  for (let start = 0; start < bytes.length; ) {
    const end = isDocument ? bytes.length : bytes.indexOf(10, start);
    visit(bytes, start, end);
    start = end + 1;
  }
}

/** A file of a format with about a number of bytes, made by the format's writer. */
function fileOf(format: ImportableFormat, bytes: number, seed: number): Uint8Array {
  const entries = claudeCode.parse(Buffer.from(sessionFile(bytes, seed))).entries.filter((entry) => !entry.marks?.includes('hidden'));
  // Sessions have different ids, because equal ids would be planned as forks.
  let number = seed * 1_000_000;
  const newId = (): string => `00000000-0000-4000-8000-${String(number++).padStart(12, '0')}`;
  const options = { newId, now: '2026-02-03T00:00:00.000Z' as Timestamp, sessionId: newId(), cwd: '/work' };
  const delta = format.write(entries.map(writable), options);
  return format.session?.(delta, options) ?? (format.database ? format.pack?.(delta, options) : undefined) ?? delta;
}

/** Import and re-import of one format, each compared with its floor. */
function importsOf(folder: string, format: ImportableFormat, { quick }: Run): Row[] {
  const at = mkdtempSync(join(folder, 'format-'));
  const files = [21, 22].map((seed) => {
    const file = join(at, `session-${seed}.${format.about.extension}`);
    writeFileSync(file, fileOf(format, (quick ? 0.25 : 8) * 1024 * 1024, seed));
    return file;
  });
  const stored = openEngine(join(at, 'stored'));
  const first = importAll(stored.chain, files);
  if (first.commits === 0) throw new Error(`${format.id} does not import: ${JSON.stringify(first.skipped[0])}`);
  const discarded = (engine: Project): void => {
    engine.close();
    rmSync(engine.dir, { recursive: true, force: true });
  };
  const fresh = { prepare: (round: number) => openEngine(join(at, `fresh-${round}`)), clean: discarded };
  const ms = medians({
    parse: plain(() => parseOnly(files)),
    hash: plain(() => hashOnly(files)),
    first: timed({ ...fresh, run: (engine: Project) => importAll(engine.chain, files) }),
    again: plain(() => importAll(stored.chain, files)),
    searchable: timed({
      prepare: (round: number) => openEngine(join(at, `searched-${round}`)),
      clean: discarded,
      run: (engine: Project) => {
        importAll(engine.chain, files);
        atOnce(indexInPieces(engine.chain));
      },
    }),
  });
  stored.close();
  rmSync(at, { recursive: true, force: true });
  const figures = { parseMs: ms.parse, importMs: ms.first, againMs: ms.again, searchableMs: ms.searchable, commits: first.commits };
  const must = format === claudeCode ? 0.4 : 0.3;
  const row = (id: string, what: string, ratio: number, must: number, stretch: number): Row => ({
    id,
    what: `${format.id}: ${what}`,
    ratio,
    must,
    stretch,
    better: 'more',
  });
  return [
    { ...row('T18 each', 'import over JSON.parse alone', ms.parse / ms.first, must, 0.55), figures },
    row('T19 each', 're-import over line scan + blake3 per line', ms.hash / ms.again, 0.8, 2),
    row('T20', 'import with search ready over JSON.parse alone', ms.parse / ms.searchable, 0.1, 0.18),
  ];
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

/** Joining CBOR deltas as bytes, compared with parsing and writing all of them. */
function joins(): Row[] {
  const entries = claudeCode.parse(Buffer.from(sessionFile(8 * 1024 * 1024, 31))).entries.filter((entry) => !entry.marks?.includes('hidden'));
  const options = { newId: () => '', now: '2026-02-03T00:00:00.000Z' as Timestamp };
  const deltas = Array.from({ length: Math.ceil(entries.length / 8) }, (_, at) =>
    bureauAgent.write(entries.slice(at * 8, at * 8 + 8).map(writable), options),
  );
  const { Encoder } = createRequire(join(process.cwd(), 'test', 'peers', 'package.json'))('cbor-x') as {
    readonly Encoder: new (options: object) => { encode(value: unknown): Uint8Array; decode(bytes: Uint8Array): unknown };
  };
  const library = new Encoder({ mapsAsObjects: true, useRecords: false });
  const ms = medians({
    splice: plain(() => bureauAgent.concat(deltas)),
    library: plain(() => library.encode(deltas.flatMap((delta) => library.decode(delta) as unknown[]))),
  });
  return [
    {
      id: 'T26',
      what: `bureau-agent-v1: ${deltas.length} deltas joined over cbor-x decode + encode`,
      ratio: ms.splice / ms.library,
      must: 0.25,
      stretch: 0.15,
      better: 'less',
      figures: { spliceMs: ms.splice, libraryMs: ms.library },
    },
  ];
}

export const importParts: readonly Part[] = [
  { rows: ['T26'], run: joins },
  { rows: ['T18', 'T19'], run: imports },
  { rows: ['T18 each', 'T19 each', 'T20'], run: (folder, how) => importableFormats.flatMap((format) => importsOf(folder, format, how)) },
];
