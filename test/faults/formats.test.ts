import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { StemmaError } from '../../src/core/base/index.js';
import { materializedBytes, tips, type WriteChain } from '../../src/core/chain/index.js';
import { kinds, roles } from '../../src/core/contract/index.js';
import { exportContext } from '../../src/core/export/index.js';
import {
  type Format,
  formats,
  type ImportableFormat,
  importableFormats,
  type Member,
  type ParsedEntry,
  type WritableEntry,
} from '../../src/core/formats/index.js';
import { getSource, importPaths, listSources } from '../../src/core/import/index.js';
import { everySort } from '../support/every-sort.js';
import { emptyProject, scratch } from '../support/project.js';
import { filesBelow, root, textAt } from '../support/source.js';

/**
 * Damaged files: real and generated ones, truncated, spliced, duplicated, swapped and filled with noise. Nothing may throw, hang
 * or use unlimited memory; no byte is lost, and unreadable parts are named.
 */
const isShort = process.env.STEMMA_FAULTS === 'short';
const mutations = Number(process.env.STEMMA_FUZZ ?? (isShort ? 200 : 20_000));
/** The cases to run: all of them, one (`STEMMA_CASE=N`), or a part (`STEMMA_CASE=N-M`). */
const part = (() => {
  const [from = 0, to] = (process.env.STEMMA_CASE ?? '0').split('-').map(Number);
  return [from, to ?? (process.env.STEMMA_CASE ? from + 1 : mutations)] as const;
})();
const firstSeed = Number(process.env.STEMMA_SEED ?? 20_261_121);
const maxCpuMs = 2_000;
const maxMegabytes = 1_500;

/** A seeded random generator: the number of a failed case repeats it. */
function chance(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) >>> 0;
    return Math.floor((((state ^ (state >>> 13)) >>> 0) / 4294967296) * below);
  };
}

interface Seed {
  readonly name: string;
  readonly format: Format;
  readonly bytes: Buffer;
}

/** Of large files, the start and pieces from the middle are mutated. */
const window = 96 * 1024;
function piecesOf(name: string, format: Format, bytes: Buffer): Seed[] {
  if (bytes.length <= window) return [{ name, format, bytes }];
  const middle = bytes.indexOf(10, bytes.length >> 1) + 1;
  return [
    { name: `${name} (beginning)`, format, bytes: bytes.subarray(0, window) },
    { name: `${name} (middle)`, format, bytes: bytes.subarray(middle, middle + window) },
  ];
}

/** The format of a file by its start. A document of a runtime has that runtime's format. */
function formatOfFile(path: string, bytes: Buffer): Format | undefined {
  const document = importableFormats.find((format) => format.exports?.recognize(bytes.subarray(0, 4_096), path));
  const [best] = formats.map((format) => ({ format, score: format.recognize(bytes.subarray(0, 65_536), path) })).sort((a, b) => b.score - a.score);
  return document ?? (best && best.score > 0.3 ? best.format : undefined);
}

const realFiles = ['resources/sample', 'test/fixtures'].flatMap((folder) =>
  filesBelow(folder, (path) => /\.jsonl?$/.test(path) && !path.endsWith('.meta.json')),
);
const sharedFiles = ['../shared/transcripts', '../shared/transcripts-more'].flatMap((folder) => {
  try {
    return filesBelow(folder, (path) => /\.(?:jsonl?|eval|traj)$/.test(path) && !/schema\.json$|openapi\.json$/.test(path)).map((path) =>
      join('..', path.replace(/^(\.\.\/)+/, '')),
    );
  } catch {
    return [];
  }
});
/** Databases are damaged, too: each is imported from a file, because SQLite reads no bytes in memory here. */
const databases = filesBelow('test/fixtures', (path) => /\.(?:db|vscdb|sqlite)$/.test(path));

const options = { newId: counter(), now: '2026-02-01T00:00:00.000Z' as never, sessionId: '22222222-2222-4222-8222-222222222222', cwd: '/work' };
function counter(): () => string {
  let number = 0;
  return () => `11111111-1111-4111-8111-${String(number++).padStart(12, '0')}`;
}

const seeds: readonly Seed[] = [
  ...formats.map((format) => ({ name: `written as ${format.id}`, format, bytes: Buffer.from(format.write(everySort, options)) })),
  ...[...realFiles, ...sharedFiles].flatMap((path) => {
    const bytes = readFileSync(join(root, path));
    const format = formatOfFile(path, bytes);
    return format ? piecesOf(path, format, bytes) : [];
  }),
];
/** What a failed case began with: its format and file. */
const labels = seeds.map(({ format, name }) => `${format.id}, ${name}`);
const repeat = (number: number): string => `STEMMA_SEED=${firstSeed} STEMMA_CASE=${number}`;

