import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { checkpoint, show, update } from '../../../src/core/chain/index.js';
import { processName } from '../../../src/core/files/index.js';
import { backupsToKeep, listBackups } from '../../../src/core/integrity/index.js';
import { openBackups } from '../../../src/core/project/backups.js';
import {
  atOnce,
  backUpIfDue,
  backUpNow,
  claimBackup,
  createProject,
  openProject,
  type Project,
  repairProject,
  reportBackups,
  setBackups,
  storageOf,
} from '../../../src/core/project/index.js';
import { databaseIn, named, spoilPage } from '../../support/damage.js';
import { emptyProject, type HeldClock, heldClock, scratch } from '../../support/project.js';

const day = 86_400_000;

function withCommits(clock: HeldClock): { project: Project; ids: ReturnType<typeof commit>[] } {
  const project = emptyProject(clock);
  return { project, ids: Array.from({ length: 8 }, (_, n) => commit(project, n)) };
}

const commit = (project: Project, n: number) =>
  checkpoint(project.chain, {
    parent: null,
    type: 'delta',
    format: 'claude-code-v1',
    template: 'agent',
    checkpoint: 'explicit',
    text: `${JSON.stringify({ type: 'user', uuid: `u${n}`, message: { role: 'user', content: `message ${n}` } })}\n`,
    summary: `summary ${n}`,
  }).id;

const reopened = (dir: string): Project => {
  const project = openProject(dir, heldClock(), undefined, { repair: true });
  onTestFinished(() => project.close());
  return project;
};

describe('a backup', () => {
  test('[T22] is a private, verified copy that is one file, and is counted in the storage report', async () => {
    const clock = heldClock();
    const { project } = withCommits(clock);
    const report = await backUpNow(project);
    expect(report).toMatchObject({ on: true, backups: [{ at: '2026-01-01T00:00:00.000Z' }] });
    const folder = join(project.dir, 'backups');
    expect(readdirSync(folder)).toEqual(['stemma-20260101T000000Z.db']);
    if (process.platform !== 'win32') {
      expect(statSync(folder).mode & 0o777).toBe(0o700);
      expect(statSync(join(folder, 'stemma-20260101T000000Z.db')).mode & 0o777).toBe(0o600);
    }
    const copy = new Database(join(folder, 'stemma-20260101T000000Z.db'), { readonly: true });
    expect(copy.prepare('SELECT COUNT(*) FROM commits').pluck().get()).toBe(8);
    copy.close();
    const weighed = atOnce(storageOf(project)).disk.find(({ area }) => area === 'backups');
    expect(weighed?.bytes).toBe(report.bytes);
  });

  test('[T22] the newest of three days and of three weeks stay, and every other is removed', { tags: 'long' }, async () => {
    const clock = heldClock(Date.parse('2026-03-02T10:00:00.000Z'));
    const { project } = withCommits(clock);
    for (let n = 0; n < 40; n++) {
      await backUpNow(project);
      clock.at += day / 2;
    }
    const days = reportBackups(project).backups.map(({ at }) => at.slice(0, 10));
    expect(days).toEqual(['2026-03-21', '2026-03-20', '2026-03-19', '2026-03-15', '2026-03-08']);
  });

  test('[T22] however backups lie in time, the newest stays, and at most six', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 400 * day }), { minLength: 1 }), (times) => {
        const kept = backupsToKeep(times.map((at) => ({ at }))).map(({ at }) => at);
        expect(kept[0]).toBe(Math.max(...times));
        expect(kept.length).toBeLessThanOrEqual(6);
        // Applying the rule twice keeps the same backups.
        expect(backupsToKeep(kept.map((at) => ({ at }))).map(({ at }) => at)).toEqual(kept);
      }),
    );
  });

  test('[T22] a copy that is not intact removes no older backup', async () => {
    const clock = heldClock();
    const { project } = withCommits(clock);
    await backUpNow(project);
    const other = new Database(databaseIn(project.dir));
    other.exec("UPDATE commits SET summary = 'changed' WHERE seq = 3");
    other.close();
    clock.at += day;
    const report = await backUpNow(project);
    expect(report.problem).toContain('a row of commits does not match its checksum');
    expect(report.backups.map(({ at }) => at)).toEqual(['2026-01-01T00:00:00.000Z']);
  });

  test('[T22] files of other names and links in the folder are no backups and stay', async () => {
    const { project } = withCommits(heldClock());
    const folder = join(project.dir, 'backups');
    mkdirSync(folder);
    writeFileSync(join(folder, 'letter.db'), 'mine');
    writeFileSync(join(project.dir, '..', 'mine.db'), 'mine');
    symlinkSync(join(project.dir, '..', 'mine.db'), join(folder, 'stemma-20200101T000000Z.db'));
    await backUpNow(project);
    expect(listBackups(project.dir).map(({ name }) => name)).toEqual(['stemma-20260101T000000Z.db']);
    expect(readFileSync(join(folder, 'letter.db'), 'utf8')).toBe('mine');
    expect(existsSync(join(project.dir, '..', 'mine.db'))).toBe(true);
  });

  test('[T22] is made when the project is idle and has changed, unless that is turned off', async () => {
    const clock = heldClock(Date.now());
    const { project } = withCommits(clock);
    const backups = openBackups(project, { quiet: 1, between: 0 });
    onTestFinished(() => backups.close());
    const idle = async (): Promise<number> => {
      backups.wake();
      await new Promise((resume) => setTimeout(resume, 300));
      return listBackups(project.dir).length;
    };
    setBackups(project, false);
    expect(await idle()).toBe(0);
    setBackups(project, true);
    await expect.poll(idle).toBe(1);
    // Nothing has changed since.
    clock.at += 60_000;
    expect(await idle()).toBe(1);
  });
});

