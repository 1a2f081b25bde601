import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { contract, procedureNames } from '../../src/core/contract/index.js';
import { openForHook } from '../../src/core/project/index.js';
import { kindOf } from '../../src/core/router/index.js';
import { openTrustedProjects } from '../../src/core/trust/index.js';
import { type Desk, desk } from '../support/desk.js';
import { root } from '../support/machine.js';
import { scratch } from '../support/project.js';

type Call = (input: unknown) => Promise<unknown>;

const at = ({ call }: Desk, procedure: string): Call =>
  procedure.split('.').reduce<unknown>((node, name) => (node as Record<string, unknown>)[name], call) as Call;

/** Calls, and reads a stream to its end. Of one that does not end, only the first event is read. */
async function made(call: Promise<unknown>): Promise<unknown> {
  const answer = await call;
  if (typeof answer !== 'object' || answer === null || !(Symbol.asyncIterator in answer)) return answer;
  const stream = answer as AsyncIterableIterator<unknown>;
  const first = await stream.next();
  await stream.return?.(undefined);
  return first.value;
}

const refused = (call: Promise<unknown>) =>
  made(call).then(
    (value) => ({ code: 'not refused', message: JSON.stringify(value), data: {} }),
    (error: { code: string; message: string; data: Record<string, unknown> }) => error,
  );

/** Every file and folder below a folder, with its content, its rights and the time of its last change. */
function state(dir: string): string[] {
  return readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .sort()
    .map((name) => {
      const { mode, mtimeMs, size } = statSync(join(dir, name));
      const bytes = statSync(join(dir, name)).isFile()
        ? createHash('sha256')
            .update(readFileSync(join(dir, name)))
            .digest('hex')
        : '';
      return `${name} ${mode} ${mtimeMs} ${size} ${bytes}`;
    });
}

interface Clone {
  /** The attacker's project on the victim's disk. */
  readonly dir: string;
  readonly projectId: string;
  readonly tip: string;
  readonly sourceId: string;
}

/** A project with an imported history, made on another machine, and cloned here together with a repository. */
async function clone(projectId?: string): Promise<Clone> {
  const attacker = desk();
  const { dir, projectId: id } = await attacker.call.project.create({ dir: join(scratch(), 'work'), projectId });
  const stream = await attacker.call.import.run({ paths: [join(root, 'resources', 'sample')] });
  for await (const _ of stream);
  await attacker.call.artifact.put({ text: 'x'.repeat(300_000), contentType: 'text/plain' });
  const [tip] = await attacker.call.context.tips({});
  const [source] = await attacker.call.source.list({});
  attacker.engine.close();
  const cloned = join(scratch(), 'repository', 'work.stemma');
  cpSync(dir, cloned, { recursive: true });
  return { dir: cloned, projectId: id, tip: tip?.id ?? '', sourceId: source?.sourceId ?? '' };
}

test('[T1] a cloned project is restricted until a person trusts it, and then works', async () => {
  const { dir, tip } = await clone();
  const victim = desk();
  expect(await victim.call.project.open({ dir })).toMatchObject({ trusted: false });
  const refusal = await refused(victim.call.context.fork({ id: tip, summary: 'mine' }));
  expect(refusal).toMatchObject({ code: 'UNAUTHORIZED', data: { reason: 'restricted' } });
  expect(refusal.message).toContain(`stemma trust ${dir}`);
  expect(await victim.call.project.trust({ dir })).toMatchObject({ dir, trusted: true });
  expect(await victim.call.project.info({})).toMatchObject({ trusted: true });
  await victim.call.context.update({ id: tip, summary: 'mine' });
  victim.engine.close();
  const later = desk(victim.dataDir);
  expect(await later.call.project.open({ dir })).toMatchObject({ trusted: true });
  expect(await later.call.context.show({ id: tip })).toMatchObject({ summary: 'mine' });
});

test('[T1] a project that was moved, copied or linked elsewhere, or got another id, asks again', async () => {
  // Consent to ~/work/a.stemma does not cover a copy that a repository brings, nor another project in the same place.
  const victim = desk();
  const place = scratch();
  const { dir } = await victim.call.project.create({ dir: join(place, 'own') });
  expect((await victim.call.project.info({})).trusted).toBe(true);
  victim.engine.close();
  const trustedAt = async (path: string): Promise<boolean> => (await desk(victim.dataDir).call.project.open({ dir: path })).trusted;
  symlinkSync(dir, join(place, 'link.stemma'));
  expect(await trustedAt(join(place, 'link.stemma'))).toBe(true);
  const moved = join(place, 'moved.stemma');
  cpSync(dir, moved, { recursive: true });
  expect(await trustedAt(moved)).toBe(false);
  rmSync(dir, { recursive: true });
  renameSync((await clone()).dir, dir);
  expect(await trustedAt(dir)).toBe(false);
});

test('[T1] the projects of the recent list are trusted at the upgrade, and later ones are not', async () => {
  const older = desk();
  const { dir } = await older.call.project.create({ dir: join(scratch(), 'own') });
  older.engine.close();
  // As an older Stemma left it: a list, and no consent.
  rmSync(join(older.dataDir, 'trusted'), { recursive: true });
  const { dir: foreign } = await clone();
  const upgraded = desk(older.dataDir);
  expect((await upgraded.call.project.open({ dir: foreign })).trusted).toBe(false);
  expect((await upgraded.call.project.open({ dir })).trusted).toBe(true);
  upgraded.engine.close();
  expect((await desk(older.dataDir).call.project.open({ dir: foreign })).trusted).toBe(false);
});

