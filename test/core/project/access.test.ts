import { cpSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createRouterClient } from '@orpc/server';
import { describe, expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../../src/core/base/index.js';
import { contract, procedureNames } from '../../../src/core/contract/index.js';
import { createEngine, createSession, openProject } from '../../../src/core/project/index.js';
import { contextOf, kindOf, router } from '../../../src/core/router/index.js';
import { answer, prompt } from '../../support/claude-lines.js';
import { canMount, grow, readOnlyView, remount, smallDisk } from '../../support/disks.js';
import { root } from '../../support/machine.js';
import { scratch, trustEverything } from '../../support/project.js';

/** An engine of its own with one session. */
function engineAt(dataDir: string) {
  const engine = createEngine({
    dataDir,
    agentRoots: [],
    sampleDir: join(root, 'resources/sample'),
    startup: { paths: [], project: null },
    platform: 'linux',
  });
  onTestFinished(() => engine.close());
  return { engine, client: createRouterClient(router, { context: contextOf(createSession(engine)) }) };
}

const delta = (n: number): string => prompt(`u${n}`, `question ${n}`) + answer(`a${n}`, `answer ${n}`, { parent: `u${n}` });

/** A project with the sample's sessions, a ticket and one commit that only the log holds. */
async function madeAt(dir: string) {
  const { engine, client } = engineAt(scratch());
  await client.project.create({ dir });
  for await (const _ of await client.import.run({ paths: [join(root, 'resources/sample')] }));
  await client.ticket.create({ title: 'Read me', type: 'task' });
  const { id } = await client.context.checkpoint({
    parent: null,
    type: 'delta',
    format: 'claude-code-v1',
    text: delta(1),
    template: 't',
    checkpoint: 'explicit',
  });
  return { engine, client, id };
}

type Client = ReturnType<typeof engineAt>['client'];

/** Everything that a person can read in a project, except for times and paths. */
async function readings(client: Client) {
  const tips = await client.context.tips({});
  const contents = [];
  for (const { id } of tips) {
    const { artifactRef } = await client.context.materialize({ id, stop: 'root' });
    const { data } = await client.artifact.get({ ref: artifactRef });
    const { entries } = await client.context.entries({ id });
    contents.push({ id, data, entries, turns: await client.turn.list({ id }) });
  }
  return {
    contents,
    found: (await client.search.query({ text: 'the' })).hits.length,
    tickets: await client.ticket.list({}),
    requests: await client.request.list({}),
    sources: await client.source.list({}),
    check: await client.project.check({}),
  };
}

/** Every file below a folder with its bytes and times. */
const stateOf = (dir: string): unknown =>
  readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .sort()
    .map((name) => {
      const stat = statSync(join(dir, name));
      return [name, stat.isFile() ? readFileSync(join(dir, name)).toString('base64') : '', stat.mtimeMs];
    });

async function refusesWrites(client: Client, code: string): Promise<void> {
  const commit = { parent: null, type: 'delta', format: 'claude-code-v1', text: delta(2), template: 't', checkpoint: 'explicit' } as const;
  await expect(client.context.checkpoint(commit)).rejects.toMatchObject({ code });
  await expect(client.ticket.create({ title: 'No', type: 'task' })).rejects.toMatchObject({ code });
  await expect(client.artifact.put({ text: 'no', contentType: 'text/plain' })).rejects.toMatchObject({ code });
  await expect(client.project.check({ repair: true })).rejects.toMatchObject({ code });
}

describe('a read-only project', () => {
  test('[T31] every procedure says whether it writes', () => {
    for (const name of procedureNames(contract)) expect(kindOf(name.split('.')), name).toMatch(/^(reads|live|acts|writes|machine|scans)$/);
  });

  test('[T31] a restricted project is readable and stays unchanged, byte for byte', { tags: 'long' }, async () => {
    const dir = join(scratch(), 'p.stemma');
    const { engine, client } = await madeAt(dir);
    const expected = await readings(client);
    engine.close();
    const before = stateOf(dir);
    const project = openProject(dir, systemClock, {
      replicas: { of: () => new Map(), set: () => {} },
      trusted: { ...trustEverything, has: () => false },
    });
    onTestFinished(() => project.close());
    const { engine: other } = engineAt(scratch());
    const session = createSession(other);
    session.use(project);
    const reader = createRouterClient(router, { context: contextOf(session) });
    expect((await reader.project.info({})).access).toMatchObject({ mode: 'read-only', reason: 'restricted' });
    expect(await readings(reader)).toEqual(expected);
    await refusesWrites(reader, 'UNAUTHORIZED');
    // The database itself refuses writes that bypass the router.
    expect(() => project.db.run('INSERT INTO firstParentRun (project) VALUES (1)')).toThrow(expect.objectContaining({ code: 'UNAVAILABLE' }));
    expect(stateOf(dir)).toEqual(before);
  });
});

describe.skipIf(!canMount)('a disk (needs the right to mount)', () => {
  test('[T31] a read-only folder is opened, read, checked and exported, log included', { tags: 'long' }, async () => {
    const dir = join(scratch(), 'p.stemma');
    const { client, id } = await madeAt(dir);
    // The first engine still runs, so the newest commit is in the log. The log's index is not copied.
    const copy = scratch();
    cpSync(dir, join(copy, 'p.stemma'), { recursive: true, filter: (path) => !path.endsWith('-shm') });
    expect(statSync(join(copy, 'p.stemma/stemma.db-wal')).size).toBeGreaterThan(0);
    for (const folder of [join(readOnlyView(copy), 'p.stemma'), join(readOnlyView(join(dir, '..')), 'p.stemma')]) {
      const { client: reader } = engineAt(scratch());
      await reader.project.trust({ dir: folder });
      const { access } = await reader.project.open({ dir: folder });
      expect(access).toMatchObject({ mode: 'read-only', reason: 'read-only-disk' });
      expect(await readings(reader)).toEqual(await readings(client));
      expect((await reader.context.show({ id })).id).toBe(id);
      const path = join(scratch(), 'out.jsonl');
      await reader.export.context({ id, format: 'claude-code-v1', path });
      expect(readFileSync(path, 'utf8')).toContain('question 1');
      await refusesWrites(reader, 'UNAVAILABLE');
    }
  });

  test('[T31] a project on a full disk is readable, and writable again when there is room', { tags: 'long' }, async () => {
    const disk = smallDisk(8);
    const dir = join(disk, 'p.stemma');
    const { engine, client, id } = await madeAt(dir);
    const expected = await readings(client);
    engine.close();
    const owner = engineAt(join(disk, 'data'));
    await owner.client.project.trust({ dir });
    owner.engine.close();
    for (let size = 1 << 20, n = 0; size >= 1; n++)
      try {
        writeFileSync(join(disk, `filler-${n}`), Buffer.alloc(size));
      } catch {
        size >>= 1;
      }
    const { client: reader } = engineAt(join(disk, 'data'));
    expect((await reader.project.open({ dir })).access).toMatchObject({ mode: 'read-only', reason: 'disk-full' });
    expect(await readings(reader)).toEqual(expected);
    await refusesWrites(reader, 'UNAVAILABLE');
    grow(disk, 64);
    expect((await reader.project.open({ dir })).access).toEqual({ mode: 'read-write' });
    expect((await reader.context.fork({ id, edits: [{ op: 'append', entry: { role: 'user', kind: 'text', text: 'more' } }] })).id).not.toBe(id);
  });

  test('[T36] a read-only data folder does not block projects in other places', async () => {
    const disk = smallDisk(4);
    const dataDir = join(disk, 'data');
    engineAt(dataDir).engine.close();
    remount(disk, 'ro');
    for (const place of [dataDir, join(disk, 'missing')]) {
      const dir = join(scratch(), 'p.stemma');
      const { client } = engineAt(place);
      expect((await client.project.create({ dir })).access).toEqual({ mode: 'read-write' });
      await client.ticket.create({ title: 'Works', type: 'task' });
      expect(await client.library.recent({})).toEqual([]);
      await expect(client.library.home({})).rejects.toMatchObject({ code: expect.stringMatching(/UNAVAILABLE|BAD_REQUEST/) });
    }
    expect(existsSync(join(disk, 'missing'))).toBe(false);
  });
});