type Below = ReturnType<typeof chance>;
const mutators: Readonly<Record<string, (bytes: Buffer, below: Below) => Buffer>> = {
  truncate: (bytes, below) => (below(2) ? bytes.subarray(0, below(bytes.length)) : bytes.subarray(below(bytes.length))),
  splice: (bytes, below) => {
    const other = seeds[below(seeds.length)]?.bytes ?? bytes;
    const [from, at] = [below(other.length), below(bytes.length)];
    return Buffer.concat([bytes.subarray(0, at), other.subarray(from, from + below(4_096)), bytes.subarray(at + below(512))]);
  },
  duplicate: (bytes, below) => {
    const at = below(bytes.length);
    const to = below(2) ? Math.max(at, bytes.indexOf(10, at) + 1) : at + below(4_096);
    return Buffer.concat([bytes.subarray(0, to), bytes.subarray(at)]);
  },
  swap: (bytes, below) => {
    const lines = bytes.toString('latin1').split('\n');
    const [a, b] = [below(lines.length), below(lines.length)];
    const swapped = lines.with(a, lines[b] ?? '').with(b, lines[a] ?? '');
    return Buffer.from(swapped.join('\n'), 'latin1');
  },
  noise: (bytes, below) => {
    const noisy = Buffer.from(bytes);
    for (let count = 1 + below(16); count > 0; count--) noisy[below(noisy.length)] = below(256);
    return noisy;
  },
  // Swap names and values: JSON that still parses, with another meaning.
  words: (bytes, below) => {
    const odd = ['null', '[]', '{}', '-1e308', '""', '"\\ud800"', '[[[[[]]]]]', '"__proto__"', 'true', '1e21', '"2026-13-45T99:99:99Z"'];
    const text = bytes.toString('latin1');
    const at = text.indexOf('"', below(text.length));
    const end = text.indexOf('"', at + 1) + 1;
    return at < 0 || end <= 0 ? bytes : Buffer.from(`${text.slice(0, at)}${odd[below(odd.length)]}${text.slice(end)}`, 'latin1');
  },
};
const ways = Object.keys(mutators);

/** A mutated file: its seed and mutations. */
function mutated(number: number): { readonly at: number; readonly seed: Seed; readonly how: string; readonly bytes: Buffer } {
  const below = chance(firstSeed + number);
  const at = below(seeds.length);
  const seed = seeds[at] as Seed;
  const used: string[] = [];
  let { bytes } = seed;
  for (let count = 1 + below(3); count > 0 && bytes.length > 0; count--) {
    const way = ways[below(ways.length)] as string;
    used.push(way);
    bytes = (mutators[way] as (typeof mutators)[string])(bytes, below);
  }
  return { at, seed, how: used.join(', '), bytes };
}

const fail = (what: string): never => {
  throw new Error(what);
};
const check = (holds: boolean, what: () => string): void => void (holds || fail(what()));

function checkEntries(entries: readonly ParsedEntry[], length: number): void {
  for (const { key, role, kind, tokens, raw, text } of entries) {
    check(typeof key === 'string' && key.length > 0, () => `an entry has no key`);
    check(roles.includes(role) && kinds.includes(kind), () => `${key} is a ${role} ${kind}`);
    check(Number.isSafeInteger(tokens) && tokens >= 0, () => `${key} has ${tokens} tokens`);
    check(text === undefined || typeof text === 'string', () => `${key} has a text of another type`);
    check(!raw || (raw.start >= 0 && raw.start <= raw.end && raw.end <= length), () => `${key} stands at ${raw?.start}-${raw?.end} of ${length}`);
  }
}

/** A format may throw only an error with a message for missing input. */
function refusing(work: () => unknown): void {
  try {
    work();
  } catch (error) {
    if (!(error instanceof StemmaError)) throw error;
  }
}

const writable = ({ tokens: _, raw: __, ...entry }: ParsedEntry): WritableEntry => entry;

