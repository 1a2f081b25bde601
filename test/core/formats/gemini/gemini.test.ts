import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { blake3Of } from '../../../../src/core/artifacts/index.js';
import type { ContextId, EntryKey } from '../../../../src/core/base/index.js';
import { entries, fork, graph, tips, type WriteChain } from '../../../../src/core/chain/index.js';
import { exportContext, resumeIn } from '../../../../src/core/export/index.js';
import { gemini } from '../../../../src/core/formats/gemini/index.js';
import { detect, foundSessions, foundSources, listSources } from '../../../../src/core/import/index.js';
import { bytesOfFile, importInto, said } from '../../../support/imports.js';
import { emptyChain, scratch } from '../../../support/project.js';
import { runs } from '../../../support/properties.js';
import { root } from '../../../support/source.js';
import { plannedWhole, survivesAnyBytes } from '../each-byte.js';

const fixture = (name: string): string => join(root, 'test/fixtures/gemini', name);
const tour = fixture('tour.jsonl');
const tourFork = fixture('tour-fork.jsonl');
const older = fixture('older.json');

describe('the tour', () => {
  test('[F4] a rewind makes a branch, and the file comes back byte for byte', () => {
    const chain = emptyChain();
    const result = importInto(chain, tour);
    expect({ skipped: result.skipped, notes: result.notes }).toEqual({ skipped: [], notes: [] });
    const lastWords = tips(chain, {}).map(({ id }) => said(chain, id).at(-2));
    expect(lastWords.sort()).toEqual(['user text  And more, after the compression', 'user text  Try another way']);
    expect(said(chain, result.tips.at(-1) as ContextId).at(-2)).toBe('user text  Try another way');
    expect(bytesOfFile(chain, tour)).toEqual(readFileSync(tour));
    expect(listSources(chain)).toMatchObject([
      { format: 'gemini-v1', sessionId: 'ee109b86-bb34-4dfd-84e6-5f4082750b6d', title: 'Fix the queue retry', cwd: '/home/ada/demo/project' },
    ]);
  });

  test('[F5, C9] a compression is its summary and kept messages; starts add nothing', () => {
    const chain = emptyChain();
    const { tips: ends } = importInto(chain, tour);
    const tip = ends.at(-1) as ContextId;
    expect(said(chain, tip)).toEqual([
      'user text  <session_context>',
      'user summary  SUMMARY OF WORK',
      'assistant text  Got it. Thanks for the additional contex',
      'user text  Now explain it',
      'assistant text  I read it once more.',
      'assistant tool_call read_file ',
      'tool tool_result read_file # demo',
      'assistant text  It doubles, then one is added.',
      'user text  Try another way',
      'assistant text  OK',
    ]);
    const all = said(chain, tip, 'root');
    expect(all.filter((line) => line.includes('Fix the queue retry'))).toHaveLength(1);
    expect(all.slice(0, 9)).toEqual([
      'user text  <session_context>',
      'user text  Fix the queue retry',
      'assistant thinking  **Looking**',
      'assistant text  Let me look.',
      'assistant tool_call read_file ',
      'assistant tool_call list_directory ',
      'tool tool_result read_file export const retry = (n) => n * 2;',
      'tool tool_result list_directory Directory listing for /home/ada/demo/pro',
      'assistant tool_call replace ',
    ]);
  });

  test("[F7] a session started from another's file adds only what is new", () => {
    const chain = emptyChain();
    importInto(chain, tour);
    const result = importInto(chain, tourFork);
    expect(result).toMatchObject({ commits: 1, skipped: [], notes: [] });
    expect(said(chain, result.tips[0] as ContextId).slice(-4)).toEqual([
      'user text  Try another way',
      'assistant text  OK',
      'user text  In a fork',
      'assistant text  OK',
    ]);
    expect(bytesOfFile(chain, tourFork)).toEqual(readFileSync(tourFork));
    const alone = emptyChain();
    const { tips: ends } = importInto(alone, tourFork);
    expect(said(alone, ends[0] as ContextId).filter((line) => line.includes('summary'))).toEqual(['user summary  SUMMARY OF WORK']);
    expect(bytesOfFile(alone, tourFork)).toEqual(readFileSync(tourFork));
  });

  test('a file without messages is kept, and makes commits once it has some', () => {
    const chain = emptyChain();
    const path = join(scratch(), 'session.jsonl');
    copyFileSync(fixture('only-context.jsonl'), path);
    expect(importInto(chain, path)).toMatchObject({ commits: 0, sessions: 1, skipped: [], notes: [] });
    expect(bytesOfFile(chain, path)).toEqual(readFileSync(path));
    writeFileSync(
      path,
      `${readFileSync(path, 'utf8')}{"id":"u1","timestamp":"2026-11-21T15:15:00.000Z","type":"user","content":[{"text":"Hello"}]}\n`,
    );
    const { tips: ends } = importInto(chain, path);
    expect(said(chain, ends[0] as ContextId)).toEqual(['user text  <session_context>', 'user text  Hello']);
    expect(bytesOfFile(chain, path)).toEqual(readFileSync(path));
  });

  test('[F8, F9] a file that grows byte by byte loses nothing and repeats nothing', { tags: 'long' }, () => {
    const whole = readFileSync(tour);
    const direct = emptyChain();
    importInto(direct, tour);
    const ends = (one: WriteChain): Set<string> =>
      new Set(
        tips(one, {}).map(({ id }) =>
          JSON.stringify(entries(one, { id, stop: 'root' }).entries.map(({ kind, text, toolCallId }) => [kind, text, toolCallId])),
        ),
      );
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: whole.length }), { maxLength: 4 }), (cuts) => {
        const chain = emptyChain();
        const path = join(scratch(), 'grows.jsonl');
        for (const end of [...cuts.sort((a, b) => a - b), whole.length]) {
          writeFileSync(path, whole.subarray(0, end));
          importInto(chain, path);
        }
        expect(ends(chain)).toEqual(ends(direct));
        expect(blake3Of(bytesOfFile(chain, path))).toEqual(blake3Of(whole));
      }),
      { numRuns: runs(25) },
    );
  });

  test('[F8] a file imported line by line loses nothing and repeats nothing', () => {
    const lines = readFileSync(tour, 'utf8').split(/(?<=\n)/);
    const direct = emptyChain();
    importInto(direct, tour);
    const chain = emptyChain();
    const path = join(scratch(), 'grows.jsonl');
    for (let end = 1; end <= lines.length; end++) {
      writeFileSync(path, lines.slice(0, end).join(''));
      importInto(chain, path);
    }
    const ends = (one: WriteChain): Set<string> => new Set(tips(one, {}).map(({ id }) => JSON.stringify(said(one, id, 'root'))));
    expect(ends(chain)).toEqual(ends(direct));
    expect(bytesOfFile(chain, path)).toEqual(readFileSync(tour));
  });
});

