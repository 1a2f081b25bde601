import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ContextId } from '../../../src/core/base/index.js';
import { entries, fork, graph, tips, type WriteChain } from '../../../src/core/chain/index.js';
import { importPaths, listSources } from '../../../src/core/import/index.js';
import { atOnce, roots } from '../../../src/core/project/index.js';
import { changeBranch, changeSession, deleteSession, findPlace, listSessions, readSession } from '../../../src/core/sessions/index.js';
import { query } from '../../support/counted.js';
import { session } from '../../support/counted-lines.js';
import { desk } from '../../support/desk.js';
import { emptyChain, heldClock, scratch } from '../../support/project.js';
import { countingReads } from '../../support/reads.js';
import { transcript } from '../../support/transcript.js';

const sample = join(import.meta.dirname, '../../../resources/sample/larder');
const main = '9dec3024-c217-4237-8dba-1d670b433c80';

const importInto = (chain: WriteChain, ...paths: string[]) => atOnce(importPaths(chain, { paths }));

function withSample(): WriteChain {
  const chain = emptyChain();
  importInto(chain, sample);
  return chain;
}

const rows = (chain: WriteChain) => listSessions(chain, {}).sessions;

describe('[W3] one session is one row', () => {
  test('lists each session once, with its subagents after it', () => {
    const chain = withSample();
    const list = rows(chain);
    expect(list.filter(({ parentSessionId }) => parentSessionId === undefined).map(({ sessionId }) => sessionId)).toHaveLength(3);
    const at = list.findIndex(({ sessionId }) => sessionId === main);
    expect(list[at]).toMatchObject({ agent: 'claude-code', sources: 1, live: false, pinned: false, archived: false, tags: [] });
    expect(list[at + 1]).toMatchObject({ parentSessionId: main, subagent: 'general-purpose', branches: 1 });
  });

  test('spans beside a transcript do not rename its session, in either order', () => {
    const spans = join(import.meta.dirname, '../../fixtures/otel/claude-code-file-mode');
    const id = '223c33eb-ad75-4d34-baee-b6fcaa7668a3';
    const files = [join(spans, 'traces.jsonl'), join(spans, 'transcripts/-tmp-w-live-claude-file-project', `${id}.jsonl`)];
    for (const order of [files, files.toReversed()]) {
      const chain = emptyChain();
      for (const file of order) importInto(chain, file);
      expect(readSession(chain, id)).toMatchObject({ title: 'Fix the queue retry', sources: 2 });
    }
  });

  test('several files of a session are one row', () => {
    const chain = emptyChain();
    const dir = join(scratch(), 'copies');
    mkdirSync(dir);
    const text = readFileSync(join(sample, `${main}.jsonl`), 'utf8');
    const lines = text.split('\n').filter(Boolean);
    for (const [n, part] of [0.3, 0.6, 0.8, 1].entries()) {
      mkdirSync(join(dir, String(n)));
      writeFileSync(join(dir, String(n), `${main}.jsonl`), `${lines.slice(0, Math.floor(lines.length * part)).join('\n')}\n`);
    }
    importInto(chain, dir);
    expect(listSources(chain)).toHaveLength(4);
    const own = rows(chain).filter(({ parentSessionId }) => parentSessionId === undefined);
    expect(own).toHaveLength(1);
    expect(own[0]).toMatchObject({ sessionId: main, sources: 4 });
    expect(own[0]?.tips).toEqual(
      tips(chain, {})
        .filter(({ template }) => template === 'claude-code')
        .map(({ id }) => id),
    );
  });

  test('counts turns of the main branch and branches with forks made here', () => {
    const chain = withSample();
    const before = readSession(chain, main);
    const [tip] = before.tips;
    const { parent } = tips(chain, {}).find(({ id }) => id === tip) ?? {};
    if (!parent) throw new Error('The tip has no parent.');
    fork(chain, { id: parent, edits: [{ op: 'append', entry: { role: 'user', kind: 'text', text: 'Do it another way.' } }] });
    const after = readSession(chain, main);
    expect(after.branches).toBe(before.branches + 1);
    expect(after.turns).toBe(before.turns);
    expect(after.lastAt).toBe(before.lastAt);
  });

  test('[W9] a turn that several sessions share is named after the one that was chosen', () => {
    const chain = withSample();
    const named = rows(chain).map(({ sessionId, tips: [tip] }) => {
      const { turns } = findPlace(chain, { id: tip as ContextId, session: sessionId });
      return turns.map(({ commit }) => [sessionId, findPlace(chain, { id: commit, session: sessionId }).sessionId]);
    });
    for (const [chosen, shown] of named.flat()) expect(shown).toBe(chosen);
    // In the sample, some turns belong to another session unless one is chosen. An unknown session changes nothing.
    const owners = rows(chain).flatMap(({ sessionId, tips: [tip] }) =>
      findPlace(chain, { id: tip as ContextId, session: sessionId }).turns.filter(
        ({ commit }) => findPlace(chain, { id: commit }).sessionId !== sessionId,
      ),
    );
    expect(owners.length).toBeGreaterThan(0);
    const shared = owners[0]?.commit as ContextId;
    expect(findPlace(chain, { id: shared, session: 'no such session' })).toEqual(findPlace(chain, { id: shared }));
  });

  test('pages and sorts by what is asked for, pinned sessions first', () => {
    const chain = withSample();
    const all = rows(chain);
    expect(listSessions(chain, { offset: 1, limit: 2 })).toEqual({ total: all.length, sessions: all.slice(1, 3) });
    const byTitle = listSessions(chain, { sort: 'title' }).sessions.filter((row) => !row.parentSessionId);
    expect(byTitle.map(({ title }) => title.toLowerCase())).toEqual(byTitle.map(({ title }) => title.toLowerCase()).toSorted());
    const last = byTitle.at(-1)?.sessionId ?? '';
    changeSession(chain, { sessionId: last, pinned: true }, {});
    expect(listSessions(chain, { sort: 'title' }).sessions[0]?.sessionId).toBe(last);
  });

  test('filters by text, agent, repository and time', () => {
    const chain = withSample();
    const row = readSession(chain, main);
    expect(listSessions(chain, { filter: { text: row.title.slice(0, 8).toUpperCase() } }).sessions.map(({ sessionId }) => sessionId)).toContain(main);
    expect(listSessions(chain, { filter: { text: 'no such session' } }).total).toBe(0);
    expect(listSessions(chain, { filter: { agent: 'codex' } }).total).toBe(0);
    expect(listSessions(chain, { filter: { repository: row.repository ?? '' } }).total).toBeGreaterThan(0);
    expect(listSessions(chain, { filter: { to: row.lastAt } }).sessions.map(({ sessionId }) => sessionId)).not.toContain(main);
  });
});

