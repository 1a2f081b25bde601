import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, onTestFinished, test } from 'vitest';
import { hasEnded, makeTemporary, processName, removeLeftovers } from '../../../src/core/files/index.js';
import { openProject } from '../../../src/core/project/index.js';
import { type Desk, desk } from '../../support/desk.js';
import { root } from '../../support/machine.js';
import { heldClock, scratch } from '../../support/project.js';

/** A project that another machine made, and Stemma on this one. */
async function foreign(): Promise<{ dir: string; dataDir: string }> {
  const maker = desk();
  const { dir } = await maker.call.project.create({ dir: join(scratch(), 'work') });
  for await (const _ of await maker.call.import.run({ paths: [join(root, 'resources/sample')] }));
  maker.engine.close();
  return { dir, dataDir: scratch() };
}

const copiesIn = (dataDir: string): string[] =>
  existsSync(join(dataDir, 'copies')) ? readdirSync(join(dataDir, 'copies')).map((name) => join(dataDir, 'copies', name)) : [];

/** Opens the project in a new process of Stemma, as far as the database can tell. */
async function opened(dataDir: string, dir: string): Promise<Desk> {
  const stemma = desk(dataDir);
  await stemma.call.project.open({ dir });
  return stemma;
}

test('[T68] a restricted project is copied once, and again only after it changed', async () => {
  const { dir, dataDir } = await foreign();
  const first = await opened(dataDir, dir);
  const tips = await first.call.context.tips({});
  const [copy = ''] = copiesIn(dataDir);
  const { ino } = statSync(join(copy, 'stemma.db'));
  first.engine.close();
  const second = await opened(dataDir, dir);
  expect(copiesIn(dataDir)).toEqual([copy]);
  expect(statSync(join(copy, 'stemma.db')).ino).toBe(ino);
  expect(await second.call.context.tips({})).toEqual(tips);

  // Its owner goes on working: a session that has it open keeps its copy, and the next one reads the new state.
  const owner = openProject(dir, Date.now);
  owner.db.run("UPDATE commits SET summary = 'changed by its owner' WHERE id = ?", tips[0]?.id ?? '');
  owner.close();
  const third = await opened(dataDir, dir);
  expect(await third.call.context.show({ id: tips[0]?.id ?? '' })).toMatchObject({ summary: 'changed by its owner' });
  expect(copiesIn(dataDir)).toHaveLength(2);
  expect(await second.call.context.tips({})).toEqual(tips);
  second.engine.close();
  third.engine.close();
  (await opened(dataDir, dir)).engine.close();
  expect(copiesIn(dataDir)).toHaveLength(1);
  expect(copiesIn(dataDir)).not.toContain(copy);
});

test('[T68] a kept copy is private, and a damaged one is made again', async () => {
  const { dir, dataDir } = await foreign();
  const first = await opened(dataDir, dir);
  const tips = await first.call.context.tips({});
  first.engine.close();
  const [copy = ''] = copiesIn(dataDir);
  for (const name of ['', ...readdirSync(copy)]) expect([name, statSync(join(copy, name)).mode & 0o077]).toEqual([name, 0]);
  writeFileSync(join(copy, 'stemma.db'), 'no database');
  expect(await (await opened(dataDir, dir)).call.context.tips({})).toEqual(tips);
});

test('[T68] a check looks at the project itself, and not at a kept copy of it', async () => {
  const { dir, dataDir } = await foreign();
  (await opened(dataDir, dir)).engine.close();
  const [copy = ''] = copiesIn(dataDir);
  const raw = new Database(join(copy, 'stemma.db'));
  raw.exec("UPDATE commits SET summary = 'changed in the copy'");
  raw.close();
  expect(await (await opened(dataDir, dir)).call.project.check({})).toMatchObject({ ok: true });
});

test('[T68] a Stemma folder that cannot hold copies keeps nobody from reading', async () => {
  const { dir, dataDir } = await foreign();
  writeFileSync(join(dataDir, 'copies'), 'a file where the folder would be');
  expect(await (await opened(dataDir, dir)).call.context.tips({})).not.toEqual([]);
});

test('[T68] temporary folders of killed processes are removed, and those of others stay', () => {
  const place = scratch();
  const { pid } = spawnSync(process.execPath, ['-e', '']);
  const ended = `${pid}-${processName.split('-')[1]}`;
  expect([hasEnded(ended), hasEnded(processName)]).toEqual([true, false]);
  const make = (name: string): string => {
    mkdirSync(join(place, name));
    writeFileSync(join(place, name, 'stemma.db'), 'a copy');
    return name;
  };
  const removed = [make(`stemma-read-${ended}-abc123`), make(`stemma-follow-${ended}-abc123`), make(`stemma-repair-${ended}-abc123`)];
  const kept = [
    make(`stemma-read-${processName}-abc123`),
    // A process of a container that shares the folder.
    make(`stemma-read-${pid}-1-abc123`),
    make(`stemma-other-${ended}-abc123`),
    make('stemma-read-abc123'),
  ];
  removeLeftovers([place, join(place, 'missing')]);
  expect(readdirSync(place).sort()).toEqual(kept.sort());
  expect(removed.some((name) => existsSync(join(place, name)))).toBe(false);
});

test('[T68] the copy of a project that was deleted or trusted is removed at the next start', async () => {
  const { dir, dataDir } = await foreign();
  const first = await opened(dataDir, dir);
  await first.call.project.trust({ dir });
  await first.call.context.update({ id: (await first.call.context.tips({}))[0]?.id ?? '', summary: 'mine' });
  first.engine.close();
  expect(copiesIn(dataDir)).toHaveLength(1);
  desk(dataDir);
  expect(copiesIn(dataDir)).toEqual([]);
});

test('[T15, T68] a database with holes that is larger than the disk is refused', async () => {
  // An archive can hold a file of a few bytes that claims to have terabytes: copying it filled the disk first.
  const { dir, dataDir } = await foreign();
  truncateSync(join(dir, 'stemma.db'), 8 * 2 ** 40);
  await expect(opened(dataDir, dir)).rejects.toMatchObject({ code: 'UNAVAILABLE', data: { reason: 'disk-full' } });
  expect(copiesIn(dataDir)).toEqual([]);
});

test('[T68] a project that is read for one call alone leaves nothing in the temporary folder', async () => {
  const { dir } = await foreign();
  const place = mkdtempSync(join(tmpdir(), 'stemma-test-'));
  onTestFinished(() => rmSync(place, { recursive: true, force: true }));
  const clone = join(place, 'clone.stemma');
  cpSync(dir, clone, { recursive: true });
  const before = readdirSync(tmpdir()).filter((name) => name.includes(`-${processName}-`));
  const machine = { replicas: {} as never, trusted: { has: () => false, add: () => {}, created: () => {} } };
  openProject(clone, heldClock(), machine).close();
  expect(readdirSync(tmpdir()).filter((name) => name.includes(`-${processName}-`))).toEqual(before);
  rmSync(makeTemporary('read'), { recursive: true });
});
