import { cpSync, readdirSync, renameSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { ensureBuilt } from '../support/built.js';
import { canMount, remount, smallDisk } from '../support/disks.js';
import { cli, type Door, http, mcp } from '../support/doors.js';
import { stateOf } from '../support/foreign-project.js';
import { type Machine, machine } from '../support/machine.js';

beforeAll(ensureBuilt, 300_000);

/** The door of tools, closed with the test. */
async function tools(own: Machine, dir: string): Promise<Door> {
  const door = await mcp(own, dir);
  onTestFinished(() => door.close());
  return door;
}

/** A machine with a project on a small disk, which it made and trusts. */
async function onDisk(megabytes = 24): Promise<{ own: Machine; disk: string; dir: string; tip: string }> {
  const own = machine();
  onTestFinished(() => own[Symbol.asyncDispose]());
  const disk = smallDisk(megabytes);
  const dir = join(disk, 'work.stemma');
  for (const words of [
    ['init', dir],
    ['import', '--project', dir, own.giveHistory()],
  ])
    expect((await own.ask(...words)).code).toBe(0);
  const [tip] = JSON.parse((await own.ask('call', 'context.tips', '--project', dir)).out) as { id: string }[];
  return { own, disk, dir, tip: tip?.id ?? '' };
}

/** Everything that a door offers for reading works, and a write is refused with one of these reasons. */
async function readsOnly({ name, call }: Door, { own, tip }: { own: Machine; tip: string }): Promise<void> {
  expect([name, await call('context.history', { id: tip })]).toMatchObject([name, { result: expect.anything() }]);
  expect([name, await call('context.materialize', { id: tip })]).toMatchObject([name, { result: expect.anything() }]);
  if (name !== 'MCP') {
    expect([name, await call('project.check', {})]).toMatchObject([name, { result: { ok: true, problems: [] } }]);
    const path = own.path(`exported-${name}.md`);
    expect([name, await call('export.context', { id: tip, format: 'markdown', path })]).toMatchObject([name, { result: expect.anything() }]);
    expect([name, await call('project.backUp', {})]).toMatchObject([name, { code: 'UNAVAILABLE' }]);
  }
  expect([name, await call('ticket.create', { title: 'Mine', type: 'task' })]).toMatchObject([name, { code: 'UNAVAILABLE' }]);
}

describe.skipIf(!canMount)('at the command line, over HTTP and over MCP (needs the right to mount)', () => {
  // A DVD, a read-only mount of a container, a backup that is looked into.
  test('[T31] a project on a read-only disk is read, checked and exported, and never written', { tags: 'long' }, async () => {
    const world = await onDisk();
    const { own, disk, dir } = world;
    remount(disk, 'ro');
    const before = stateOf(dir);
    for (const door of [cli(own, dir), await http(own, dir), await tools(own, dir)]) await readsOnly(door, world);
    for (const words of [['log'], ['fsck'], ['backup']]) expect([words, (await own.run(...words, '--project', dir)).code]).toEqual([words, 0]);
    expect(stateOf(dir)).toEqual(before);
    remount(disk, 'rw');
    expect(await cli(own, dir).call('ticket.create', { title: 'Mine', type: 'task' })).toMatchObject({ result: expect.anything() });
  });

  // A disk that something else filled to its last byte.
  test('[T31] a project on a full disk is read, checked and exported, until there is room', { tags: 'long' }, async () => {
    const world = await onDisk();
    const { own, disk, dir } = world;
    const filler = join(disk, 'filler');
    const { bavail, bsize } = statfsSync(disk);
    writeFileSync(filler, Buffer.alloc(bavail * bsize));
    for (const door of [cli(own, dir), await http(own, dir), await tools(own, dir)]) await readsOnly(door, world);
    rmSync(filler);
    const written = await cli(own, dir).call('ticket.create', { title: 'Mine', type: 'task' });
    expect(written).toMatchObject({ result: expect.anything() });
    expect(await cli(own, dir).call('project.check', {})).toMatchObject({ result: { ok: true } });
  });

  // `mv work.stemma old; git checkout work.stemma` under a running server: the commit went to one folder and its pack to the other.
  test('[T30] a folder that is replaced under a running server is not written to', { tags: 'long' }, async () => {
    const { own, dir } = await onDisk();
    const [server, agent] = [await http(own, dir), await tools(own, dir)];
    for (const door of [server, agent])
      expect(await door.call('ticket.create', { title: 'Before', type: 'task' })).toMatchObject({ result: expect.anything() });
    const moved = `${dir.slice(0, -'.stemma'.length)}-moved.stemma`;
    renameSync(dir, moved);
    cpSync(moved, dir, { recursive: true });
    const contents = (): string[] => [dir, moved].flatMap((each) => stateOf(each).filter((line) => !/^stemma\.db-(wal|shm) /.test(line)));
    const before = contents();
    expect(await agent.call('ticket.create', { title: 'Lost', type: 'task' })).toMatchObject({ code: 'CONFLICT' });
    expect(contents()).toEqual(before);
    // A server opens the project anew for each request: it writes to what lies there now, and to nothing else.
    const movedBefore = stateOf(moved);
    expect(await server.call('ticket.create', { title: 'Now', type: 'task' })).toMatchObject({ result: expect.anything() });
    expect(stateOf(moved)).toEqual(movedBefore);
  });

  test('[T22] backups are made, listed and turned off at the command line and over HTTP', { tags: 'long' }, async () => {
    const { own, dir } = await onDisk();
    const names = (): string[] => readdirSync(join(dir, 'backups')).filter((name) => name.endsWith('.db'));
    expect((await own.run('backup', '--now', '--project', dir)).out).toContain('1 backup');
    expect(names()).toHaveLength(1);
    const server = await http(own, dir);
    expect(await server.call('project.backUp', { ifDue: true })).toMatchObject({ result: { on: true, backups: [{}] } });
    expect(await server.call('project.setBackups', { on: false })).toMatchObject({ result: { on: false } });
    expect((await own.run('backup', '--project', dir)).out).toContain('Automatic backups are off');
    expect(names()).toHaveLength(1);
  });
});
