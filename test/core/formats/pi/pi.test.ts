import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { blake3Of } from '../../../../src/core/artifacts/index.js';
import type { ContextId, EntryKey } from '../../../../src/core/base/index.js';
import { entries, fork, graph, materializedBytes, tips, type WriteChain } from '../../../../src/core/chain/index.js';
import { exportContext, resumeIn } from '../../../../src/core/export/index.js';
import { pi } from '../../../../src/core/formats/pi/index.js';
import { detect, foundSessions, foundSources, listSources } from '../../../../src/core/import/index.js';
import { listSessions } from '../../../../src/core/sessions/index.js';
import { hasAgent, sentOnResume, transcripts, unlessHere } from '../../../support/agents.js';
import { bytesOfSource, importInto, said } from '../../../support/imports.js';
import { emptyChain, scratch } from '../../../support/project.js';
import { runs } from '../../../support/properties.js';
import { root } from '../../../support/source.js';
import { survivesAnyBytes } from '../each-byte.js';

const fixture = (name: string): string => join(root, 'test/fixtures/pi', name);
const tour = fixture('tour.jsonl');
const tourFork = fixture('tour-fork.jsonl');

describe('the tour', () => {
  test('[F4] branches share their prefixes, and the file comes back byte for byte', () => {
    const chain = emptyChain();
    const result = importInto(chain, tour);
    expect({ skipped: result.skipped, notes: result.notes }).toEqual({ skipped: [], notes: [] });
    const lastWords = tips(chain, {}).map(({ id }) => said(chain, id).at(-2));
    expect(lastWords.sort()).toEqual(['user text  After the compaction, go on', 'user text  And a third way', 'user text  Try another way']);
    const [source] = listSources(chain);
    expect(bytesOfSource(chain, source?.sourceId ?? '')).toEqual(readFileSync(tour));
    expect(source).toMatchObject({ format: 'pi-v1', sessionId: '01a1fd5a-c72e-73c4-b0d7-9acbf78e526c', title: 'Fix the queue retry' });
  });

  test('[C9] a compaction is its system prompt, its summary and what it keeps', () => {
    const chain = emptyChain();
    const {
      tips: [first],
    } = importInto(chain, tour) as { tips: ContextId[] };
    expect(said(chain, first as ContextId)).toEqual([
      'system text  You are a coding assistant running insid',
      'user summary  SUMMARY OF WORK',
      'user text  Now explain it',
      'assistant text  It doubles, then one is added.',
      'user text  After the compaction, go on',
      'assistant text  OK',
    ]);
    expect(said(chain, first as ContextId, 'root').length).toBe(15);
  });

  test('a fork adds only what is new, in either order of import', () => {
    const chain = emptyChain();
    importInto(chain, tour);
    const result = importInto(chain, tourFork);
    expect(result.commits).toBe(1);
    expect(said(chain, result.tips.at(-1) as ContextId).slice(-2)).toEqual(['user text  In a fork', 'assistant text  OK']);
    const other = emptyChain();
    importInto(other, tourFork);
    importInto(other, tour);
    const turnsIn = (one: WriteChain) => listSessions(one, {}).sessions.map(({ sessionId, turns }) => `${sessionId} ${turns}`);
    expect(turnsIn(other).sort()).toEqual(turnsIn(chain).sort());
    expect(turnsIn(other).length).toBe(2);
    for (const one of [chain, other])
      for (const { sourceId, path } of listSources(one)) {
        expect(bytesOfSource(one, sourceId)).toEqual(readFileSync(path));
      }
  });

  test('the root walk of a session without branches is its file', () => {
    const chain = emptyChain();
    const path = join(scratch(), 'one.jsonl');
    const lines = readFileSync(tour, 'utf8').split('\n').slice(0, 13);
    writeFileSync(path, `${lines.join('\n')}\n`);
    const {
      tips: [tip],
    } = importInto(chain, path) as { tips: ContextId[] };
    expect(Buffer.from(materializedBytes(chain, { id: tip as ContextId, stop: 'root' }).bytes)).toEqual(readFileSync(path));
    expect(graph(chain, { offset: 0, limit: 10 }).total).toBe(2);
  });

  test('[F9] a file that grows byte by byte loses nothing and repeats nothing', () => {
    const whole = readFileSync(tour);
    const direct = emptyChain();
    importInto(direct, tour);
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: whole.length }), { maxLength: 4 }), (cuts) => {
        const chain = emptyChain();
        const path = join(scratch(), 'grows.jsonl');
        for (const end of [...cuts.sort((a, b) => a - b), whole.length]) {
          writeFileSync(path, whole.subarray(0, end));
          importInto(chain, path);
        }
        const ends = (one: WriteChain): string[] => tips(one, {}).map(({ id }) => JSON.stringify(entries(one, { id }).entries.map(({ key }) => key)));
        expect(new Set(ends(chain))).toEqual(new Set(ends(direct)));
        expect(blake3Of(bytesOfSource(chain, listSources(chain)[0]?.sourceId ?? ''))).toEqual(blake3Of(whole));
      }),
      { numRuns: runs(12) },
    );
  });
});

