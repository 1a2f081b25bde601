import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import Database from 'better-sqlite3';
import type { ContractClient } from '../../../src/main/launch/index.js';
import { sessionFile } from '../material.js';
import type { Part, Row, Run } from '../measure.js';
import { followAgent, openWindows, runJob } from '../windows.js';

const megabyte = 1024 * 1024;

/** Session files. Returns the bytes of all. */
function writeSessions(folder: string, count: number, size: number): number {
  mkdirSync(folder);
  let bytes = 0;
  for (let number = 0; number < count; number++) {
    const text = sessionFile(size, 70 + number);
    // On disk before the clock runs: the system would write them meanwhile, and every sync of the engine would wait for that.
    writeFileSync(join(folder, `${String(number).padStart(8, '0')}-0000-4000-8000-000000000034.jsonl`), text, { flush: true });
    bytes += Buffer.byteLength(text);
  }
  return bytes;
}

/** Time of the processor that this thread has used, in milliseconds. */
function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

/** The longest time in milliseconds for which the event loop of this thread did not turn. */
function watchLoop() {
  let last = performance.now();
  let longest = 0;
  let lastCpu = cpuMs();
  let longestCpu = 0;
  const timer = setInterval(() => {
    const [now, cpu] = [performance.now(), cpuMs()];
    longest = Math.max(longest, now - last - 1);
    longestCpu = Math.max(longestCpu, cpu - lastCpu);
    [last, lastCpu] = [now, cpu];
  }, 1);
  return {
    longest: () => longest,
    /** The same in time of the processor, which other programs of the machine do not lengthen. Waiting for a lock is not in it. */
    longestCpu: () => longestCpu,
    reset: () => {
      longest = longestCpu = 0;
      [last, lastCpu] = [performance.now(), cpuMs()];
    },
    stop: () => clearInterval(timer),
  };
}

/** A thread that only watches its event loop. Any thread waits at least that long on this machine. */
const idleThread = `let last = performance.now();
setInterval(() => {
  const now = performance.now();
  longest[0] = Math.max(longest[0], now - last - 1);
  last = now;
}, 1);`;

/** Processor milliseconds that the thread below uses every 200 ms, about as many as a read of the graph. */
const computedMs = 10;
/** A thread that only computes. A read that computes as much takes at least that long on this machine. */
const computingThread = `setInterval(() => {
  const used = () => { const { user, system } = process.threadCpuUsage(); return (user + system) / 1_000; };
  const [from, until] = [performance.now(), used() + ${computedMs}];
  while (used() < until);
  longest[0] = Math.max(longest[0], performance.now() - from);
}, 200);`;

/** Runs a thread of this process that measures its own longest time, in milliseconds. */
function watchThread(program: string) {
  const longest = new Float64Array(new SharedArrayBuffer(8));
  const code = `const longest = require('node:worker_threads').workerData;\n${program}`;
  const worker = new Worker(code, { eval: true, workerData: longest });
  return {
    longest: () => longest[0] ?? 0,
    reset: () => {
      longest[0] = 0;
    },
    stop: () => worker.terminate(),
  };
}

const bytesBelow = (folder: string): number =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile())
    .reduce((sum, file) => sum + (statSync(join(file.parentPath, file.name), { throwIfNoEntry: false })?.size ?? 0), 0);

/** What the bytes of a project are, in MB. */
function partsOf(folder: string): Record<string, number> {
  const sizeOf = (matches: (name: string) => boolean): number =>
    readdirSync(folder)
      .filter(matches)
      .reduce((sum, name) => sum + statSync(join(folder, name)).size / megabyte, 0);
  const name = readdirSync(folder).find((one) => /^derived-\d+\.db$/.test(one)) ?? '';
  const derived = new Database(join(folder, name), { readonly: true });
  const search = derived.prepare('SELECT SUM(LENGTH(block)) FROM searchWords_data').pluck().get() as number | null;
  derived.close();
  return {
    contentsMB: bytesBelow(join(folder, 'objects')) / megabyte,
    recordMB: sizeOf((one) => one === 'stemma.db'),
    searchMB: (search ?? 0) / megabyte,
    otherDerivedMB: sizeOf((one) => one === name) - (search ?? 0) / megabyte,
    logsMB: sizeOf((one) => one.endsWith('-wal') || one.endsWith('-shm')),
  };
}