describe('a document of an older version', () => {
  test('[F21] its turns are commits, and the document comes back byte for byte', () => {
    const chain = emptyChain();
    const result = importInto(chain, older);
    expect(result).toMatchObject({ commits: 2, skipped: [], notes: [] });
    expect(said(chain, result.tips[0] as ContextId)).toEqual([
      'user text  Which colors are there, „quoted“ ünd {br',
      'assistant thinking  **Looking**',
      'assistant text  I will look.',
      'assistant tool_call run_shell_command ',
      'assistant tool_call run_shell_command ',
      'tool tool_result run_shell_command blue.md',
      'tool tool_result run_shell_command no such file',
      'assistant text  Blue and red.',
      'user text  Add green',
      'assistant tool_call write_file ',
      'tool tool_result write_file Wrote docs/green.md',
      'assistant text  Green is there.',
    ]);
    expect(bytesOfFile(chain, older)).toEqual(readFileSync(older));
  });

  test('a one-line or incomplete document is read as far as it is whole', () => {
    const doc = JSON.parse(readFileSync(older, 'utf8')) as { messages: object[] };
    const chain = emptyChain();
    const path = join(scratch(), 'one-line.json');
    writeFileSync(path, JSON.stringify(doc));
    const { tips: ends, skipped } = importInto(chain, path);
    expect(skipped).toEqual([]);
    expect(said(chain, ends[0] as ContextId)).toHaveLength(12);
    expect(bytesOfFile(chain, path)).toEqual(readFileSync(path));
    const broken = join(scratch(), 'broken.json');
    writeFileSync(broken, readFileSync(older).subarray(0, readFileSync(older).indexOf('Add green')));
    const other = emptyChain();
    const result = importInto(other, broken);
    expect(result.skipped).toMatchObject([{ reason: 'a torn record: its end is missing or overwritten' }]);
    expect(said(other, result.tips[0] as ContextId)).toHaveLength(8);
    expect(bytesOfFile(other, broken)).toEqual(readFileSync(broken));
  });

  test("[F7] continued by today's version, it is one chain with the repeated messages", () => {
    const doc = JSON.parse(readFileSync(older, 'utf8')) as { sessionId: string; projectHash: string; messages: object[] };
    const chain = emptyChain();
    importInto(chain, older);
    const path = join(scratch(), 'session.jsonl');
    const next = { id: 'next', timestamp: '2026-11-21T15:15:00.000Z', type: 'user', content: [{ text: 'And now yellow' }] };
    writeFileSync(path, [{ ...doc, messages: undefined }, ...doc.messages, next].map((line) => `${JSON.stringify(line)}\n`).join(''));
    const result = importInto(chain, path);
    expect(result.commits).toBe(1);
    expect(said(chain, result.tips[0] as ContextId)).toHaveLength(13);
    expect(graph(chain, { offset: 0, limit: 10 }).total).toBe(3);
    const out = exportContext(chain, { id: result.tips[0] as ContextId, format: 'gemini-v1' });
    expect(gemini.parse(Buffer.from(out.text ?? '')).entries.filter(({ marks }) => !marks?.includes('hidden'))).toHaveLength(13);
  });
});

