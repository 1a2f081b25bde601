import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { projectServices } from '../../src/core/assist/index.js';
import type { ArtifactNo, ContextId } from '../../src/core/base/index.js';
import { checkpoint, findCommit, materialize } from '../../src/core/chain/index.js';
import { atOnce, createProject, openProject, type Project } from '../../src/core/project/index.js';
import { heldClock, scratch } from '../support/project.js';
import { refusal } from '../support/refusal.js';

const uuid = (digit: number): string => `${digit}1111111-2222-3333-4444-555555555555`;
const documents = ['letter.txt', 'a'.repeat(64), `${uuid(1)}.part`, `${uuid(2)}.pack`, 'pack-0123456789abcdef.pack'];

interface Victim {
  readonly dir: string;
  /** A folder of somebody's files outside of the project, some named as Stemma names its own. */
  readonly outside: string;
  readonly id: ContextId;
  open(): Project;
}

/** A closed project of two commits, one with an object in a pack, and with a cached context. */
function victim(): Victim {
  const folder = scratch();
  const outside = join(folder, 'outside');
  mkdirSync(outside);
  for (const name of documents) writeFileSync(join(outside, name), 'mine');
  const clock = heldClock();
  const project = createProject({ dir: join(folder, 'work') }, clock);
  const line = (size: number): string =>
    `${JSON.stringify({ type: 'user', uuid: `${size}`, message: { role: 'user', content: 'x'.repeat(size) } })}\n`;
  const common = { type: 'delta', format: 'claude-code-v1', template: 'agent', checkpoint: 'explicit' } as const;
  const first = checkpoint(project.chain, { ...common, parent: null, text: line(400_000) });
  const { id } = checkpoint(project.chain, { ...common, parent: first.id, text: line(10) });
  materialize(project.chain, { id });
  project.close();
  const open = (): Project => {
    const opened = openProject(project.dir, clock);
    onTestFinished(() => opened.close());
    return opened;
  };
  return { dir: project.dir, outside, id, open };
}

const intact = (folder: string): void => {
  expect(readdirSync(folder).sort()).toEqual([...documents].sort());
  for (const name of documents) expect(readFileSync(join(folder, name), 'utf8')).toBe('mine');
};

test('[T10, T12] dropping caches through a link deletes no document', () => {
  // objects/snapshots -> ~/docs: "drop caches" and the collection of garbage deleted every file of the folder.
  const { dir, outside, open, id } = victim();
  rmSync(join(dir, 'objects', 'snapshots'), { recursive: true });
  symlinkSync(outside, join(dir, 'objects', 'snapshots'));
  const { chain } = open();
  expect(refusal(() => chain.artifacts.dropCaches())).toMatchObject({ code: 'UNAVAILABLE', message: expect.stringContaining('snapshots is a link') });
  expect(refusal(() => atOnce(chain.artifacts.gc({ roots: [], budgetBytes: 0 })))).toMatchObject({ code: 'UNAVAILABLE' });
  materialize(chain, { id });
  intact(outside);
});

test('[T10, T12] a linked folder of objects is refused, before and after the project is opened', () => {
  // objects -> .git/objects/pack: the idle upkeep deleted the packs of the repository.
  const { dir, outside, open } = victim();
  const opened = open();
  renameSync(join(dir, 'objects'), join(dir, 'kept'));
  symlinkSync(outside, join(dir, 'objects'));
  expect(refusal(open)).toMatchObject({ code: 'BAD_REQUEST', data: { field: 'dir' }, message: expect.stringContaining('objects is a link') });
  expect(refusal(() => opened.chain.artifacts.put(Buffer.alloc(300_000, 'y'), { contentType: 'text/plain' })).code).toBe('CONFLICT');
  expect(refusal(() => atOnce(opened.chain.artifacts.gc({ roots: [] }))).code).toBe('CONFLICT');
  intact(outside);
});

test('[T12] files of other names in the folders of objects and caches stay', () => {
  // A repository's packs, or somebody's notes, moved into the folder.
  const { dir, open } = victim();
  const mine = ['pack-0123456789abcdef.pack', 'notes.pack', 'letter.txt', `${'a'.repeat(64)}.jsonl`];
  for (const folder of ['objects', 'objects/snapshots']) for (const name of mine) writeFileSync(join(dir, folder, name), 'mine');
  mkdirSync(join(dir, 'objects', `${uuid(5)}.pack`));
  writeFileSync(join(dir, 'objects', `${uuid(6)}.pack`), 'left by a crash');
  const { artifacts } = open().chain;
  artifacts.dropCaches();
  atOnce(artifacts.gc({ roots: [] }));
  expect(readdirSync(join(dir, 'objects', 'snapshots')).sort()).toEqual([...mine].sort());
  expect(readdirSync(join(dir, 'objects'))).toEqual(expect.arrayContaining([...mine, `${uuid(5)}.pack`]));
  expect(readdirSync(join(dir, 'objects'))).not.toContain(`${uuid(6)}.pack`);
});