/** The parts without which nothing is found again, in MB: FTS5 stores the words of the same texts in no fewer bytes, optimized or not. */
const floorOf = ({ contentsMB = 0, recordMB = 0, searchMB = 0 }: Readonly<Record<string, number>>): number => contentsMB + recordMB + searchMB;

interface Imported {
  readonly bytes: number;
  readonly importMs: number;
  /** The longest times without an answer, in milliseconds. */
  readonly gapMs: number;
  readonly bareThreadMs: number;
  readonly cpuGapMs: number;
  readonly readMs: Took;
  readonly writeMs: number;
  readonly idleGapMs: number;
  readonly atOnce: number;
  readonly stored: number;
  readonly parts: Readonly<Record<string, number>>;
}

/** The longest time of each kind of call, in milliseconds. */
type Took = Readonly<Record<string, number>>;

/** Two windows that read, of which one writes, again and again until they are stopped. After `reset`, only calls that begin later are measured. */
function workIn([one, other]: readonly [ContractClient, ContractClient], id: string): { reset(): void; stop(): Promise<Took> } {
  let took: Record<string, number> = {};
  let isOver = false;
  const timed = async (what: string, call: () => Promise<unknown>): Promise<void> => {
    const [from, times] = [performance.now(), took];
    await call();
    times[what] = Math.max(times[what] ?? 0, performance.now() - from);
  };
  const use = async (client: ContractClient, isWriting: boolean): Promise<void> => {
    for (let number = 0; !isOver; number++) {
      await timed('graph', () => client.context.graph({ offset: 0, limit: 50 }));
      await timed('outline', () => client.context.outline({ id }));
      await timed('sessions', () => client.session.list({ offset: 0, limit: 50 }));
      if (isWriting && number % 5 === 0) await timed('write', () => client.context.update({ id, tags: [`tag-${number}`] }));
      // A window looks for changes three times a second.
      await pause(100);
    }
  };
  const used = Promise.all([use(one, true), use(other, false)]);
  return {
    reset: () => {
      took = {};
    },
    stop: async () => {
      isOver = true;
      await used;
      return took;
    },
  };
}

/**
 * Imports session files while two windows read and write, a transcript is followed and a job runs. `bare`: a program for one more thread, which is
 * measured as well. `idleMs`: how long the engine is idle afterward.
 */
async function importing(
  folder: string,
  files: { readonly count: number; readonly size: number },
  { bare, idleMs }: { readonly bare: string; readonly idleMs: number },
): Promise<Imported> {
  const at = mkdtempSync(join(folder, 'engine-'));
  const bytes = writeSessions(join(at, 'sessions'), files.count, files.size);
  const engine = await openWindows(folder, at);
  const windows = [engine.connect('window'), engine.connect('window')] as const;
  const dir = join(at, 'project.stemma');
  await windows[0].project.create({ dir });
  await windows[1].project.open({ dir });
  const first = await windows[0].context.fork({ id: null, edits: [{ op: 'append', entry: { role: 'user', kind: 'text', text: 'Wait.' } }] });
  const others = [await followAgent(windows[1], at), await runJob(windows[1])];
  const using = workIn(windows, first.id);
  const bareThread = watchThread(bare);
  // Until then the first calls have compiled what later calls run.
  await pause(5_000);
  globalThis.gc?.();
  bareThread.reset();
  using.reset();
  const loop = watchLoop();
  const from = performance.now();
  const events = await windows[0].import.run({ paths: [join(at, 'sessions')] });
  let step = await events.next();
  for (; !step.done; ) step = await events.next();
  const importMs = performance.now() - from;
  const [importGap, cpuGap, bareThreadMs] = [loop.longest(), loop.longestCpu(), bareThread.longest()];
  const took = await using.stop();
  for (const each of others) each.stop();
  await bareThread.stop();
  if (step.value.skipped.length > 0) throw new Error(JSON.stringify(step.value.skipped[0]));
  const atOnce = bytesBelow(dir);
  loop.reset();
  await pause(idleMs);
  const idleGap = loop.longest();
  loop.stop();
  const stored = bytesBelow(dir);
  const parts = partsOf(dir);
  await engine.stop();
  rmSync(at, { recursive: true, force: true });
  const { write: writeMs = 0, ...readMs } = took;
  const times = { importMs, gapMs: importGap, bareThreadMs, cpuGapMs: cpuGap, readMs, writeMs, idleGapMs: idleGap };
  return { bytes, ...times, atOnce, stored, parts };
}