describe('[W4] one title everywhere', () => {
  const titleOf = (...prompts: string[]): string | undefined => {
    const chain = emptyChain();
    const file = join(scratch(), 'a.jsonl');
    writeFileSync(
      file,
      transcript(
        'a',
        prompts.map((prompt) => ({ prompt, answers: ['Done.'] })),
      ),
    );
    importInto(chain, file);
    return rows(chain)[0]?.title;
  };

  test('is the first prompt that a person typed, never a command', () => {
    expect(titleOf('/clear', '! ls', 'Why does the queue stop?')).toBe('Why does the queue stop?');
    expect(titleOf('/home/me/a.log shows an error')).toBe('/home/me/a.log shows an error');
    expect(titleOf('This session is being continued from a previous conversation.', 'Go on with the tests')).toBe('Go on with the tests');
  });

  test('a session of commands and continuations only is named by none of them', () => {
    for (const prompts of [
      ['/clear'],
      ['/init', '! ls'],
      ['Continue from where you left off.'],
      ['This session is being continued from a previous conversation.'],
    ])
      expect(titleOf(...prompts)).toMatch(/^Session [0-9a-f]{8}$/);
  });

  test('is the same in the chain', async () => {
    const { call } = desk();
    const dir = scratch();
    await call.project.create({ dir: join(dir, 'p.stemma') });
    const turns = ['/clear', '<task>\nFix the queue\n</task>'].map((prompt) => ({ prompt, answers: ['Done.'] }));
    writeFileSync(join(dir, 'a.jsonl'), transcript('a', turns));
    for await (const _ of await call.import.run({ paths: [join(dir, 'a.jsonl')] })) void _;
    const [row] = (await call.session.list({})).sessions;
    const { rows: inChain } = await call.context.graph({ offset: 0, limit: 10 });
    const place = await call.session.place({ id: row?.tips[0] ?? '' });
    expect([row?.title, inChain[0]?.tipOf, place.title]).toEqual(Array(3).fill('Fix the queue'));
  });

  test('is the heading of a plan', () => {
    expect(titleOf('Implement the following plan:\n\n# Plan: A lease for jobs\n\nFirst, …')).toBe('A lease for jobs');
  });

  test('is the name that a person gave, until it is taken away', () => {
    const chain = withSample();
    const { title } = readSession(chain, main);
    expect(changeSession(chain, { sessionId: main, title: 'Jam' }, {}).title).toBe('Jam');
    expect(changeSession(chain, { sessionId: main, title: null }, {}).title).toBe(title);
  });
});