test('[F48] a session in one document is read despite a member with a name of many megabytes', () => {
  const path = join(scratch(), 'session-2026-01-01T00-00-abc.json');
  writeFileSync(path, readFileSync(older, 'utf8').replace('"messages"', `"${'a'.repeat(12_000_000)}": 1, "messages"`));
  const texts = (file: string): string[] => {
    const chain = emptyChain();
    return said(chain, importInto(chain, file).tips.at(-1) as ContextId);
  };
  expect(texts(path)).toEqual(texts(older));
});

test("sessions are found in the agent's folder, named, and written to their project's folder", () => {
  const home = scratch();
  const folder = join(home, 'tmp/demo-project/chats');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(home, 'tmp/demo-project/.project_root'), '/home/ada/demo/project');
  writeFileSync(join(home, 'tmp/demo-project/logs.json'), '[]');
  const path = join(folder, 'session-2026-11-21T15-13-ee109b86.jsonl');
  copyFileSync(tour, path);
  const place = { agent: 'gemini' as const, root: home };
  expect(detect([folder])).toMatchObject([{ path, format: 'gemini-v1', sessions: 1, confidence: 1 }]);
  expect(foundSources([place])).toMatchObject([{ agent: 'gemini', sessions: 1, projects: 1 }]);
  expect([...foundSessions(place, () => false)]).toMatchObject([
    { path, sessionId: 'ee109b86-bb34-4dfd-84e6-5f4082750b6d', cwd: '/home/ada/demo/project', title: 'Fix the queue retry' },
  ]);
  const chain = emptyChain();
  const { tips: all } = importInto(chain, path);
  const back = resumeIn(chain, [place], { id: all.at(-1) as ContextId });
  expect(back).toMatchObject({
    agent: 'gemini',
    cwd: '/home/ada/demo/project',
    command: `cd /home/ada/demo/project && gemini --resume ${back.sessionId}`,
  });
  expect(dirname(back.path)).toBe(folder);
  expect([...foundSessions(place, () => false)].map(({ sessionId }) => sessionId).sort()).toContain(back.sessionId);
  const elsewhere = resumeIn(chain, [place], { id: all.at(-1) as ContextId, cwd: '/srv/Demo project' });
  expect(dirname(dirname(elsewhere.path))).toBe(join(home, 'tmp/demo-project-1'));
  expect(readFileSync(join(home, 'tmp/demo-project-1/.project_root'), 'utf8')).toBe('/srv/Demo project');
});

