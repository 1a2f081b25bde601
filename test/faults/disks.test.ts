import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, onTestFinished, test } from 'vitest';
import { refOf } from '../../src/core/artifacts/index.js';
import { type ContextId, systemClock } from '../../src/core/base/index.js';
import { checkpoint, history, materializedBytes, show } from '../../src/core/chain/index.js';
import { atOnce, backUpNow, checkProject, createProject, openProject, type Project, repairProject } from '../../src/core/project/index.js';
import { formatVersion } from '../../src/core/store/index.js';
import { registerSums, watchRows } from '../../src/core/store/sums.js';
import { olderDatabase } from '../support/older.js';
import { scratch } from '../support/project.js';
import { delta } from './material.js';
import { startWorker } from './workers.js';

const isShort = process.env.STEMMA_FAULTS === 'short';
const run = (command: string, ...args: string[]): boolean => spawnSync(command, args).status === 0;

/** A separate disk with this many megabytes; undefined if this user may not mount one. */
function smallDisk(megabytes: number): string | undefined {
  const at = scratch();
  if (!run('mount', '-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', at)) return undefined;
  onTestFinished(() => void run('umount', '-l', at));
  return at;
}
const mounts = ((): boolean => {
  const probe = spawnSync('sh', ['-c', 'd=$(mktemp -d) && mount -t tmpfs -o size=1m tmpfs "$d" && umount "$d"; s=$?; rmdir "$d"; exit $s']);
  return probe.status === 0;
})();
const traces = run('strace', '-e', 'trace=none', 'true');

const commit = (project: Project, parent: ContextId | null, text: string): ContextId =>
  checkpoint(project.chain, { parent, type: 'delta', format: 'claude-code-v1', text, template: 't', checkpoint: 'turn_boundary' }).id;

const lastOf = (lines: readonly string[]): { ids: ContextId[]; refusal: string | undefined } => ({
  ids: lines.filter((line) => line.startsWith('commit ')).map((line) => line.split(' ')[1] as ContextId),
  refusal: lines.find((line) => /^(refused|crashed)/.test(line)),
});

