import { copyFileSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { refOf } from '../../src/core/artifacts/index.js';
import { type ArtifactRef, type ContextId, systemClock } from '../../src/core/base/index.js';
import { digestCommit, materializedBytes, show } from '../../src/core/chain/index.js';
import { listSources, proveSource } from '../../src/core/import/index.js';
import { atOnce, checkProject, createProject, openProject } from '../../src/core/project/index.js';
import { migrations } from '../../src/core/store/migrations/index.js';
import { root } from '../support/machine.js';
import { scratch } from '../support/project.js';
import { delta, machineOf, sessionOf } from './material.js';
import { startWorker, type Worker } from './workers.js';

const isShort = process.env.STEMMA_FAULTS === 'short';
const kills = Number(process.env.STEMMA_KILLS ?? (isShort ? 6 : 200));

/** A seeded random generator, so that a failed run can be repeated. */
function chance(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 4294967296;
  };
}
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

interface Acknowledged {
  readonly id: ContextId;
  readonly ref: ArtifactRef;
}
const commitsOf = (worker: Worker): Acknowledged[] =>
  worker.lines().flatMap((line) => {
    const [word, id, ref] = line.split(' ');
    return word === 'commit' ? [{ id: id as ContextId, ref: ref as ArtifactRef }] : [];
  });
const complaints = (worker: Worker): string[] => worker.lines().filter((line) => /^(refused|crashed)/.test(line));

/** Checks that every acknowledged commit exists and that the project is intact. */
async function prove(dir: string, acknowledged: readonly Acknowledged[], lines: readonly (readonly Acknowledged[])[]): Promise<void> {
  const project = openProject(dir, systemClock, machineOf(dir));
  const { chain, replicas } = project;
  try {
    expect(atOnce(checkProject(project)).problems).toEqual([]);
    for (const { id, ref } of acknowledged) expect(show(chain, id).artifactRef).toBe(ref);
    for (const line of lines) {
      const last = line.at(-1);
      if (!last) continue;
      const whole = await refetched(replicas, () => Buffer.from(materializedBytes(chain, { id: last.id, stop: 'root' }).bytes).toString());
      const refs = new Set(
        whole
          .trimEnd()
          .split('\n')
          .map((one) => refOf(Buffer.from(`${one}\n`))),
      );
      expect(line.filter(({ ref }) => !refs.has(ref))).toEqual([]);
    }
  } finally {
    project.close();
  }
}

async function refetched<T>(replicas: ReturnType<typeof openProject>['replicas'], work: () => T): Promise<T> {
  for (;;)
    try {
      return work();
    } catch (error) {
      if (!(await replicas.fetchFor(error))) throw error;
    }
}