test('[T2] every procedure that writes or acts is refused for a restricted project', async () => {
  const { dir } = await clone();
  const victim = desk();
  await victim.call.project.open({ dir });
  const all = procedureNames(contract);
  // A check writes only if it repairs, which is tried below.
  const writes = all.filter((name) => ['writes', 'acts'].includes(kindOf(name.split('.'))) && name !== 'project.check');
  expect(writes.length).toBeGreaterThan(60);
  for (const name of writes)
    expect(await refused(at(victim, name)({})), name).toMatchObject({ code: 'UNAUTHORIZED', data: { reason: 'restricted' } });
  for (const [name, input] of [['project.check', { repair: true }]] as const)
    expect(await refused(at(victim, name)(input)), name).toMatchObject({ code: 'UNAUTHORIZED' });
  expect(await refused(desk(victim.dataDir).call.project.open({ dir, repair: true }))).toMatchObject({ code: 'UNAUTHORIZED' });
});

test('[T2, T3] a restricted project is read and exported without a change in its folder', { tags: 'long' }, async () => {
  // SQLite's journal, migrations, caches and search indexes were written into the folder by reading alone.
  const { dir, tip, sourceId } = await clone();
  rmSync(join(dir, 'objects', 'snapshots'), { recursive: true, force: true });
  const before = state(dir);
  const victim = desk();
  await victim.call.project.open({ dir });
  const out = scratch();
  const { entries } = await victim.call.context.entries({ id: tip, limit: 5 });
  expect(entries.length).toBeGreaterThan(0);
  const history = await victim.call.context.history({ id: tip });
  const parent = history[1]?.id ?? tip;
  const inputs: Readonly<Record<string, unknown>> = {
    'context.materialize': { id: tip },
    'context.show': { id: tip },
    'context.history': { id: tip },
    'context.entries': { id: tip },
    'context.outline': { id: tip },
    'context.find': { id: tip, text: 'larder' },
    'context.diff': { a: parent, b: tip },
    'export.context': { id: tip, format: 'markdown', path: join(out, 'context.md') },
    'export.comparison': { ids: [parent, tip], path: join(out, 'comparison.html') },
    'export.formats': { id: tip },
    'source.get': { sourceId, path: join(out, 'source.jsonl') },
    'search.query': { text: 'larder' },
    'compose.preview': { id: tip },
    'artifact.gc': { dryRun: true },
    'turn.steps': { id: tip },
    'turn.sides': { ids: [parent, tip] },
    'turn.compareMany': { ids: [parent, tip] },
    'turn.request': { turnId: tip },
    'turn.reproduce': { turnId: tip },
  };
  for (const name of procedureNames(contract)) {
    const input = inputs[name] ?? {};
    // The named ones include calls that write with other inputs.
    if (!(name in inputs) && !['reads', 'live'].includes(kindOf(name.split('.')))) continue;
    const refusal = await refused(at(victim, name)(input));
    const allowed = name in inputs ? ['not refused'] : ['not refused', 'BAD_REQUEST', 'NOT_FOUND'];
    expect(allowed, `${name}: ${refusal.message}`).toContain(refusal.code);
  }
  expect(readdirSync(out).sort()).toEqual(['comparison.html', 'context.md', 'source.jsonl']);
  expect(state(dir)).toEqual(before);
  victim.engine.close();
  expect(state(dir)).toEqual(before);
});

test('[T3] a cloned project with the id of a project that has replicas uploads nothing', { tags: 'long' }, async () => {
  // A repository brings a project with the id of the victim's own: its objects would go to, or come from, the victim's replica.
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'ambient');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'ambient');
  const victim = desk();
  const { projectId } = await victim.call.project.create({ dir: join(scratch(), 'own') });
  const replica = join(scratch(), 'replica');
  await victim.call.replica.set({ name: 'disk', place: { kind: 'folder', dir: replica }, takes: 'all' });
  await victim.call.replica.replicate({});
  const held = state(replica);
  const { dir } = await clone(projectId);
  const other = desk(victim.dataDir);
  await other.call.project.open({ dir });
  expect(await other.call.replica.list({})).toEqual([]);
  expect(await refused(other.call.replica.replicate({}))).toMatchObject({ code: 'UNAUTHORIZED' });
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  expect(state(replica)).toEqual(held);
  vi.unstubAllEnvs();
});

test('[T3] no hook records into a project that nobody trusts', async () => {
  const { dir } = await clone();
  const before = state(dir);
  const trusted = openTrustedProjects(scratch());
  expect(() => openForHook({ dir }, Date.now, trusted)).toThrow(expect.objectContaining({ code: 'UNAUTHORIZED' }));
  expect(state(dir)).toEqual(before);
  const own = join(scratch(), 'own.stemma');
  openForHook({ dir: own }, Date.now, trusted).close();
  openForHook({ dir: own }, Date.now, trusted).close();
});

test('[T2] a project without its folder of objects, as git clones it, is readable', async () => {
  const { dir, tip } = await clone();
  rmSync(join(dir, 'objects'), { recursive: true });
  const victim = desk();
  await victim.call.project.open({ dir });
  expect((await victim.call.context.show({ id: tip })).id).toBe(tip);
  await victim.call.project.check({});
  expect(existsSync(join(dir, 'objects'))).toBe(false);
});

test('[T1] a Stemma folder that cannot be written still knows the projects of the recent list', async () => {
  const older = desk();
  const { dir, projectId } = await older.call.project.create({ dir: join(scratch(), 'own') });
  older.engine.close();
  rmSync(join(older.dataDir, 'trusted'), { recursive: true });
  writeFileSync(join(older.dataDir, 'trusted'), 'a file where the folder would be');
  expect(openTrustedProjects(older.dataDir).has(projectId, dir)).toBe(true);
  mkdirSync(join(older.dataDir, 'other'));
  expect(openTrustedProjects(older.dataDir).has(projectId, older.dataDir)).toBe(false);
});