test("pi's sessions are found in its own folder, named, and go back there", () => {
  const home = scratch();
  const folder = join(home, 'sessions/--home-ada-demo-project--');
  mkdirSync(folder, { recursive: true });
  const path = join(folder, '2026-11-21T09-05-47-311Z_01a1fd5a-c72e-73c4-b0d7-9acbf78e526c.jsonl');
  copyFileSync(tour, path);
  const place = { agent: 'pi' as const, root: home };
  expect(detect([folder])).toMatchObject([{ path, format: 'pi-v1', sessions: 1, confidence: 1 }]);
  expect(foundSources([place])).toMatchObject([{ agent: 'pi', sessions: 1, projects: 1 }]);
  expect([...foundSessions(place, () => false)]).toMatchObject([
    { path, sessionId: '01a1fd5a-c72e-73c4-b0d7-9acbf78e526c', cwd: '/home/ada/demo/project', title: 'Fix the queue retry' },
  ]);
  const chain = emptyChain();
  const { tips: all } = importInto(chain, path);
  const back = resumeIn(chain, [place], { id: all.at(-1) as ContextId });
  expect(back).toMatchObject({ agent: 'pi', cwd: '/home/ada/demo/project', command: `cd /home/ada/demo/project && pi --session ${back.sessionId}` });
  expect(dirname(back.path)).toBe(folder);
  expect([...foundSessions(place, () => false)].map(({ sessionId }) => sessionId).sort()).toContain(back.sessionId);
});

describe('exports', () => {
  const everyTip = (chain: WriteChain): ContextId[] => tips(chain, {}).map(({ id }) => id);

  test('[F14] exports are imported again with the same keys and one chain of parents', () => {
    const chain = emptyChain();
    importInto(chain, tour);
    for (const id of everyTip(chain)) {
      const path = join(scratch(), 'again.jsonl');
      exportContext(chain, { id, format: 'pi-v1', path });
      const again = emptyChain();
      const {
        tips: [tip],
        skipped,
        notes,
      } = importInto(again, path);
      expect({ skipped, notes }).toEqual({ skipped: [], notes: [] });
      const keys = (one: WriteChain, at: ContextId): EntryKey[] => entries(one, { id: at, hidden: true }).entries.map(({ key }) => key);
      expect(keys(again, tip as ContextId)).toEqual(keys(chain, id));
    }
  });

  test('[F5] a fork cut after any entry and its file hold exactly the entries so far', () => {
    const chain = emptyChain();
    const { tips: all } = importInto(chain, tour);
    const tip = all[0] as ContextId;
    const visible = entries(chain, { id: tip }).entries;
    fc.assert(
      fc.property(fc.integer({ min: 1, max: visible.length - 1 }), (at) => {
        const key = visible[at]?.key as EntryKey;
        const cut = fork(chain, { id: tip, at: key });
        const kept = entries(chain, { id: cut.id }).entries.map((entry) => entry.key);
        expect(kept).toEqual(visible.slice(0, at + 1).map((entry) => entry.key));
        const path = join(scratch(), 'cut.jsonl');
        exportContext(chain, { id: cut.id, format: 'pi-v1', path });
        const again = emptyChain();
        const result = importInto(again, path);
        expect(said(again, result.tips.at(-1) as ContextId)).toEqual(said(chain, cut.id));
      }),
      { numRuns: runs(20) },
    );
  });

  test('what another agent said becomes a session of pi', () => {
    const chain = emptyChain();
    importInto(chain, join(root, 'resources/sample/larder'));
    for (const id of everyTip(chain)) {
      const path = join(scratch(), 'foreign.jsonl');
      exportContext(chain, { id, format: 'pi-v1', path, stop: 'compaction' });
      const again = emptyChain();
      const result = importInto(again, path);
      expect(result.skipped).toEqual([]);
      const words = (one: WriteChain, at: ContextId): string[] =>
        entries(one, { id: at })
          .entries.filter(({ kind }) => kind !== 'summary' && kind !== 'event' && kind !== 'image')
          .map(({ kind, text, toolCallId }) => `${kind} ${text ?? ''} ${toolCallId ?? ''}`);
      expect(words(again, result.tips.at(-1) as ContextId)).toEqual(words(chain, id));
    }
  });
});