function sampleFiles(): string[] {
  const folder = scratch();
  return readdirSync(join(root, 'resources/sample'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.jsonl'))
    .map((name) => {
      const path = join(folder, name.replaceAll('/', '_'));
      copyFileSync(join(root, 'resources/sample', name), path);
      return path;
    });
}

describe('killed', () => {
  test(`[S7] ${kills} kills during all kinds of work lose nothing acknowledged`, async () => {
    const next = chance(Number(process.env.STEMMA_SEED ?? 7));
    const dir = join(scratch(), 'p.stemma');
    createProject({ dir }, systemClock).close();
    const place = join(scratch(), 'copies');
    mkdirSync(place);
    const files = sampleFiles();
    const acknowledged: Acknowledged[] = [];
    const lines: Acknowledged[][] = [];
    const works = (round: number): string[][] => [
      ['checkpoint', dir, lines.at(-1)?.at(-1)?.id ?? '', String(round)],
      ['import', dir, ...files],
      ['collect', dir],
      ['pack', dir],
      ['replicate', dir, place],
    ];
    for (let round = 0; round < kills; round++) {
      const all = works(round);
      const others = [all[1 + Math.floor(next() * 4)], next() < 0.3 ? all[1 + Math.floor(next() * 4)] : undefined];
      const workers = [all[0], ...others].flatMap((args) => (args ? [startWorker(args)] : []));
      await Promise.all(workers.map((worker) => worker.said('open')));
      await pause(next() * 200);
      await Promise.all(workers.map((worker) => worker.kill()));
      for (const worker of workers) expect(complaints(worker)).toEqual([]);
      const made = commitsOf(workers[0] as Worker);
      acknowledged.push(...made);
      lines.push([...(lines.at(-1) ?? []).slice(-40), ...made]);
      if (round % 10 === 9 || round === kills - 1) await prove(dir, acknowledged, lines.slice(-3));
    }
    expect(acknowledged.length).toBeGreaterThan(kills);
  });

  test('[S7, S19] kills during an import that reads ahead leave every file whole or absent', async () => {
    const next = chance(19);
    const dir = join(scratch(), 'ahead.stemma');
    createProject({ dir }, systemClock).close();
    const folder = scratch();
    const perRound = 80;
    const rounds = isShort ? 3 : 40;
    for (let round = 0; round < rounds; round++) {
      for (let at = 0; at < perRound; at++) {
        const number = round * perRound + at;
        const name = `${String(number).padStart(8, '0')}-0000-4000-8000-000000000019.jsonl`;
        // Some are large: their content is stored by many transactions.
        const [prompts, characters] = at % 40 === 39 ? [260, 20_000] : [20, 1_000];
        writeFileSync(join(folder, name), sessionOf(number, prompts, characters));
      }
      const worker = startWorker(['importAhead', dir, folder]);
      await worker.said('open');
      await pause(next() * 800);
      await worker.kill();
      expect(complaints(worker)).toEqual([]);
      const project = openProject(dir, systemClock, machineOf(dir));
      expect(atOnce(checkProject(project)).problems).toEqual([]);
      for (const { sourceId } of listSources(project.chain)) proveSource(project.chain, sourceId);
      project.close();
    }
    const last = startWorker(['importAhead', dir, folder]);
    await last.ended;
    expect(last.lines()).toContain(`imported ${rounds * perRound}`);
    expect(countsOf(dir)).toEqual(await countsAlone(folder));
  });

  test('[S7, S8] a kill during a migration leaves the old or the new format, intact', async () => {
    const next = chance(11);
    for (let round = 0; round < (isShort ? 2 : 30); round++) {
      const dir = join(scratch(), 'old.stemma');
      const made = olderProject(dir, 300);
      const worker = startWorker(['open', dir]);
      // From before the database opens until it may be closed.
      await pause(60 + next() * 160);
      await worker.kill();
      expect(complaints(worker)).toEqual([]);
      await prove(dir, made, [made]);
    }
  });
});

/** What a project has of its sessions. */
function countsOf(dir: string): unknown {
  const { chain, close } = openProject(dir, systemClock, machineOf(dir));
  const counts = chain.db.one(
    `SELECT (SELECT COUNT(*) FROM source) AS sources, (SELECT COUNT(*) FROM commits) AS commits, (SELECT COUNT(*) FROM record) AS records,
            (SELECT COUNT(*) FROM usageCall) AS calls, (SELECT SUM(calls) FROM usageSum) AS summed`,
  );
  close();
  return counts;
}

/** The same of a project into which one thread imports the folder without being killed. */
async function countsAlone(folder: string): Promise<unknown> {
  const dir = join(scratch(), 'alone.stemma');
  createProject({ dir }, systemClock).close();
  const worker = startWorker(['import', dir, folder]);
  await worker.ended;
  expect(complaints(worker)).toEqual([]);
  return countsOf(dir);
}

/** A project in the first format, with a chain. */
function olderProject(dir: string, count: number): Acknowledged[] {
  createProject({ dir, projectId: 'old' }, systemClock).close();
  for (const name of readdirSync(dir)) if (name.startsWith('stemma.db')) copyFileSync(join(dir, name), join(dir, `unused-${name}`));
  const file = join(dir, 'first.db');
  const db = new Database(file);
  db.pragma('journal_mode = WAL');
  db.exec(migrations[0] ?? '');
  db.pragma('user_version = 1');
  db.prepare("INSERT INTO project (no, projectId, name, createdAt) VALUES (1, 'old', 'old', 0)").run();
  db.prepare('INSERT INTO line (no, project) VALUES (1, 1)').run();
  const made: Acknowledged[] = [];
  db.transaction(() => {
    for (let turn = 0; turn < count; turn++) {
      const bytes = Buffer.from(delta(1, turn * 11));
      const ref = refOf(bytes);
      const hash = Buffer.from(ref.slice(7), 'hex');
      const digest = digestCommit({ parent: made.at(-1)?.id ?? null, ref, createdAt: turn, template: 't' });
      const id = `ctx-${digest.toString('hex', 0, 4)}` as ContextId;
      db.prepare(
        `INSERT INTO artifact (no, project, key, hash, size, storedSize, encoding, contentType, policy, createdAt, data)
         VALUES (?, 1, ?, ?, ?, ?, 0, 'application/x-ndjson', 'default', 0, ?)`,
      ).run(turn + 1, hash.readUIntBE(0, 6), hash, bytes.length, bytes.length, bytes);
      db.prepare(
        `INSERT INTO context (seq, project, id, digest, parent, line, depth, type, artifact, format, template, checkpoint, messageCount, tokenCount, contextTokens, createdAt)
         VALUES (?, 1, ?, ?, ?, 1, ?, 'delta', ?, 'claude-code-v1', 't', 'explicit', 1, 1, ?, ?)`,
      ).run(turn + 1, id, digest, turn === 0 ? null : turn, turn, turn + 1, turn + 1, turn);
      made.push({ id, ref });
    }
  })();
  db.close();
  copyFileSync(file, join(dir, 'stemma.db'));
  return made;
}

describe('together', () => {
  test('[S10] eight writers lose no commit, and none has to retry', async () => {
    const dir = join(scratch(), 'p.stemma');
    const count = isShort ? 10 : 200;
    // The database does not exist yet, so all of them create it.
    createProject({ dir }, systemClock).close();
    const workers = Array.from({ length: 8 }, (_, seed) => startWorker(['checkpoint', dir, '', String(seed), String(count)]));
    const collector = startWorker(['collect', dir]);
    expect(await Promise.all(workers.map((worker) => worker.ended))).toEqual(Array(8).fill(0));
    await collector.kill();
    for (const worker of [...workers, collector]) expect(complaints(worker)).toEqual([]);
    const lines = workers.map(commitsOf);
    expect(lines.map((line) => line.length)).toEqual(Array(8).fill(count));
    await prove(dir, lines.flat(), lines);
  });
});