function checkFormat(format: Format, bytes: Buffer, below: Below): void {
  const score = format.recognize(bytes.subarray(0, 65_536), '/x/y.jsonl');
  check(score >= 0 && score <= 1, () => `it is recognized by ${score}`);
  const { entries, problems } = format.parse(bytes);
  checkEntries(entries, bytes.length);
  for (const { line, reason } of problems)
    check(Number.isSafeInteger(line) && line >= 0 && reason.length > 0, () => `a problem in line ${line} says ${reason}`);
  checkNamed(format, bytes, problems);
  const last = entries[below(Math.max(1, entries.length))];
  if (last) refusing(() => format.parse(format.cut(bytes, last.key)));
  format.parse(format.concat([bytes, bytes]));
  refusing(() => format.session?.(bytes, options));
  const target = formats[below(formats.length)] as Format;
  const shown = entries.filter((entry) => !entry.marks?.includes('hidden')).map(writable);
  const again = target.parse(target.write(shown, options));
  check(again.problems.length === 0, () => `written as ${target.id} it has a problem: ${JSON.stringify(again.problems[0])}`);
}

/** A document or line that is not JSON must be named. */
function checkNamed(format: Format, bytes: Buffer, problems: readonly { readonly line: number }[]): void {
  const isJson = (text: string): boolean => {
    try {
      JSON.parse(text);
      return true;
    } catch {
      return false;
    }
  };
  const text = bytes.toString();
  if (format.contentType === 'application/json' && text.trim() !== '' && !isJson(text))
    check(problems.length > 0, () => 'nothing says that it is no JSON');
}

function checkPlan(format: ImportableFormat, bytes: Buffer): void {
  const context = { path: '/x/y.jsonl', known: { has: () => false }, resumeAt: 0, granularity: 'turn_boundary' as const };
  format.peek(bytes.subarray(0, 4_096), bytes.subarray(-4_096));
  const progress = format.progress?.(bytes, 'turn_boundary');
  if (progress)
    check(progress.settled <= bytes.length && progress.resting <= bytes.length, () => `it has come to ${progress.settled} of ${bytes.length}`);
  const plan = format.plan(bytes, context);
  for (const commit of plan.commits) {
    checkEntries(commit.entries, Number.POSITIVE_INFINITY);
    for (const { reason } of [...plan.skipped, ...plan.notes]) check(reason.length > 0, () => 'a problem has no words');
  }
  // Every byte belongs to exactly one commit, or is skipped.
  const ranges = [...plan.commits.flatMap(({ ranges }) => ranges), ...plan.side]
    .filter(({ start, end }) => end > start)
    .sort((a, b) => a.start - b.start);
  let at = 0;
  for (const { start, end } of ranges) {
    check(start === at, () => `${start < at ? 'twice' : 'nowhere'}: the bytes from ${Math.min(start, at)} to ${Math.max(start, at)}`);
    at = end;
  }
  check(at === bytes.length, () => `nowhere: the bytes from ${at} to the end at ${bytes.length}`);
}

/** The conversations of a runtime's document; any other file is one conversation. */
function filesIn({ exports: reader }: ImportableFormat, bytes: Buffer): readonly Buffer[] {
  let members: readonly Buffer[] | undefined;
  refusing(() => {
    if (!reader?.recognize(bytes.subarray(0, 4_096))) return;
    members = reader.members(bytes)?.map((member) => linesOf(member));
    for (const member of reader.membersInFile?.(bytes) ?? []) linesOf(member);
  });
  return members ?? [bytes];
}

function linesOf(member: Member): Buffer {
  const { bytes } = member.lines();
  return Buffer.from(bytes.subarray(0, bytes.length));
}

/** The whole path: import a file, restore it byte for byte, export it as a page. */
function checkImport(name: string, bytes: Buffer): void {
  const project = emptyProject();
  try {
    checkImportInto(project.chain, name, bytes);
  } finally {
    // At the end of the test it would be one of hundreds.
    project.close();
  }
}

function checkImportInto(chain: WriteChain, name: string, bytes: Buffer): void {
  const path = join(scratch(), name);
  writeFileSync(path, bytes);
  try {
    for (const steps = importPaths(chain, { paths: [path] }); ; ) if (steps.next().done) break;
  } catch (error) {
    if (error instanceof StemmaError) return;
    throw error;
  }
  for (const source of listSources(chain)) {
    if (source.path !== path) continue;
    const out = join(scratch(), 'again');
    getSource(chain, source.sourceId, out);
    check(readFileSync(out).equals(bytes), () => 'the file does not come back as it was');
  }
  for (const { id } of tips(chain, {}).slice(0, 4)) {
    for (const stop of ['compaction', 'root'] as const) materializedBytes(chain, { id, stop, format: 'anthropic-messages-v1' });
    exportContext(chain, { id, stop: 'root', format: 'html' });
  }
}