describe('the daily backup', () => {
  test('[T70] is claimed once a day by a project that has changed and keeps backups', async () => {
    const clock = heldClock(Date.now());
    const project = createProject({ dir: join(scratch(), 'daily') }, clock);
    onTestFinished(() => project.close());
    commit(project, 1);
    // A project of today is not copied by each of its first commands.
    expect(claimBackup(project, clock)).toBe(false);
    clock.at += day + 1;
    setBackups(project, false);
    expect(claimBackup(project, clock)).toBe(false);
    setBackups(project, true);
    const older = { dir: project.dir, createdAt: clock.at - 3 * day };
    utimesSync(join(project.dir, 'backups'), new Date(0), new Date(0));
    expect([claimBackup(older, clock), claimBackup(older, clock)]).toEqual([true, false]);
    expect(listBackups(project.dir)).toEqual([]);
    clock.at += day + 1;
    // Nothing has changed since.
    expect(claimBackup(older, clock)).toBe(false);
    utimesSync(databaseIn(project.dir), new Date(clock.at), new Date(clock.at));
    expect((await backUpIfDue({ ...project, ...older })).backups).toHaveLength(1);
    expect((await backUpIfDue({ ...project, ...older })).backups).toHaveLength(1);
  });

  test('[T70] two processes make backups at once, and a killed one leaves nothing for long', async () => {
    const { project } = withCommits(heldClock());
    const folder = join(project.dir, 'backups');
    await backUpNow(project);
    const { pid } = spawnSync(process.execPath, ['-e', '']);
    const id = '00000000-0000-4000-8000-000000000000';
    const [running, ended, older] = [
      `stemma-${processName}-${id}.part`,
      `stemma-${pid}-${processName.split('-')[1]}-${id}.part-wal`,
      `stemma-${id}.part`,
    ];
    for (const name of [running, ended, older]) writeFileSync(join(folder, name), 'half');
    await backUpNow(project);
    expect(readdirSync(folder).filter((name) => name.includes('.part'))).toEqual([running]);
  });
});

describe('a repair from backups', () => {
  test('[S16, T23] a database that cannot be opened is restored from the newest backup', async () => {
    const { project, ids } = withCommits(heldClock());
    await backUpNow(project);
    project.close();
    const file = databaseIn(project.dir);
    writeFileSync(file, Buffer.concat([Buffer.alloc(4096, 0xa5), readFileSync(file).subarray(4096)]));
    const again = reopened(project.dir);
    const result = atOnce(repairProject(again));
    expect(result.problems.filter(({ repaired }) => !repaired)).toEqual([]);
    for (const [n, id] of ids.entries()) expect(show(again.chain, id).summary).toBe(`summary ${n}`);
  });

  test('[S16, T23] rows that came after the backup stay, and a lost page comes from the backup', { tags: 'long' }, async () => {
    const { project, ids } = withCommits(heldClock());
    await backUpNow(project);
    const later = commit(project, 99);
    project.close();
    const raw = new Database(databaseIn(project.dir), { readonly: true });
    const [page] = raw.prepare("SELECT pageno FROM dbstat WHERE name = 'project'").pluck().all() as number[];
    const total = raw.pragma('page_count', { simple: true }) as number;
    raw.close();
    spoilPage(databaseIn(project.dir), ((page ?? 1) - 0.5) / total);
    const again = reopened(project.dir);
    const result = atOnce(repairProject(again));
    expect(named(result)).toBe('');
    for (const id of [...ids, later]) expect(show(again.chain, id).id).toBe(id);
  });

  test('[T23] a changed row comes from the backup, and the damaged database is kept', { tags: 'long' }, async () => {
    const { project, ids } = withCommits(heldClock());
    await backUpNow(project);
    const id = commit(project, 50);
    update(project.chain, id, { summary: 'later' });
    project.close();
    const raw = new Database(databaseIn(project.dir));
    raw.exec("UPDATE commits SET summary = 'somebody else wrote this' WHERE seq = 3");
    raw.close();
    copyFileSync(databaseIn(project.dir), join(project.dir, '..', 'before.db'));
    const again = reopened(project.dir);
    const result = atOnce(repairProject(again));
    expect(named(result)).toBe('');
    expect(ids[2] && show(again.chain, ids[2]).summary).toBe('summary 2');
    expect(show(again.chain, id).summary).toBe('later');
    expect(readdirSync(project.dir).some((name) => /^stemma\.db\.damaged-\d+$/.test(name))).toBe(true);
  });
});
