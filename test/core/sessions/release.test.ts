import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ContextId } from '../../../src/core/base/index.js';
import { entries, fork, graph, tips, type WriteChain } from '../../../src/core/chain/index.js';
import { importPaths } from '../../../src/core/import/index.js';
import { atOnce, checkProject, type Project, roots } from '../../../src/core/project/index.js';
import { indexInPieces, query } from '../../../src/core/search/index.js';
import { changeBranch, deleteSession, listSessions, readSession, releaseDeleted } from '../../../src/core/sessions/index.js';
import { filesOf } from '../../support/agents.js';
import { emptyProject, heldClock } from '../../support/project.js';

const sample = join(import.meta.dirname, '../../../resources/sample/larder');
const main = '9dec3024-c217-4237-8dba-1d670b433c80';
/** Words of the deleted session alone. The session that continues its beginning has none of them. */
const secret = /Call it 1\.2\.1|Forget June|Leave the columns alone/;

function withSample(): { project: Project; chain: WriteChain } {
  const project = emptyProject(heldClock());
  atOnce(importPaths(project.chain, { paths: [sample] }));
  atOnce(indexInPieces(project.chain));
  return { project, chain: project.chain };
}

const collect = (chain: WriteChain, options: { dryRun?: boolean } = {}) =>
  atOnce(chain.artifacts.gc({ ...options, roots, release: () => releaseDeleted(chain) }));

const filesWith = ({ dir }: Project, words: RegExp): string[] => filesOf(dir, /./).filter((file) => words.test(readFileSync(file, 'latin1')));

const contents = (chain: WriteChain) => tips(chain, {}).map(({ id }) => entries(chain, { id, stop: 'root' }).entries);
const notFound = (reason: string) => expect.objectContaining({ code: 'NOT_FOUND', data: expect.objectContaining({ reason }) });

describe('[W5] a collection of deleted sessions', () => {
  test.each([
    { form: 'as it was imported', isPacked: false },
    { form: 'in compressed blocks', isPacked: true },
  ])('leaves no word of them on the disk, and the others whole ($form)', ({ isPacked }) => {
    const { project, chain } = withSample();
    if (isPacked) atOnce(chain.artifacts.repack());
    const { tips: ends } = readSession(chain, main);
    deleteSession(chain, { sessionId: main, deleted: true });
    const before = { contents: contents(chain), list: listSessions(chain, {}), found: query(chain, { text: 'midnight' }).total };
    if (!isPacked) expect(filesWith(project, secret)).not.toEqual([]);
    const planned = collect(chain, { dryRun: true });
    expect(planned).toMatchObject({ deletedSessions: 1 });
    expect(planned.freedBytes).toBeGreaterThan(0);

    const done = collect(chain);
    expect(done).toMatchObject({ removed: planned.removed, freedBytes: planned.freedBytes, deletedSessions: 1, kept: planned.kept });
    expect(filesWith(project, secret)).toEqual([]);
    atOnce(indexInPieces(chain));
    expect({ contents: contents(chain), list: listSessions(chain, {}), found: query(chain, { text: 'midnight' }).total }).toEqual(before);
    expect(atOnce(checkProject(project)).problems).toEqual([]);
    expect(() => entries(chain, { id: ends[0] as ContextId, stop: 'root' })).toThrow(notFound('deleted'));
    expect(() => deleteSession(chain, { sessionId: main, deleted: false })).toThrow(/its content was freed/);
    expect(listSessions(chain, {})).toEqual(before.list);
    expect(collect(chain)).toMatchObject({ removed: 0, freedBytes: 0, deletedSessions: 0 });
  });

  test('frees a deleted branch, and other deletions of its session can still be undone', () => {
    const { project, chain } = withSample();
    const side = tips(chain, {}).find(({ summary }) => summary?.startsWith('Then say "in June"'))?.id as ContextId;
    const made = fork(chain, { id: side, edits: [{ op: 'append', entry: { role: 'user', kind: 'text', text: 'A wholly different way' } }] });
    changeBranch(chain, { commit: made.id, deleted: true });
    expect(collect(chain)).toMatchObject({ removed: 1, deletedSessions: 0 });
    expect(filesWith(project, /wholly different/)).toEqual([]);
    expect(() => changeBranch(chain, { commit: made.id, deleted: false })).toThrow(notFound('deleted'));
    const before = graph(chain, { offset: 0, limit: 1_000 }).rows;
    deleteSession(chain, { sessionId: main, deleted: true });
    deleteSession(chain, { sessionId: main, deleted: false });
    expect(graph(chain, { offset: 0, limit: 1_000 }).rows).toEqual(before);
    expect(atOnce(checkProject(project)).problems).toEqual([]);
  });

  test('frees nothing that was not deleted, and keeps what is pinned', () => {
    const { chain } = withSample();
    expect(collect(chain)).toMatchObject({ removed: 0, freedBytes: 0, deletedSessions: 0 });
    const end = readSession(chain, main).tips[0] as ContextId;
    const { artifact } = chain.db.one<{ artifact: never }>('SELECT artifact FROM commits WHERE id = ?', end) ?? { artifact: 0 as never };
    const bytes = chain.artifacts.read(artifact);
    chain.artifacts.setPolicy(artifact, 'pin', undefined);
    deleteSession(chain, { sessionId: main, deleted: true });
    collect(chain);
    expect(chain.artifacts.read(artifact)).toEqual(bytes);
  });

  test('content that was put again after the deletion stays for an hour', () => {
    const clock = heldClock();
    const project = emptyProject(clock);
    const { chain } = project;
    atOnce(importPaths(chain, { paths: [sample] }));
    const end = readSession(chain, main).tips[0] as ContextId;
    const { artifact } = chain.db.one<{ artifact: never }>('SELECT artifact FROM commits WHERE id = ?', end) ?? { artifact: 0 as never };
    const bytes = chain.artifacts.read(artifact);
    deleteSession(chain, { sessionId: main, deleted: true });
    clock.at += 1_900_000;
    chain.artifacts.put(bytes, { contentType: 'text/plain' });
    collect(chain);
    expect(chain.artifacts.read(artifact)).toEqual(bytes);
    clock.at += 7_200_000;
    collect(chain);
    expect(() => chain.artifacts.read(artifact)).toThrow(notFound('deleted'));
  });
});