describe.skipIf(!mounts)('a disk (needs to mount a tmpfs)', () => {
  test('[S7] that is full is reported; nothing acknowledged is lost, and space makes it work', async () => {
    const disk = smallDisk(6) ?? '';
    const dir = join(disk, 'p.stemma');
    createProject({ dir }, systemClock).close();
    const worker = startWorker(['checkpoint', dir, '', '1']);
    expect(await worker.ended).toBe(3);
    const { ids, refusal } = lastOf(worker.lines());
    expect(refusal).toMatch(/^refused UNAVAILABLE .*disk is full/);
    expect(ids.length).toBeGreaterThan(20);
    expect(run('mount', '-o', 'remount,size=64m', disk)).toBe(true);
    const project = openProject(dir, systemClock);
    expect(atOnce(checkProject(project)).problems).toEqual([]);
    expect(history(project.chain, ids.at(-1) as ContextId).length).toBeGreaterThanOrEqual(ids.length);
    expect(show(project.chain, commit(project, ids.at(-1) as ContextId, delta(2, 1))).parent).toBe(ids.at(-1));
    project.close();
  });

  test('[S8] without room for a copy leaves an earlier project unconverted and readable', async () => {
    const disk = smallDisk(24) ?? '';
    const dir = join(disk, 'p.stemma');
    createProject({ dir, projectId: 'old' }, systemClock).close();
    const old = new Database(olderDatabase(formatVersion - 1));
    registerSums(old);
    watchRows(old);
    old.exec("INSERT INTO project (no, projectId, name, createdAt) VALUES (1, 'old', 'old', 0)");
    // The database itself has room, and the copy does not.
    old.exec('CREATE TABLE filled (bytes)');
    old.exec(
      'INSERT INTO filled SELECT zeroblob(1000000) FROM (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 9) SELECT i FROM n)',
    );
    old.exec('DROP TABLE filled');
    for (const name of readdirSync(dir).filter((name) => name.startsWith('derived') || name.startsWith('stemma.db-'))) rmSync(join(dir, name));
    writeFileSync(join(dir, 'stemma.db'), old.serialize());
    old.close();
    const raw = new Database(join(dir, 'stemma.db'));
    raw.pragma('journal_mode = WAL');
    raw.close();
    const before = readFileSync(join(dir, 'stemma.db'));
    const names = readdirSync(dir);
    const project = openProject(dir, systemClock);
    expect(project.access).toMatchObject({
      mode: 'read-only',
      reason: 'disk-full',
      message: expect.stringMatching(/format \d+ to \d+.* needs \d+ MB/),
    });
    expect(project.access).not.toMatchObject({ message: expect.stringMatching(/[.!]\s/) });
    expect(project.chain.db.all('SELECT name FROM project')).toEqual([{ name: 'old' }]);
    expect(() => commit(project, null, delta(1, 1))).toThrow(expect.objectContaining({ code: 'UNAVAILABLE' }));
    expect(project.isStale()).toBe(false);
    expect([readFileSync(join(dir, 'stemma.db')).equals(before), readdirSync(dir)]).toEqual([true, names]);
    expect(run('mount', '-o', 'remount,size=64m', disk)).toBe(true);
    expect(project.isStale()).toBe(true);
    project.close();
    const converted = openProject(dir, systemClock);
    expect(converted.access).toEqual({ mode: 'read-write' });
    expect(show(converted.chain, commit(converted, null, delta(1, 1))).parent).toBeNull();
    expect(existsSync(join(dir, `stemma.db.format-${formatVersion - 1}`))).toBe(true);
    expect(atOnce(checkProject(converted)).problems).toEqual([]);
    expect(readdirSync(dir).filter((name) => name.includes('format'))).toEqual([]);
    converted.close();
  });

  test('[S7] that becomes read-only is reported, and nothing is lost', () => {
    const disk = smallDisk(32) ?? '';
    const dir = join(disk, 'p.stemma');
    const project = createProject({ dir }, systemClock);
    const first = commit(project, null, delta(1, 1));
    project.close();
    expect(run('mount', '-o', 'remount,ro', disk)).toBe(true);
    expect(() => {
      const again = openProject(dir, systemClock);
      try {
        commit(again, first, delta(1, 2));
      } finally {
        again.close();
      }
    }).toThrow(expect.objectContaining({ code: 'UNAVAILABLE' }));
    expect(run('mount', '-o', 'remount,rw', disk)).toBe(true);
    const after = openProject(dir, systemClock);
    expect(atOnce(checkProject(after)).problems).toEqual([]);
    expect(show(after.chain, first).id).toBe(first);
    after.close();
  });
});

describe.skipIf(!traces)('input and output errors (needs strace)', () => {
  const faults = [
    ['fsync', 'EIO', 1],
    ['fsync', 'EIO', 7],
    ['pwrite64', 'EIO', 40],
    ['pwrite64', 'ENOSPC', 57],
    ['pread64', 'EIO', 2],
    ['fdatasync', 'EIO', 1],
  ] as const;
  test.each(isShort ? faults.slice(1, 3) : faults)('[S7] %s fails with %s: reported, and nothing acknowledged is lost', async (call, error, when) => {
    const dir = join(scratch(), 'p.stemma');
    createProject({ dir }, systemClock).close();
    const log = join(scratch(), 'strace');
    // The disk fails for the database. Only packs are synced without their metadata.
    const files = call === 'fdatasync' ? [] : ['stemma.db', 'stemma.db-wal'].flatMap((name) => ['-P', join(dir, name)]);
    const worker = startWorker(
      ['checkpoint', dir, '', '1', '40'],
      ['strace', '-f', '-o', log, ...files, '-e', `trace=${call}`, '-e', `inject=${call}:error=${error}:when=${when}`],
    );
    await worker.ended;
    expect(readFileSync(log, 'utf8')).toContain('(INJECTED)');
    const { ids, refusal } = lastOf(worker.lines());
    expect(refusal).toMatch(/^refused (UNAVAILABLE|CORRUPT) /);
    const project = openProject(dir, systemClock);
    expect(atOnce(checkProject(project)).problems).toEqual([]);
    for (const id of ids) expect(show(project.chain, id).id).toBe(id);
    project.close();
  });
});