const readFigures = (took: Took): Took => Object.fromEntries(Object.entries(took).map(([name, ms]) => [`${name}Ms`, ms]));

const inMegabytes = (bytes: number): string => `${Math.round(bytes / megabyte)} MB`;

async function library(folder: string, { quick }: Run): Promise<Row[]> {
  const { bytes, atOnce, stored, parts, ...times } = await importing(
    folder,
    { count: quick ? 3 : 35, size: (quick ? 8 : 20) * megabyte },
    { bare: idleThread, idleMs: quick ? 2_000 : 60_000 },
  );
  const { importMs, cpuGapMs, readMs, writeMs, idleGapMs } = times;
  const size = inMegabytes(bytes);
  return [
    {
      id: 'T34',
      what: `longest time the engine does not answer while it imports ${size}, in ms`,
      ratio: times.gapMs,
      floor: { of: 'an idle thread of the same process meanwhile', ratio: times.bareThreadMs },
      must: 50,
      stretch: 20,
      better: 'less',
      figures: { importMs, longestCpuMs: cpuGapMs, ...readFigures(readMs), longestWriteMs: writeMs, idleGapMs },
    },
    {
      id: 'T33',
      what: `bytes stored over bytes imported: ${size}, idle for a minute`,
      ratio: stored / bytes,
      floor: { of: 'contents, the record and the full-text index alone', ratio: floorOf(parts) / (bytes / megabyte) },
      must: 0.15,
      stretch: 0.1,
      better: 'less',
      figures: { importedMB: bytes / megabyte, atOnceMB: atOnce / megabyte, storedMB: stored / megabyte, ...parts },
    },
  ];
}

async function oneFile(folder: string, { quick }: Run): Promise<Row[]> {
  const files = { count: 1, size: (quick ? 20 : 240) * megabyte };
  const { bytes, importMs, cpuGapMs, readMs, writeMs, bareThreadMs } = await importing(folder, files, { bare: computingThread, idleMs: 0 });
  const floor = { of: `a thread of the same process that computes for ${computedMs} ms meanwhile`, ratio: bareThreadMs };
  const row = { better: 'less', figures: { importMs, longestCpuMs: cpuGapMs, ...readFigures(readMs) } } as const;
  const meanwhile = `while one file of ${inMegabytes(bytes)} is imported, in ms`;
  return [
    {
      ...row,
      id: 'T39 reads',
      what: `longest answer to a read ${meanwhile}`,
      ratio: Math.max(...Object.values(readMs)),
      floor,
      must: 50,
      stretch: 20,
    },
    { ...row, id: 'T39 writes', what: `longest write of a person ${meanwhile}`, ratio: writeMs, must: 300, stretch: 100 },
  ];
}

export const engineParts: readonly Part[] = [
  { rows: ['T33', 'T34'], run: library },
  { rows: ['T39', 'T39 reads', 'T39 writes'], run: oneFile },
];