test('[T10] a pack that the database names outside of its folder is not read', () => {
  // UPDATE pack SET file = '../../.ssh/id_rsa': reads of an object returned bytes of the file.
  const { dir, outside, open } = victim();
  const project = open();
  const { no, file } = project.db.one<{ no: ArtifactNo; file: string }>(
    'SELECT artifact.no, file FROM artifact JOIN pack ON pack.no = artifact.pack',
  ) as { no: ArtifactNo; file: string };
  renameSync(join(dir, 'objects', file), join(outside, file));
  const read = (): unknown => project.chain.artifacts.read(no);
  for (const path of [join('..', '..', 'outside', file), join(outside, file)]) {
    project.db.run('UPDATE pack SET file = ?', path);
    expect(refusal(read).code).toBe('CORRUPT');
  }
  symlinkSync(join(outside, file), join(dir, 'objects', file));
  project.db.run('UPDATE pack SET file = ?', file);
  expect(refusal(read).code).toBe('CORRUPT');
  rmSync(join(dir, 'objects', file));
  renameSync(join(outside, file), join(dir, 'objects', file));
  expect(project.chain.artifacts.read(no).length).toBeGreaterThan(400_000);
});

test('[T11] an object whose size in the database is wrong allocates nothing', () => {
  // A row that claims a terabyte: the engine allocated it before it looked at the file.
  const project = victim().open();
  const { no } = project.db.one<{ no: ArtifactNo }>('SELECT no FROM artifact WHERE pack IS NOT NULL') as { no: ArtifactNo };
  for (const size of [2 ** 31, 2 ** 40]) {
    project.db.run('UPDATE artifact SET storedSize = ?, size = ? WHERE no = ?', size, size, no);
    expect(refusal(() => project.chain.artifacts.read(no)).code).toBe('CORRUPT');
  }
});

test.each(['stemma.db', 'stemma.db-wal', 'project.json'])('[T10, T11] %s as a link or a pipe is refused', (name) => {
  // stemma.db -> another program's database: Stemma migrated it. project.json -> /dev/zero or a pipe: opening never ended.
  const { dir, outside, open } = victim();
  const file = join(dir, name);
  const attacks = [
    () => symlinkSync(join(outside, 'letter.txt'), file),
    () => symlinkSync('/dev/zero', file),
    () => symlinkSync(join(outside, 'not made yet'), file),
    () => execFileSync('mkfifo', [file]),
  ];
  for (const attack of attacks) {
    rmSync(file, { force: true });
    attack();
    expect(['BAD_REQUEST', 'NOT_FOUND']).toContain(refusal(open).code);
  }
  intact(outside);
});

test('[T10, T11] notes that are links, pipes or large are not collected', () => {
  // notes/key.md -> ~/.ssh/id_rsa: the key went to a model as knowledge. A pipe named as a note hung the engine.
  const { dir, outside, open, id } = victim();
  const notes = join(dir, 'notes');
  mkdirSync(notes);
  writeFileSync(join(notes, 'own.md'), '# Letter\n\nThis note says letter.');
  writeFileSync(join(outside, 'letter.txt'), 'This letter is private.');
  symlinkSync(join(outside, 'letter.txt'), join(notes, 'letter.md'));
  execFileSync('mkfifo', [join(notes, 'pipe.md')]);
  writeFileSync(join(notes, 'large.md'), Buffer.alloc(2_000_000, 'letter '));
  const project = open();
  const found = (): string => JSON.stringify(projectServices(project, id).knowledge?.retrieve('letter'));
  expect(found()).toContain('This note says letter');
  expect(found()).not.toContain('private');
  rmSync(notes, { recursive: true });
  symlinkSync(outside, notes);
  expect(found()).not.toContain('private');
  expect(findCommit(project.chain, id).id).toBe(id);
});

// A project without a manifest is identified by its database: a pipe in its place made every command wait for ever, with --project.
test.each(['stemma.db', 'stemma.db-wal'])('[T11] a project without project.json and with a pipe as %s is refused at once', (name) => {
  const { dir } = victim();
  rmSync(join(dir, 'project.json'));
  rmSync(join(dir, name), { force: true });
  execFileSync('mkfifo', [join(dir, name)]);
  expect(refusal(() => openProject(dir, heldClock()))).toMatchObject({ code: 'BAD_REQUEST', message: expect.stringContaining('named pipe') });
  rmSync(join(dir, name));
  symlinkSync('/dev/zero', join(dir, name));
  expect(refusal(() => openProject(dir, heldClock()))).toMatchObject({ code: 'BAD_REQUEST', message: expect.stringContaining('is a link') });
});