describe('exports', () => {
  test.each([tour, tourFork, older])('[F12, F14] exports are imported again with the same keys: %s', (file) => {
    const chain = emptyChain();
    importInto(chain, file);
    for (const { id } of tips(chain, {})) {
      const path = join(scratch(), 'again.jsonl');
      exportContext(chain, { id, format: 'gemini-v1', path });
      const again = emptyChain();
      const { tips: ends, skipped, notes } = importInto(again, path);
      expect({ skipped, notes }).toEqual({ skipped: [], notes: [] });
      const keys = (one: WriteChain, at: ContextId): EntryKey[] =>
        entries(one, { id: at }).entries.flatMap(({ key, text }) => (text?.startsWith('<session_context>') ? [] : [key]));
      expect(keys(again, ends.at(-1) as ContextId)).toEqual(keys(chain, id));
    }
  });

  test.each([tour, older])('[F13] a fork cut after any entry and its file hold exactly the entries so far: %s', { tags: 'long' }, (file) => {
    const chain = emptyChain();
    const { tips: all } = importInto(chain, file);
    for (const stop of ['root', undefined] as const) {
      const tip = all.at(-1) as ContextId;
      const visible = entries(chain, { id: tip, ...(stop && { stop }) }).entries;
      for (const { key } of visible.slice(1)) {
        const at = visible.findIndex((entry) => entry.key === key);
        const cut = fork(chain, { id: tip, at: key });
        const kept = entries(chain, { id: cut.id, ...(stop && { stop }) }).entries.map((entry) => entry.key);
        expect(kept).toEqual(visible.slice(0, at + 1).map((entry) => entry.key));
        const path = join(scratch(), 'cut.jsonl');
        exportContext(chain, { id: cut.id, format: 'gemini-v1', path });
        const again = emptyChain();
        const result = importInto(again, path);
        const spoken = (lines: readonly string[]): string[] => lines.filter((line) => !line.includes('<session_context>'));
        expect(spoken(said(again, result.tips.at(-1) as ContextId))).toEqual(spoken(said(chain, cut.id)));
      }
    }
  });

  test("another agent's conversation becomes a session of Gemini CLI", () => {
    const chain = emptyChain();
    importInto(chain, join(root, 'resources/sample/larder'));
    for (const { id } of tips(chain, {})) {
      const path = join(scratch(), 'foreign.jsonl');
      exportContext(chain, { id, format: 'gemini-v1', path, stop: 'compaction' });
      const again = emptyChain();
      const result = importInto(again, path);
      expect(result.skipped).toEqual([]);
      const words = (one: WriteChain, at: ContextId): string[] =>
        entries(one, { id: at })
          .entries.filter(({ kind }) => kind !== 'event' && kind !== 'image')
          .map(({ kind, text, toolCallId }) => `${kind} ${text ?? ''} ${toolCallId ?? ''}`);
      expect(words(again, result.tips.at(-1) as ContextId)).toEqual(words(chain, id));
    }
  });
});