describe('broken sessions', () => {
  const line = (value: object): string => `${JSON.stringify(value)}\n`;
  const header = line({ type: 'session', version: 3, id: 's', timestamp: '2026-01-01T00:00:00.000Z', cwd: '/w' });
  const user = (id: string, parentId: string | null, text = id): string =>
    line({ type: 'message', id, parentId, timestamp: `2026-01-01T00:00:0${id.length}.000Z`, message: { role: 'user', content: text } });
  const planned = (text: string) =>
    pi.plan(Buffer.from(text), { path: '/s.jsonl', known: { has: () => false }, resumeAt: 0, granularity: 'turn_boundary' });

  test('torn lines, repeated ids, cycles and missing parents are named', () => {
    const text = `${header}${user('a', null)}{"type":"message","id":"b","par${user('c', 'd')}${user('d', 'c')}${user('a', null, 'again')}${user('e', 'nowhere')}`;
    const plan = planned(text);
    expect(plan.skipped.map(({ reason }) => reason)).toEqual(expect.arrayContaining([expect.stringMatching(/torn/), expect.stringMatching(/id a/)]));
    expect(plan.notes.map(({ reason }) => reason).join()).toMatch(/nowhere/);
    const covered = [...plan.commits.flatMap((commit) => commit.ranges), ...plan.side].reduce((sum, { start, end }) => sum + end - start, 0);
    expect(covered).toBe(Buffer.byteLength(text));
  });

  test('any bytes at all are planned, each in one place', () => survivesAnyBytes(pi, readFileSync(tour)));

  test('an answer that failed, and one that an edit took out, are not what the model saw', () => {
    const answer = (id: string, parentId: string, more: object): string =>
      line({ type: 'message', id, parentId, timestamp: '2026-01-01T00:00:09.000Z', message: { role: 'assistant', model: 'm', ...more } });
    const text = [
      header,
      user('a', null),
      answer('b', 'a', { content: [], stopReason: 'error', errorMessage: '529 overloaded' }),
      line({ type: 'context_edit', id: 'x', parentId: 'b', timestamp: '2026-01-01T00:00:09.000Z', targetId: 'b', replacement: null }),
      answer('c', 'x', { content: [{ type: 'text', text: 'long' }], stopReason: 'stop' }),
      line({ type: 'context_edit', id: 'y', parentId: 'c', timestamp: '2026-01-01T00:00:09.000Z', targetId: 'c', replacement: { content: 'short' } }),
    ].join('');
    const { entries: all } = pi.parse(Buffer.from(text));
    expect(all.filter(({ marks }) => !marks?.includes('hidden')).map((entry) => entry.text)).toEqual(['a', 'short']);
    expect(all.find(({ isError }) => isError)?.text).toBe('529 overloaded');
  });
});

const corpus = join(transcripts, 'pi/pi_before-compaction.jsonl');

describe.skipIf(!hasAgent('pi'))(`the real pi${unlessHere('pi')}`, () => {
  const sentFor = (path: string): readonly unknown[] => sentOnResume('pi', path);

  test.each([tour, tourFork, corpus].filter(existsSync))('[F15] resumes our export of %s as it does the original', (path) => {
    const chain = emptyChain();
    const { tips: all } = importInto(chain, path);
    const exported = join(scratch(), 'export.jsonl');
    exportContext(chain, { id: all.at(-1) as ContextId, format: 'pi-v1', path: exported });
    expect(sentFor(exported)).toEqual(sentFor(path));
  });

  test('a fork in the middle of what a compaction keeps is resumed with just that', () => {
    const chain = emptyChain();
    const { tips: all } = importInto(chain, tour);
    const visible = entries(chain, { id: all[0] as ContextId }).entries;
    const cut = fork(chain, { id: all[0] as ContextId, at: visible[2]?.key as EntryKey });
    const exported = join(scratch(), 'cut.jsonl');
    exportContext(chain, { id: cut.id, format: 'pi-v1', path: exported });
    const words = JSON.stringify(sentFor(exported));
    expect(words).toContain('SUMMARY OF WORK');
    expect(words).toContain('Now explain it');
    expect(words).not.toContain('It doubles');
    expect(words).not.toContain('Fix the queue');
  });
});