describe('[W5] archive, delete and undo', () => {
  const idsOf = (chain: WriteChain): Set<string> => new Set(graph(chain, { offset: 0, limit: 1_000 }).rows.map(({ commit }) => commit.id));

  test('an archived session leaves the list and the chain, and comes back', () => {
    const chain = withSample();
    const before = { list: rows(chain), ids: idsOf(chain) };
    changeSession(chain, { sessionId: main, archived: true }, {});
    expect(rows(chain).map(({ sessionId }) => sessionId)).not.toContain(main);
    expect(listSessions(chain, { filter: { archived: true } }).sessions[0]?.sessionId).toBe(main);
    expect(idsOf(chain).size).toBeLessThan(before.ids.size);
    expect(graph(chain, { filter: { sessionId: main }, offset: 0, limit: 10 }).total).toBeGreaterThan(0);
    changeSession(chain, { sessionId: main, archived: false }, {});
    expect(rows(chain)).toEqual(before.list);
    expect(idsOf(chain)).toEqual(before.ids);
  });

  test('a deleted session leaves lists, chain, sources and search, and undo brings all of it back', () => {
    const chain = withSample();
    const file = listSources(chain).find(({ sessionId }) => sessionId === main)?.path ?? '';
    const bytes = readFileSync(file);
    const found = query(chain, { text: 'damson' }).total;
    const before = { list: rows(chain), ids: idsOf(chain), sources: listSources(chain), tips: tips(chain, {}) };
    expect(deleteSession(chain, { sessionId: main, deleted: true })).toMatchObject({ sessionId: main, deleted: true });
    expect(rows(chain)).toHaveLength(2);
    expect(listSources(chain).map(({ sessionId }) => sessionId)).not.toContain(main);
    expect(tips(chain, {}).length).toBeLessThan(before.tips.length);
    expect(query(chain, { text: 'damson' }).total).toBeLessThan(found);
    expect(readFileSync(file)).toEqual(bytes);
    deleteSession(chain, { sessionId: main, deleted: false });
    expect({ list: rows(chain), ids: idsOf(chain), sources: listSources(chain), tips: tips(chain, {}) }).toEqual(before);
    expect(query(chain, { text: 'damson' }).total).toBe(found);
  });

  test('after delete, gc and undo nothing is left over or lost', () => {
    const clock = heldClock();
    const chain = emptyChain(clock);
    importInto(chain, sample);
    const gc = () => {
      clock.at += 7 * 86_400_000;
      return atOnce(chain.artifacts.gc({ roots }));
    };
    const state = () => ({
      list: rows(chain),
      ids: idsOf(chain),
      sources: listSources(chain),
      contents: tips(chain, {}).map(({ id }) => entries(chain, { id, stop: 'root' }).entries),
      found: query(chain, { text: 'damson' }).total,
    });
    gc();
    const before = state();
    const others = before.list.filter(({ sessionId, parentSessionId }) => sessionId !== main && parentSessionId === undefined);
    expect(deleteSession(chain, { sessionId: main, deleted: true }).commits).toBeGreaterThan(0);
    for (const { sessionId } of others) deleteSession(chain, { sessionId, deleted: true });
    expect(state()).toMatchObject({ list: [], sources: [], contents: [], found: 0 });
    expect(idsOf(chain).size).toBe(0);
    expect(gc().removed).toBe(0);
    // Sessions that were deleted at the same time come back one by one.
    deleteSession(chain, { sessionId: main, deleted: false });
    expect(rows(chain).filter(({ parentSessionId }) => parentSessionId === undefined)).toHaveLength(1);
    for (const { sessionId } of others) deleteSession(chain, { sessionId, deleted: false });
    expect(gc().removed).toBe(0);
    expect(state()).toEqual(before);
  });

  test('importing a deleted session again does not bring it back', () => {
    const chain = withSample();
    deleteSession(chain, { sessionId: main, deleted: true });
    importInto(chain, sample);
    expect(rows(chain).map(({ sessionId }) => sessionId)).not.toContain(main);
  });

  test('an unknown session is refused by its id', () => {
    const chain = withSample();
    for (const act of [
      () => changeSession(chain, { sessionId: 'none', title: 'x' }, {}),
      () => deleteSession(chain, { sessionId: 'none', deleted: true }),
      () => deleteSession(chain, { sessionId: 'none', deleted: false }),
    ])
      expect(act).toThrow(expect.objectContaining({ code: 'NOT_FOUND', data: expect.objectContaining({ id: 'none' }) }));
  });
});