describe('broken sessions', () => {
  test.each([tour, tourFork, older])('[F2, F10] any bytes are planned, each in one place, and peeked at: %s', (name) =>
    survivesAnyBytes(gemini, readFileSync(name), ({ commits }) => {
      for (const { entries: all } of commits) expect(all.every(({ key }) => key !== '')).toBe(true);
    }),
  );

  const line = (value: object): string => `${JSON.stringify(value)}\n`;
  const header = line({ sessionId: 's', projectHash: 'p', startTime: '2026-01-01T00:00:00.000Z' });
  const user = (id: string, text = id): string => line({ id, timestamp: '2026-01-01T00:00:01.000Z', type: 'user', content: [{ text }] });
  const model = (id: string, more: object = {}): string => line({ id, timestamp: '2026-01-01T00:00:02.000Z', type: 'gemini', content: id, ...more });
  const call = { id: 'c', name: 'read', args: {}, result: [{ functionResponse: { id: 'c', name: 'read', response: { output: 'there' } } }] };
  const planned = (text: string) => plannedWhole(gemini, Buffer.from(text));
  const told = (text: string): string[] =>
    planned(text).commits.map(({ parent, entries: all }) => `${JSON.stringify(parent)} ${all.map((entry) => entry.text ?? entry.kind).join('|')}`);

  test('[F11] a rewind to nowhere, odd names and a late change are named and do no harm', () => {
    const text =
      header +
      user('__proto__') +
      model('constructor') +
      user('b') +
      model('constructor', { content: 'changed' }) +
      line({ $rewindTo: 'none' }) +
      user('c');
    expect(told(text)).toEqual(['null __proto__|constructor', '{"plan":0} b', 'null c']);
    expect(planned(text).notes.map(({ reason }) => reason)).toEqual([
      'the message constructor was written again after later messages: the second version is ignored',
      'the rewind to none names no message of the history: the history starts again, as in the agent',
    ]);
  });

  test('a shorter history is a rewind, and a different one is a compaction', () => {
    const set = (...ids: string[]): string =>
      line({ $set: { messages: ids.map((id) => ({ id, type: id.startsWith('m') ? 'gemini' : 'user', content: [{ text: id }] })) } });
    expect(told(header + user('a') + model('m') + user('b') + set('a', 'm') + user('d'))).toEqual(['null a|m', '{"plan":0} b', '{"plan":0} d']);
    const other = planned(header + user('a') + model('m') + set('x', 'm2') + user('d'));
    expect(other.commits.map(({ type }) => type)).toEqual(['delta', 'compaction', 'delta']);
  });

  test('an answer that gets its calls after the import adds only those', () => {
    const bare = header + user('a') + model('m', { model: 'g' });
    const chain = emptyChain();
    const path = join(scratch(), 'session.jsonl');
    writeFileSync(path, bare);
    importInto(chain, path);
    const answer = line({ id: 'r', timestamp: '2026-01-01T00:00:03.000Z', type: 'user', content: call.result });
    writeFileSync(path, bare + model('m', { model: 'g', toolCalls: [call] }));
    importInto(chain, path);
    writeFileSync(path, bare + model('m', { model: 'g', toolCalls: [call] }) + answer + model('m2'));
    const { tips: ends } = importInto(chain, path);
    expect(said(chain, ends[0] as ContextId)).toEqual([
      'user text  a',
      'assistant text  m',
      'assistant tool_call read ',
      'tool tool_result read there',
      'assistant text  m2',
    ]);
    expect(bytesOfFile(chain, path)).toEqual(readFileSync(path));
    const out = gemini.parse(Buffer.from(exportContext(chain, { id: ends[0] as ContextId, format: 'gemini-v1' }).text ?? ''));
    expect(out.entries.map(({ kind, text }) => `${kind} ${text ?? ''}`)).toEqual(['text a', 'text m', 'tool_call ', 'tool_result there', 'text m2']);
  });

  test('[F10] many rewinds and unclosed brackets cost linear time', { tags: 'long' }, () => {
    const many =
      header +
      Array.from({ length: 4_000 }, (_, n) => user(`u${n}`)).join('') +
      Array.from({ length: 4_000 }, () => line({ $rewindTo: 'u3999' })).join('');
    expect(planned(many).commits.length).toBeGreaterThan(0);
    expect(gemini.parse(Buffer.from('{'.repeat(200_000))).entries).toEqual([]);
    expect(gemini.parse(Buffer.from('{\n'.repeat(100_000))).entries).toEqual([]);
  });

  test('the progress of a growing file', () => {
    const at = (text: string) => gemini.progress?.(Buffer.from(text), 'turn_boundary');
    const first = header + user('a') + model('m');
    expect(at(header + user('a'))).toEqual({ settled: 0, resting: 0, open: true, ended: false });
    expect(at(first)).toEqual({ settled: 0, resting: first.length, open: true, ended: false });
    const called = first + model('m', { toolCalls: [call] });
    expect(at(called)).toMatchObject({ resting: 0, open: true });
    const answered = called + line({ id: 'r', type: 'user', content: call.result });
    expect(at(answered)).toMatchObject({ resting: 0, open: true });
    const next = answered + model('m2') + line({ $set: { lastUpdated: 'x' } });
    expect(at(next)).toMatchObject({ settled: 0, resting: next.length });
    expect(at(next + user('b'))).toMatchObject({ settled: next.length, open: true });
  });
});