describe.skipIf(!traces)('cost (needs strace)', () => {
  test('[S4] a commit with its small object is one transaction and one sync', async () => {
    const syncsOf = async (count: number): Promise<number> => {
      const dir = join(scratch(), 'p.stemma');
      createProject({ dir }, systemClock).close();
      const log = join(scratch(), 'strace');
      const worker = startWorker(['small', dir, String(count)], ['strace', '-f', '-o', log, '-e', 'trace=fsync,fdatasync']);
      expect(await worker.ended).toBe(0);
      return (readFileSync(log, 'utf8').match(/\bf(data)?sync\(/g) ?? []).length;
    };
    const [few, many] = [await syncsOf(10), await syncsOf(210)];
    expect(many - few).toBeGreaterThanOrEqual(200);
    // The log is copied into the database from time to time.
    expect(many - few).toBeLessThanOrEqual(204);
  });
});

describe('a flipped byte', () => {
  interface Made {
    readonly dir: string;
    readonly ids: readonly ContextId[];
    /** The commits that are older than the backup. */
    readonly backedUp: readonly ContextId[];
    readonly refs: ReadonlyMap<string, Buffer>;
  }

  async function made(): Promise<Made> {
    const dir = join(scratch(), 'p.stemma');
    const project = createProject({ dir }, systemClock);
    const refs = new Map<string, Buffer>();
    const ids: ContextId[] = [];
    let backedUp: ContextId[] = [];
    for (let turn = 0; turn < 60; turn++) {
      if (turn === 50) {
        await backUpNow(project);
        backedUp = [...ids];
      }
      const text = delta(1, turn);
      refs.set(refOf(Buffer.from(text)), Buffer.from(text));
      ids.push(commit(project, ids.at(-1) ?? null, text));
      if (turn === 40) atOnce(project.chain.artifacts.repack());
    }
    project.close();
    return { dir, ids, backedUp, refs };
  }

  /** Opens, reads everything and checks. Never returns wrong bytes; every error names what is damaged. */
  function outcome(dir: string, ids: readonly ContextId[], refs: ReadonlyMap<string, Buffer>): 'clean' | 'told' {
    let project: Project | undefined;
    let told = false;
    const named = (work: () => void): void => {
      try {
        work();
      } catch (error) {
        const { code } = error as { code?: string };
        if (!['CORRUPT', 'NOT_FOUND', 'CONFLICT', 'UNAVAILABLE'].includes(code ?? '')) throw error;
        told = true;
      }
    };
    named(() => {
      project = openProject(dir, systemClock);
    });
    if (!project) return 'told';
    const { chain } = project;
    for (const id of ids)
      named(() => {
        const { artifactRef } = show(chain, id);
        const bytes = refs.get(artifactRef);
        const read = chain.artifacts.read(chain.artifacts.find(artifactRef));
        if (!bytes || !Buffer.from(read).equals(bytes)) throw new Error(`wrong bytes for ${artifactRef} of ${id}`);
      });
    named(() => void materializedBytes(chain, { id: ids.at(-1) as ContextId, stop: 'root' }));
    named(() => {
      if (!atOnce(checkProject(project as Project)).ok) told = true;
    });
    project.close();
    return told ? 'told' : 'clean';
  }

  test('[S2] anywhere in a pack is detected, and repair names what is lost', async () => {
    const { dir, ids, refs } = await made();
    const [pack = ''] = readdirSync(join(dir, 'objects')).filter((name) => name.endsWith('.pack'));
    const sound = readFileSync(join(dir, 'objects', pack));
    const steps = isShort ? 3 : 60;
    for (let step = 0; step < steps; step++) {
      const copy = join(scratch(), 'c.stemma');
      cpSync(dir, copy, { recursive: true });
      const flipped = Buffer.from(sound);
      const at = Math.floor((sound.length * (step + 0.5)) / steps);
      flipped[at] = (flipped[at] ?? 0) ^ (1 << (step % 8));
      writeFileSync(join(copy, 'objects', pack), flipped);
      expect(outcome(copy, ids, refs)).toBe('told');
      const project = openProject(copy, systemClock);
      const repaired = atOnce(repairProject(project));
      expect(repaired.problems.filter(({ kind }) => kind === 'artifact').every(({ message }) => message.includes('ctx-'))).toBe(true);
      project.close();
    }
  });

  /** Every row of the tables that are not made again from others. */
  function rowsIn(dir: string): string | undefined {
    const db = new Database(join(dir, 'stemma.db'), { readonly: true });
    try {
      return JSON.stringify(rowsOf(db));
    } catch {
      // It does not read through.
      return undefined;
    } finally {
      db.close();
    }
  }

  function rowsOf(db: Database.Database): unknown {
    const tables = db.prepare("SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' ORDER BY name").pluck().all() as string[];
    return tables
      .filter((name) => !/^(sqlite_|search|outline|materialized|principalCommit|progress|record|replicaCopy|requestMessage)/.test(name))
      .map((name) => [name, db.prepare(`SELECT * FROM "${name}" ORDER BY 1, 2`).all()]);
  }

  /** The commits that a repair lost. Each of them is named. */
  function lostAfterRepair(dir: string, ids: readonly ContextId[], refs: ReadonlyMap<string, Buffer>): readonly ContextId[] {
    const project = openProject(dir, systemClock, undefined, { repair: true });
    const { problems } = atOnce(repairProject(project));
    const said = problems.map(({ id, message }) => `${id} ${message}`).join('\n');
    const whole = (id: ContextId): boolean => {
      try {
        const { artifactRef } = show(project.chain, id);
        return Buffer.from(project.chain.artifacts.read(project.chain.artifacts.find(artifactRef))).equals(refs.get(artifactRef) ?? Buffer.of(0));
      } catch {
        return false;
      }
    };
    const lost = ids.filter((id) => !whole(id));
    // A database of which nothing can be read does not tell what came after its backup.
    if (!/written after the backup may be missing/.test(said)) expect(lost.filter((id) => !said.includes(id))).toEqual([]);
    expect(project.db.integrity()).toEqual([]);
    project.close();
    return lost;
  }

  test('[S2, S15, S16, T67] in the database is harmless or detected; repair restores from a backup', async () => {
    const { dir, ids, backedUp, refs } = await made();
    const file = join(dir, 'stemma.db');
    const sound = readFileSync(file);
    const before = rowsIn(dir);
    const steps = isShort ? 20 : Number(process.env.STEMMA_FLIPS ?? 400);
    for (let step = 0; step < steps; step++) {
      const copy = join(scratch(), 'c.stemma');
      cpSync(dir, copy, { recursive: true });
      const flipped = Buffer.from(sound);
      // The first page, where pages say what they hold and where, and evenly through the file.
      const evenly = Math.floor((sound.length * (step + 0.37)) / steps);
      const at = [Math.floor((4096 * step) / steps), evenly - (evenly % 4096) + (step % 31)][step % 4] ?? evenly;
      const bit = (step * 5) % 8;
      flipped[at] = (flipped[at] ?? 0) ^ (1 << bit);
      writeFileSync(join(copy, 'stemma.db'), flipped);
      const place = `bit ${bit} of byte ${at}`;
      const now = rowsIn(copy);
      if (outcome(copy, ids, refs) === 'clean') expect([place, now === before]).toEqual([place, true]);
      else expect([place, lostAfterRepair(copy, ids, refs).filter((id) => backedUp.includes(id))]).toEqual([place, []]);
      rmSync(copy, { recursive: true, force: true });
    }
  });
});
