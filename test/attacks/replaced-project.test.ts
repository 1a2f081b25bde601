import { cpSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createRouterClient } from '@orpc/server';
import { expect, onTestFinished, test } from 'vitest';
import { type ContextId, systemClock } from '../../src/core/base/index.js';
import { checkpoint, materialize, show } from '../../src/core/chain/index.js';
import { atOnce, checkProject, createEngine, createProject, createSession, openProject, type Project } from '../../src/core/project/index.js';
import { contextOf, router } from '../../src/core/router/index.js';
import { scratch } from '../support/project.js';
import { refusal } from '../support/refusal.js';

const line = (size: number): string => `${JSON.stringify({ type: 'user', uuid: `${size}`, message: { role: 'user', content: 'x'.repeat(size) } })}\n`;

/** A commit; a large one goes to a pack. */
const commit = ({ chain }: Project, size: number, parent: ContextId | null = null): ContextId =>
  checkpoint(chain, { parent, type: 'delta', format: 'claude-code-v1', text: line(size), template: 't', checkpoint: 'explicit' }).id;

/** Two projects beside each other: one that is open, and one that another program has open, with a commit in its log. */
function twoProjects(): { dir: string; project: Project; otherDir: string; other: Project; first: ContextId } {
  const folder = scratch();
  const [dir, otherDir] = [join(folder, 'work.stemma'), join(folder, 'other.stemma')];
  const project = createProject({ dir }, systemClock);
  const other = createProject({ dir: otherDir }, systemClock);
  onTestFinished(() => project.close());
  onTestFinished(() => other.close());
  // Its result is cached as a file.
  materialize(other.chain, { id: commit(other, 9, commit(other, 8)) });
  return { dir, project, otherDir, other, first: commit(project, 10) };
}

const contentOf = (dir: string): unknown =>
  readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .sort()
    .map((name) => [name, statSync(join(dir, name)).isFile() ? readFileSync(join(dir, name)).toString('base64') : '']);

const refused = expect.objectContaining({ code: 'CONFLICT', data: expect.objectContaining({ reason: 'replaced' }) });

test('[T30] a commit goes to no folder that took the place of the project', () => {
  // The folder was moved away and another one put in its place: the commit was acknowledged, and its pack went to the other folder.
  const { dir, project, otherDir, first } = twoProjects();
  const moved = `${dir}-moved`;
  renameSync(dir, moved);
  renameSync(otherDir, dir);
  const before = contentOf(dir);
  for (const size of [20, 400_000]) expect(refusal(() => commit(project, size, first))).toEqual(refused);
  expect(refusal(() => project.chain.artifacts.put(Buffer.from('note'), { contentType: 'text/plain' }))).toEqual(refused);
  expect(refusal(() => materialize(project.chain, { id: first, format: 'markdown' }))).toEqual(refused);
  expect(refusal(() => project.chain.artifacts.dropCaches())).toEqual(refused);
  expect(show(project.chain, first).id).toBe(first);
  // SQLite removes the log of a database that it closes by the path of that log: not the other one's.
  project.close();
  expect(contentOf(dir)).toEqual(before);
  const again = openProject(moved, systemClock);
  onTestFinished(() => again.close());
  expect(atOnce(checkProject(again)).problems).toEqual([]);
  expect(show(again.chain, commit(again, 30, first)).parent).toBe(first);
});

test('[T30] a folder that was deleted while it was open takes no commit', () => {
  // The commit was acknowledged, and went to files without a name.
  const { dir, project, first } = twoProjects();
  rmSync(dir, { recursive: true });
  expect(refusal(() => commit(project, 20, first))).toEqual(refused);
});

test.each(['stemma.db', 'objects'])('[T30] %s that was replaced by a copy takes no commit', (name) => {
  // A backup tool put a copy of the database, or of the packs, back in place: the commit went to a file without a name.
  const { dir, project, first } = twoProjects();
  commit(project, 400_000, first);
  cpSync(join(dir, name), join(dir, '..', 'copy'), { recursive: true });
  rmSync(join(dir, name), { recursive: true });
  renameSync(join(dir, '..', 'copy'), join(dir, name));
  for (const size of [20, 500_000]) expect(refusal(() => commit(project, size, first))).toEqual(refused);
});

test('[T30] the folder is compared again before the commit, not only at its beginning', () => {
  // Another program replaced the folder while an import ran.
  const { dir, project, first } = twoProjects();
  const work = (): void =>
    project.db.transaction(() => {
      commit(project, 20, first);
      renameSync(dir, `${dir}-moved`);
    });
  expect(refusal(work)).toEqual(refused);
  project.close();
  const again = openProject(`${dir}-moved`, systemClock);
  onTestFinished(() => again.close());
  expect(again.db.one('SELECT COUNT(*) AS count FROM commits')).toEqual({ count: 1 });
});

test('[T30] opening the path again opens what lies there now', async () => {
  const { dir, project, otherDir, other } = twoProjects();
  project.close();
  const engine = createEngine({
    dataDir: scratch(),
    agentRoots: [],
    sampleDir: scratch(),
    startup: { paths: [], project: null },
    platform: 'linux',
  });
  onTestFinished(() => engine.close());
  const client = createRouterClient(router, { context: contextOf(createSession(engine)) });
  const ticket = { title: 'T', type: 'task' } as const;
  await client.project.trust({ dir });
  expect((await client.project.open({ dir })).projectId).toBe(project.projectId);
  renameSync(dir, `${dir}-moved`);
  renameSync(otherDir, dir);
  await expect(client.ticket.create(ticket)).rejects.toMatchObject({ code: 'CONFLICT' });
  // Another project at the place of a trusted one is not trusted.
  expect((await client.project.open({ dir })).access).toMatchObject({ mode: 'read-only', reason: 'restricted' });
  await client.project.trust({ dir });
  expect((await client.project.open({ dir })).projectId).toBe(other.projectId);
  await client.ticket.create(ticket);
  expect((await client.project.open({ dir: `${dir}-moved` })).projectId).toBe(project.projectId);
});
