import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setImmediate as nextMessage, setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { createRouterClient } from '@orpc/server';
import Database from 'better-sqlite3';
import type { ContextId } from '../../../src/core/base/index.js';
import { createEngine, createSession } from '../../../src/core/project/index.js';
import { contextOf, router } from '../../../src/core/router/index.js';
import { goFirst } from '../../../src/main/system/index.js';
import { commit } from '../engine.js';
import { sessionFile, turns } from '../material.js';
import type { Part, Row, Run } from '../measure.js';

const megabyte = 1024 * 1024;

/** An engine as the web host starts it: long work runs in threads. */
function startEngine(at: string) {
  const engine = createEngine({
    dataDir: join(at, 'data'),
    agentRoots: [],
    sampleDir: at,
    startup: { paths: [], project: null },
    platform: process.platform,
    worker: join(dirname(fileURLToPath(import.meta.url)), 'work.js'),
  });
  const session = createSession(engine);
  const project = session.use(engine.create({ dir: join(at, 'project') }));
  return { engine, project, client: createRouterClient(router, { context: contextOf(session) }) };
}

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

/** An idle thread of this process that does nothing but watch its event loop: the machine makes any thread wait that long. */
function watchIdleThread() {
  const longest = new Float64Array(new SharedArrayBuffer(8));
  const code = `const longest = require('node:worker_threads').workerData;
let last = performance.now();
setInterval(() => {
  const now = performance.now();
  longest[0] = Math.max(longest[0], now - last - 1);
  last = now;
}, 1);`;
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

interface Imported {
  readonly bytes: number;
  readonly importMs: number;
  /** The longest times without an answer, in milliseconds. */
  readonly gapMs: number;
  readonly idleThreadMs: number;
  readonly cpuGapMs: number;
  readonly readMs: number;
  readonly writeMs: number;
  readonly idleGapMs: number;
  readonly atOnce: number;
  readonly stored: number;
  readonly parts: Readonly<Record<string, number>>;
}

/** Imports session files while a window reads and writes. `idleMs`: how long the engine is idle afterward. */
async function importing(folder: string, files: { readonly count: number; readonly size: number }, idleMs: number): Promise<Imported> {
  const at = mkdtempSync(join(folder, 'engine-'));
  const bytes = writeSessions(join(at, 'sessions'), files.count, files.size);
  goFirst();
  const { engine, project, client } = startEngine(at);
  const first = commit(project.chain, null, turns(1)[0] ?? '') as ContextId;
  const took = { read: 0, write: 0 };
  let over = false;
  const timed = async (what: keyof typeof took, call: () => Promise<unknown>): Promise<void> => {
    // Each call of a window is a message of its own.
    await nextMessage();
    const from = performance.now();
    await call();
    took[what] = Math.max(took[what], performance.now() - from);
  };
  // The calls of a window meanwhile: one that reads and one that writes, again and again.
  const asking = async (): Promise<void> => {
    for (let number = 0; !over; number++) {
      await timed('read', () => client.context.graph({ offset: 0, limit: 50 }));
      await timed('read', () => client.context.outline({ id: first }));
      if (number % 5 === 0) await timed('write', () => client.context.update({ id: first, tags: [`tag-${number}`] }));
      await pause(20);
    }
  };
  // The first calls compile what later calls run.
  for (let number = 0; number < 20; number++) await client.context.graph({ offset: 0, limit: 50 });
  await client.context.outline({ id: first });
  globalThis.gc?.();
  const idle = watchIdleThread();
  await pause(500);
  idle.reset();
  const loop = watchLoop();
  const from = performance.now();
  const asked = asking();
  const events = await client.import.run({ paths: [join(at, 'sessions')] });
  let step = await events.next();
  for (; !step.done; ) step = await events.next();
  const importMs = performance.now() - from;
  over = true;
  await asked;
  const [importGap, cpuGap, idleThreadMs] = [loop.longest(), loop.longestCpu(), idle.longest()];
  await idle.stop();
  if (step.value.skipped.length > 0) throw new Error(JSON.stringify(step.value.skipped[0]));
  const atOnce = bytesBelow(project.dir);
  loop.reset();
  await pause(idleMs);
  const idleGap = loop.longest();
  loop.stop();
  const stored = bytesBelow(project.dir);
  const parts = partsOf(project.dir);
  engine.close();
  rmSync(at, { recursive: true, force: true });
  const times = { importMs, gapMs: importGap, idleThreadMs, cpuGapMs: cpuGap, readMs: took.read, writeMs: took.write, idleGapMs: idleGap };
  return { bytes, ...times, atOnce, stored, parts };
}

const inMegabytes = (bytes: number): string => `${Math.round(bytes / megabyte)} MB`;

async function library(folder: string, { quick }: Run): Promise<Row[]> {
  const { bytes, atOnce, stored, parts, ...times } = await importing(folder, { count: quick ? 4 : 35, size: 20 * megabyte }, quick ? 10_000 : 60_000);
  const { importMs, cpuGapMs, readMs, writeMs, idleGapMs } = times;
  const size = inMegabytes(bytes);
  return [
    {
      id: 'T34',
      what: `longest time the engine does not answer while it imports ${size}, in ms`,
      ratio: times.gapMs,
      floor: { of: 'an idle thread of the same process meanwhile', ratio: times.idleThreadMs },
      must: 50,
      stretch: 20,
      better: 'less',
      figures: { importMs, longestCpuMs: cpuGapMs, longestReadMs: readMs, longestWriteMs: writeMs, idleGapMs },
    },
    {
      id: 'T33',
      what: `bytes stored over bytes imported: ${size}, idle for a minute`,
      ratio: stored / bytes,
      must: 0.15,
      stretch: 0.1,
      better: 'less',
      figures: { importedMB: bytes / megabyte, atOnceMB: atOnce / megabyte, storedMB: stored / megabyte, ...parts },
    },
  ];
}

async function oneFile(folder: string, { quick }: Run): Promise<Row[]> {
  const { bytes, importMs, cpuGapMs, readMs, writeMs } = await importing(folder, { count: 1, size: (quick ? 40 : 240) * megabyte }, 0);
  const row = { better: 'less', figures: { importMs, longestCpuMs: cpuGapMs } } as const;
  const meanwhile = `while one file of ${inMegabytes(bytes)} is imported, in ms`;
  return [
    { ...row, id: 'T39 reads', what: `longest answer to a read ${meanwhile}`, ratio: readMs, must: 50, stretch: 20 },
    { ...row, id: 'T39 writes', what: `longest write of a person ${meanwhile}`, ratio: writeMs, must: 300, stretch: 100 },
  ];
}

export const engineParts: readonly Part[] = [
  { rows: ['T33', 'T34'], run: library },
  { rows: ['T39', 'T39 reads', 'T39 writes'], run: oneFile },
];