describe('[W6] branches', () => {
  function withFork() {
    const chain = withSample();
    const end = readSession(chain, main).tips[0];
    const parent = tips(chain, {}).find(({ id }) => id === end)?.parent ?? null;
    const made = fork(chain, {
      id: parent,
      edits: [{ op: 'append', entry: { role: 'user', kind: 'text', text: 'Another way' } }],
      summary: 'Another way',
    });
    return { chain, made, parent };
  }

  test('a name stays with the branch as it grows', () => {
    const { chain, made } = withFork();
    changeBranch(chain, { commit: made.id, title: 'full-jitter' });
    const next = fork(chain, { id: made.id, edits: [{ op: 'append', entry: { role: 'assistant', kind: 'text', text: 'Yes.' } }] });
    expect(findPlace(chain, { id: next.id }).branch).toMatchObject({ tip: next.id, title: 'full-jitter', named: true, main: false });
    const rowsOfGraph = graph(chain, { offset: 0, limit: 1_000 }).rows;
    expect(rowsOfGraph.find(({ commit }) => commit.id === next.id)?.tipOf).toBe('full-jitter');
  });

  test('archiving a side branch keeps the main branch, in any order of import', () => {
    const files = ['d8b0548d-12b0-4827-9649-007fc39df223.jsonl', '9dec3024-c217-4237-8dba-1d670b433c80.jsonl'];
    for (const order of [files, files.toReversed()]) {
      const chain = emptyChain();
      for (const file of order) importInto(chain, join(sample, file));
      const shown = () => graph(chain, { offset: 0, limit: 1_000 }).rows.map(({ commit }) => commit.summary);
      const before = shown();
      const side = tips(chain, {}).find(({ summary }) => summary?.startsWith('Then say "in June"'));
      expect(changeBranch(chain, { commit: side?.id as never, archived: true })).toMatchObject({ archived: true, commits: 1 });
      expect(shown()).toEqual(before.filter((summary) => summary !== side?.summary));
      const end = tips(chain, {}).find(({ summary }) => summary?.startsWith('Call it 1.2.1'));
      expect(() => changeBranch(chain, { commit: end?.id as never, archived: true })).toThrow(/main branch/);
    }
  });

  test('a deleted or archived branch leaves the chain and comes back', () => {
    const { chain, made } = withFork();
    const all = (archived?: boolean) => graph(chain, { filter: { archived }, offset: 0, limit: 1_000 }).rows.map(({ commit }) => commit.id);
    const before = all();
    expect(changeBranch(chain, { commit: made.id, deleted: true })).toMatchObject({ deleted: true, commits: 1 });
    expect(all()).toEqual(before.filter((id) => id !== made.id));
    expect(all(true)).not.toContain(made.id);
    changeBranch(chain, { commit: made.id, deleted: false });
    expect(all()).toEqual(before);
    changeBranch(chain, { commit: made.id, archived: true });
    expect(all()).not.toContain(made.id);
    expect(all(true)).toEqual(before);
  });

  test('the main branch is deleted only with its session', () => {
    const { chain, parent } = withFork();
    const root = graph(chain, { filter: { sessionId: main }, offset: 0, limit: 1_000 }).rows.findLast(({ commit }) => commit.parent === null)?.commit
      .id;
    if (!root || !parent) throw new Error('The session has no root.');
    expect(() => changeBranch(chain, { commit: root, deleted: true })).toThrow(expect.objectContaining({ code: 'CONFLICT' }));
    expect(changeBranch(chain, { commit: root, title: 'trunk' }).title).toBe('trunk');
  });

  test('the place of a commit names its session, branch and turn', () => {
    const { chain, made } = withFork();
    const session = readSession(chain, main);
    const tip = session.tips.find((id) => id !== made.id) as typeof made.id;
    const place = findPlace(chain, { id: tip });
    expect(place).toMatchObject({ sessionId: main, title: session.title, branch: { title: 'main', main: true }, turn: { of: session.turns } });
    expect(place.branches.map((branch) => branch.tip).toSorted()).toEqual([...session.tips].toSorted());
    expect(findPlace(chain, { id: made.id }).branch).toMatchObject({ tip: made.id, main: false, title: 'Another way' });
  });
});