/** A damaged database, imported as its program's file would be. */
function checkDatabase(number: number): void {
  const below = chance(firstSeed + number);
  const path = databases[below(databases.length)] as string;
  const bytes = readFileSync(join(root, path));
  const way = below(2) === 0 ? 'noise' : 'truncate';
  const damaged = (mutators[way] as (typeof mutators)[string])(bytes, below);
  const project = emptyProject();
  try {
    const file = join(scratch(), basename(path));
    writeFileSync(file, damaged);
    const steps = importPaths(project.chain, { paths: [file] });
    while (!steps.next().done);
  } catch (error) {
    if (!(error instanceof StemmaError)) throw new Error(`${path}, ${way}`, { cause: error });
  } finally {
    project.close();
  }
}

/** Ends the run if a case hangs. */
const pulse = new BigInt64Array(new SharedArrayBuffer(24));
const watchdog = `
const { pulse, labels, firstSeed } = require('node:worker_threads').workerData;
setInterval(() => {
  const began = Number(pulse[0]);
  if (began && Date.now() - began > 60_000) {
    const repeat = 'STEMMA_SEED=' + firstSeed + ' STEMMA_CASE=' + pulse[1];
    require('node:fs').writeSync(2, 'a mutated file hangs: ' + labels[pulse[2]] + ' (' + repeat + ')\\n');
    process.kill(process.pid, 'SIGKILL');
  }
}, 500).unref();
`;
let watching: Worker | undefined;
beforeAll(() => {
  if (!isShort) watching = new Worker(watchdog, { eval: true, workerData: { pulse, labels, firstSeed } });
});
afterAll(() => watching?.terminate());

describe('[F10] mutated files', () => {
  test(`${mutations} mutated files are parsed and written without an exception or loss`, () => {
    expect(new Set(seeds.map(({ format }) => format.id))).toEqual(new Set(formats.map(({ id }) => id)));
    const failures: string[] = [];
    const [from, to] = part;
    let slowest = { ms: 0, number: from };
    for (let number = from; number < to && failures.length < 20; number++) {
      const { at, seed, how, bytes } = mutated(number);
      const failed = (what: string): void => void failures.push(`${labels[at]} (${how}; ${repeat(number)}): ${what}`);
      pulse[0] = BigInt(Date.now());
      pulse[1] = BigInt(number);
      pulse[2] = BigInt(at);
      const began = process.cpuUsage();
      try {
        const below = chance(number);
        checkFormat(seed.format, bytes, below);
        const importable = importableFormats.find(({ id }) => id === seed.format.id);
        for (const file of importable ? filesIn(importable, bytes) : []) checkPlan(importable as ImportableFormat, file);
        if (importable && number % 50 === 0) checkImport(`${number}.jsonl`, bytes);
        if (number % 50 === 25) checkDatabase(number);
      } catch (error) {
        failed(`${(error as Error).stack?.split('\n').slice(0, 6).join(' | ')}`);
      }
      pulse[0] = 0n;
      const { user, system } = process.cpuUsage(began);
      const ms = (user + system) / 1_000;
      if (ms > slowest.ms) slowest = { ms, number };
      // Durations are measured only in the long form.
      if (!isShort && ms > maxCpuMs) failed(`took ${ms} ms`);
    }
    const peak = process.resourceUsage().maxRSS / 1_024;
    if (!isShort)
      console.log(`${from}-${to}: peak ${Math.round(peak)} MB, slowest ${Math.round(slowest.ms)} ms of processor (case ${slowest.number})`);
    expect(failures).toEqual([]);
    expect(isShort ? process.memoryUsage().rss / 1e6 : peak).toBeLessThan(maxMegabytes);
  });

  test('these checks can fail', () => {
    expect(() => checkEntries([{ key: 'a', role: 'user', kind: 'text', tokens: 1, raw: { start: 0, end: 9 } } as never], 5)).toThrow('0-9 of 5');
    expect(labels[mutated(7).at]).toMatch(/^[\w-]+-v\d, /);
    expect(mutated(7).bytes.equals(mutated(7).bytes)).toBe(true);
    expect(new Set(Array.from({ length: 60 }, (_, number) => mutated(number).seed.name)).size).toBeGreaterThan(10);
    expect(textAt('package.json')).toContain('stemma');
  });
});