test('the place of a commit in a long session lists the turns around it, and the others in pages', () => {
  const chain = emptyChain();
  const path = join(scratch(), 'long.jsonl');
  writeFileSync(path, session('long', 450).join(''));
  importInto(chain, path);
  const tip = readSession(chain, 'long').tips[0] as ContextId;
  const pages = [0, 300].map((offset) => findPlace(chain, { id: tip, turns: { offset, limit: 300 } }));
  const all = pages.flatMap(({ turns }) => turns);
  expect(all.map(({ number }) => number)).toEqual(Array.from({ length: 450 }, (_, at) => at + 1));
  const middle = findPlace(chain, { id: all[224]?.commit as ContextId });
  expect(middle).toMatchObject({ turn: { number: 225, of: 450 }, turnCount: 450 });
  expect(middle.turns).toEqual(all.slice(124, 324));
  expect(findPlace(chain, { id: tip }).turns).toEqual(all.slice(250));
  expect(findPlace(chain, { id: all[0]?.commit as ContextId }).turns).toEqual(all.slice(0, 200));
});

test('[W12] the graph gives each turn the number of its place, and a fork changes none', () => {
  const chain = withSample();
  const numbers = () => new Map(graph(chain, { offset: 0, limit: 1_000 }).rows.map(({ commit, turn }) => [commit.id, turn] as const));
  const before = numbers();
  expect([...before.values()].filter((turn) => turn === 1).length).toBeGreaterThan(2);
  const agrees = () => {
    for (const [id, turn] of numbers()) expect([id, findPlace(chain, { id }).turn?.number]).toEqual([id, turn]);
  };
  agrees();
  const root = graph(chain, { filter: { sessionId: main }, offset: 0, limit: 1_000 }).rows.at(-1)?.commit.id ?? null;
  const text = { role: 'user', kind: 'text', text: 'Another way' } as const;
  expect(findPlace(chain, { id: fork(chain, { id: root, edits: [{ op: 'append', entry: text }] }).id }).turn).toEqual({ number: 2, of: 2 });
  agrees();
  expect([...numbers()].filter(([id]) => before.has(id))).toEqual([...before]);
});

test('a project without sessions has an empty list', () => {
  expect(listSessions(emptyChain(), {})).toEqual({ total: 0, sessions: [] });
});

test('[C34] after a change, only the session that changed is read again', { tags: 'long' }, () => {
  const chain = emptyChain();
  const dir = scratch();
  for (let n = 0; n < 30; n++) {
    const path = join(dir, `s${n}.jsonl`);
    writeFileSync(path, session(`s${n}`, 20).join(''));
    importInto(chain, path);
  }
  const { chain: counted, reads } = countingReads(chain);
  expect(listSessions(counted, {}).total).toBe(30);
  const whole = reads.rows;
  listSessions(counted, {});
  // The list itself: marks and the sums of calls.
  const again = reads.rows - whole;
  expect(again).toBeLessThan(60);
  changeSession(chain, { sessionId: 's7', title: 'Another name' }, {});
  reads.rows = 0;
  expect(listSessions(counted, {}).sessions.find(({ sessionId }) => sessionId === 's7')?.title).toBe('Another name');
  expect(reads.rows).toBeLessThan(again + 100);
  expect(whole).toBeGreaterThan(600);
});
