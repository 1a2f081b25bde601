import { mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { blake3Of } from '../../../../src/core/artifacts/index.js';
import type { ContextId, EntryKey } from '../../../../src/core/base/index.js';
import { contextEntries, findCommit, fork, graph, history, materializedBytes, tips, type WriteChain } from '../../../../src/core/chain/index.js';
import { exportContext, resumeIn } from '../../../../src/core/export/index.js';
import { namedFile } from '../../../../src/core/files/index.js';
import { importGrowth } from '../../../../src/core/follow/index.js';
import { type ImportableFormat, requireFormat } from '../../../../src/core/formats/index.js';
import { detect, foundSessions, foundSources, listSources } from '../../../../src/core/import/index.js';
import { bytesOfSource, importInto, said } from '../../../support/imports.js';
import { type Recorded, type Row, recorded, writeDatabase } from '../../../support/opencode.js';
import { emptyChain, scratch } from '../../../support/project.js';
import { runs } from '../../../support/properties.js';

function database(rows: Omit<Recorded, 'wire'>, how?: { isOpen: boolean }): string {
  const path = join(scratch(), 'opencode.db');
  writeDatabase(path, rows, how);
  return path;
}

const opencode = requireFormat('opencode-v1') as ImportableFormat;
/** The range of each line. */
function opencodeLines(bytes: Uint8Array): { start: number; end: number }[] {
  const ranges: { start: number; end: number }[] = [];
  for (let start = 0; start < bytes.length; start = ranges.at(-1)?.end ?? bytes.length) ranges.push({ start, end: bytes.indexOf(10, start) + 1 });
  return ranges;
}

describe('sessions of a database', () => {
  test('[F1, F4] sessions are sources with branches, shared prefixes and compactions', () => {
    const chain = emptyChain();
    const path = database(recorded('tour'), { isOpen: true });
    expect(detect([path])).toMatchObject([{ path, format: 'opencode-v1', sessions: 3, confidence: 1 }]);
    const result = importInto(chain, path);
    expect(result).toMatchObject({ sessions: 3, skipped: [] });
    expect(result.notes).toMatchObject([{ path, reason: expect.stringContaining('Stemma keeps each session instead') }]);
    const sources = listSources(chain);
    expect(sources.map(({ title }) => title).sort()).toEqual(['Queue retry', 'Queue retry', 'Queue retry (fork #1)']);
    expect(new Set(sources.map(({ cwd }) => cwd))).toEqual(new Set(['/home/ada/demo']));
    const lastWords = tips(chain, {}).map(({ id }) => said(chain, id).at(-2));
    expect(lastWords.sort()).toEqual(['user text  A dead end', 'user text  A new session', 'user text  In a fork']);
    const forked = tips(chain, {}).find(({ summary }) => summary === 'In a fork') as { id: ContextId };
    const line = history(chain, forked.id);
    expect(line.map(({ type }) => type)).toEqual(['delta', 'delta', 'delta', 'compaction', 'delta', 'compaction', 'delta', 'delta', 'delta']);
    // The fork added one commit. Everything before it belongs to its origin.
    expect(new Set(line.map(({ sessionId }) => sessionId)).size).toBe(2);
    expect(line.filter(({ sessionId }) => sessionId === line[0]?.sessionId)).toHaveLength(1);
    expect(said(chain, forked.id)).toEqual([
      'user summary  SUMMARY OF WORK',
      'user text  Continue if you have next steps, or stop',
      'assistant text  OK',
      'user text  After both compactions',
      'assistant text  OK',
      'user text  In a fork',
      'assistant text  OK',
    ]);
    expect(importInto(chain, path)).toMatchObject({ commits: 0, entries: 0 });
  });

  test('[F1, F33] no secret is stored, and sessions come back without the database', () => {
    const chain = emptyChain();
    importInto(chain, database(recorded('tour')));
    for (const { sourceId, hash } of listSources(chain)) {
      const bytes = bytesOfSource(chain, sourceId);
      expect(`blake3:${blake3Of(bytes).toString('hex')}`).toBe(hash);
      expect(bytes.includes('sk-very-secret')).toBe(false);
      expect(
        bytes
          .toString()
          .trimEnd()
          .split('\n')
          .every((line) => JSON.parse(line) as boolean),
      ).toBe(true);
    }
  });

  test('a subagent names the call that started it, a call that was killed stays open', () => {
    const chain = emptyChain();
    const { tips: all } = importInto(chain, database(recorded('troubles')));
    const helper = tips(chain, {}).find(({ template }) => template === 'opencode/general') as { id: ContextId };
    expect(said(chain, helper.id)[0]).toBe('user text  HELPER: find retries');
    const [own] = graph(chain, { offset: 0, limit: 100 })
      .rows.filter(({ commit }) => commit.template === 'opencode/general')
      .slice(-1);
    expect(own?.startedBy).toMatchObject({ toolCallId: 'toolu_standin_2_0' });
    expect(
      own &&
        contextEntries(chain, { id: own.startedBy?.commit as ContextId, stop: own.startedBy?.commit as ContextId }).map(
          ({ entry }) => entry.toolCallId,
        ),
    ).toContain('toolu_standin_2_0');
    const whole = contextEntries(chain, { id: all.at(-1) as never }).map(({ entry }) => entry);
    const answered = new Set(whole.flatMap((entry) => (entry.kind === 'tool_result' ? [entry.toolCallId] : [])));
    const open = whole.filter(({ kind, toolCallId }) => kind === 'tool_call' && !answered.has(toolCallId));
    expect(open.map(({ arguments: input }) => input)).toEqual([{ command: 'sleep 60', description: 'Wait' }]);
    expect(whole.filter(({ isError }) => isError).map(({ text }) => text)).toEqual(['File not found: /home/ada/demo/missing.js']);
  });

  test('[F3] a session that grew adds what is new, in whatever states it was seen', { tags: 'long' }, () => {
    const rows = recorded('tour');
    const direct = emptyChain();
    importInto(direct, database(rows));
    const ends = (chain: WriteChain): Set<string> => new Set(tips(chain, {}).map(({ id }) => JSON.stringify(said(chain, id, 'root'))));
    const times = [...new Set(rows.message.map(({ time_created }) => Number(time_created)))].sort();
    fc.assert(
      fc.property(fc.subarray(times), (stops) => {
        const chain = emptyChain();
        const path = join(scratch(), 'opencode.db');
        for (const stop of [...stops, Number.POSITIVE_INFINITY]) {
          const message = rows.message.filter(({ time_created }) => Number(time_created) <= stop);
          const there = new Set(message.map(({ id }) => id));
          const session = rows.session.filter(({ id }) => message.some(({ session_id }) => session_id === id));
          const event = stop === Number.POSITIVE_INFINITY ? rows.event : [];
          const part = rows.part.filter(({ message_id }) => there.has(message_id as string));
          rmSync(path, { force: true });
          writeDatabase(path, { session, message, part, event });
          importInto(chain, path);
        }
        for (const end of ends(direct)) expect(ends(chain)).toContain(end);
      }),
      { numRuns: 6 },
    );
  });
});

describe('what the agent exports and imports', () => {
  test('[F14] an export has a new id and the same messages, and its import adds nothing', () => {
    const chain = emptyChain();
    importInto(chain, database(recorded('tour')));
    const tip = tips(chain, {}).find(({ summary }) => summary === 'After both compactions' || summary === 'In a fork') as { id: ContextId };
    const path = join(scratch(), 'session.json');
    exportContext(chain, { id: tip.id, format: 'opencode-v1', path });
    const document = JSON.parse(readFileSync(path, 'utf8')) as {
      info: { id: string };
      messages: { info: { id: string; time: { created: number } } }[];
    };
    expect(document.info.id).toMatch(/^ses_[0-9a-z]{26}$/);
    const ids = document.messages.map(({ info }) => info.id);
    expect(ids).toEqual([...ids].sort());
    const before = said(chain, tip.id, 'root');
    const result = importInto(chain, path);
    expect(result).toMatchObject({ sessions: 1, commits: 0, skipped: [], notes: [] });
    expect(said(chain, result.tips.at(-1) as ContextId, 'root')).toEqual(before);
    const kept = listSources(chain).find((source) => source.path === path);
    expect(bytesOfSource(chain, kept?.sourceId ?? '')).toEqual(readFileSync(path));
  });

  test('[F3] a document that is the same still says what it said, one that has more adds it', () => {
    const chain = emptyChain();
    const path = join(scratch(), 'session.json');
    const message = (id: string, created: number, text: string) => ({
      info: { id, sessionID: 'ses_a', role: 'user', time: { created } },
      parts: [{ id: `prt_${id}`, type: 'text', text }],
    });
    const write = (...messages: object[]) => writeFileSync(path, JSON.stringify({ info: { id: 'ses_a', title: 'A', directory: '/w' }, messages }));
    write(message('msg_1', 1, 'one'));
    const first = importInto(chain, path);
    expect(first).toMatchObject({ sessions: 1, commits: 1, skipped: [] });
    expect(importInto(chain, path)).toMatchObject({ sessions: 1, commits: 0, entries: 0, tips: first.tips, skipped: [], notes: [] });
    write(message('msg_1', 1, 'one'), message('msg_2', 2, 'two'));
    expect(importInto(chain, path)).toMatchObject({ sessions: 1, commits: 1, skipped: [] });
    write(message('msg_1', 1, 'one'));
    expect(importInto(chain, path)).toMatchObject({ sessions: 1, commits: 0, tips: first.tips });
  });

  test('[W4] a session that OpenCode has not titled yet is named by its first prompt', () => {
    const chain = emptyChain();
    const path = join(scratch(), 'session.json');
    const info = { id: 'ses_a', title: 'New session - 2026-11-24T03:17:30.100Z (fork #1)', directory: '/w' };
    const prompt = { id: 'msg_1', sessionID: 'ses_a', role: 'user', time: { created: 1 } };
    writeFileSync(path, JSON.stringify({ info, messages: [{ info: prompt, parts: [{ id: 'prt_1', type: 'text', text: 'Fix it' }] }] }));
    importInto(chain, path);
    expect(listSources(chain).flatMap(({ title }) => title ?? [])).toEqual(['Fix it']);
  });

  test('[F2] lines that were just written are planned as they are read', () => {
    const odd = [-0, 1e300, '\ud800', { __proto__: null, 7: [], a: null }, 'é\u2028', ''];
    const document = JSON.stringify({
      info: { id: 'ses_a' },
      messages: [
        ...odd.map((value, n) => ({
          info: { id: `msg_${n}`, role: 'assistant', time: { created: n }, odd: value },
          parts: [{ id: `prt_${n}`, type: 'tool', callID: `c${n}`, tool: 't', state: { status: 'completed', input: { value }, output: `${n}` } }],
        })),
        'no message',
      ],
    }).replaceAll('1e+300', '1e999');
    const [member] = opencode.exports?.members(Buffer.from(document)) ?? [];
    const { bytes: lines, scan } = member?.lines() ?? {};
    const bytes = lines?.subarray(0, lines.length);
    if (!bytes || !scan) throw new Error('the document is not read');
    const context = { path: 'x', known: { has: () => false }, resumeAt: 0, granularity: 'turn_boundary' as const };
    const entries = ({ commits, ...plan }: ReturnType<typeof opencode.plan>) => ({
      ...plan,
      commits: commits.map((commit) => ({ ...commit, entries: JSON.stringify(commit.entries) })),
    });
    expect(scan.pieces.map(({ range }) => range)).toEqual(opencodeLines(bytes));
    expect(entries(opencode.plan(bytes, { ...context, scan }))).toEqual(entries(opencode.plan(bytes, context)));
  });

  test('[C15] a fork in the middle of an answer keeps the parts before it, and later calls open', () => {
    const chain = emptyChain();
    const { tips: all } = importInto(chain, database(recorded('troubles')));
    const read = contextEntries(chain, { id: all.at(-1) as never }).find(({ entry }) => entry.kind === 'tool_result' && entry.isError);
    const cut = fork(chain, { id: all.at(-1) as never, at: read?.key as EntryKey });
    const last = contextEntries(chain, { id: cut.id }).map(({ entry }) => entry);
    expect(last.at(-1)).toMatchObject({ kind: 'tool_result', isError: true, text: 'File not found: /home/ada/demo/missing.js' });
    expect(last.filter(({ kind }) => kind === 'tool_call')).toHaveLength(3);
    expect(last.filter(({ kind }) => kind === 'tool_result')).toHaveLength(2);
    expect(findCommit(chain, cut.id).format).toBe('opencode-v1');
  });

  test('[F16] materialized in its own format it is its lines, in another it says the same', () => {
    const chain = emptyChain();
    const { tips: all } = importInto(chain, database(recorded('troubles')));
    const id = all.at(-1) as never;
    expect(materializedBytes(chain, { id }).tier).toBe('native');
    const other = exportContext(chain, { id, format: 'claude-code-v1' });
    expect(other.tier).toBe('translated');
    expect(new Set(other.losses.map(({ what }) => what))).toEqual(new Set(['entry that the model never saw']));
    const path = join(scratch(), 'session.jsonl');
    writeFileSync(path, other.text ?? '');
    const back = importInto(chain, path);
    // Claude Code drops a call without a result and sends nothing in its place.
    const calls = (list: readonly string[]): readonly string[] =>
      list.filter((line) => line !== 'assistant text  ' && !line.startsWith('assistant tool_call bash'));
    expect(calls(said(chain, back.tips.at(-1) as ContextId))).toEqual(calls(said(chain, id)));
  });
});

describe('bad input', () => {
  const whole = recorded('tour');

  test('[F2] no database, a damaged one, one of another program: named, and the rest goes on', () => {
    const folder = scratch();
    const good = join(folder, 'good.db');
    writeDatabase(good, recorded('troubles'));
    const half = join(folder, 'half.db');
    writeDatabase(half, whole);
    truncateSync(half, 40_960);
    const fake = join(folder, 'opencode-fake.db');
    writeFileSync(fake, 'SQLite format 3\0 and then nothing of it');
    const other = join(folder, 'other.db');
    const db = new Database(other);
    db.exec('CREATE TABLE session (id text); CREATE VIEW message AS SELECT 1 AS id; CREATE TABLE part (id text)');
    db.close();
    const chain = emptyChain();
    const result = importInto(chain, half, fake, other, good);
    expect(result.sessions).toBe(3);
    expect(result.skipped.map(({ path, reason }) => [path, reason])).toEqual(
      expect.arrayContaining([
        [half, expect.stringContaining('cannot be read: ')],
        [fake, expect.stringContaining('cannot be read: ')],
        [other, 'it is a database without the tables of an agent that Stemma reads'],
      ]),
    );
  });

  test('[F2] values of any type in any row are read as far as they can be, kept, and said', () => {
    const odd = [
      null,
      7,
      -1.5,
      '',
      'x',
      '[]',
      '{"role":5}',
      '{"type":"tool","state":7}',
      '{"type":"text"}',
      '{"type":"tool","state":{"status":"completed"}}',
    ];
    const tables = ['session', 'message', 'part', 'event'] as const;
    const change = fc.record({ table: fc.constantFrom(...tables), at: fc.nat(200), column: fc.nat(20), value: fc.constantFrom(...odd) });
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 12 }), (changes) => {
        const rows = Object.fromEntries(tables.map((table) => [table, whole[table].map((row) => ({ ...row }))])) as Record<string, Row[]>;
        for (const { table, at, column, value } of changes) {
          const row = (rows[table] as Row[])[at % whole[table].length] as Row;
          const name = Object.keys(row)[column % Object.keys(row).length] as string;
          if (name !== 'id') row[name] = value;
        }
        const chain = emptyChain();
        const path = database(rows as never);
        const result = importInto(chain, path);
        expect(result.sessions).toBe(3);
        for (const { sourceId } of listSources(chain)) bytesOfSource(chain, sourceId);
        for (const { id } of tips(chain, {})) {
          for (const { entry } of contextEntries(chain, { id })) expect(typeof entry.kind).toBe('string');
          exportContext(chain, { id, format: 'opencode-v1', dryRun: true });
        }
      }),
      { numRuns: runs(12) },
    );
  });

  test('[F2] what nests too deep to be walked is kept and named', () => {
    const rows = recorded('troubles');
    const deep = `{"type":"tool","callID":"x","state":{"status":"completed","input":${'['.repeat(50_000)}${']'.repeat(50_000)}}}`;
    const part = rows.part.map((row, at) => (at === 3 ? { ...row, data: deep } : row));
    const chain = emptyChain();
    const result = importInto(chain, database({ ...rows, part }));
    expect(result.sessions).toBe(3);
    expect(result.skipped).toMatchObject([{ reason: expect.stringContaining('a row of the table') }]);
    const line = join(scratch(), 'deep.jsonl');
    writeFileSync(line, `{"info":{"role":"user"},"parts":[{"type":"text","text":"on"}]}\n{"info":{"role":"user"},"parts":[${deep}]}\n`);
    expect(importInto(chain, line).skipped).toMatchObject([{ line: 2, reason: 'the record nests more than 500 levels deep' }]);
  });

  test('[F2] flipped bytes in the file end in words or in what was left of it, never in a crash', () => {
    const path = database(recorded('troubles'));
    const sound = readFileSync(path);
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(sound.length - 1), fc.nat(255)), { minLength: 1, maxLength: 40 }), (flips) => {
        const bytes = Buffer.from(sound);
        for (const [at, value] of flips) bytes[at] = value;
        const damaged = join(scratch(), 'opencode.db');
        writeFileSync(damaged, bytes);
        const result = importInto(emptyChain(), damaged);
        expect(result.sessions + result.skipped.length).toBeGreaterThan(0);
      }),
      { numRuns: runs(20) },
    );
  });

  test('a file whose name looks like a conversation in another is that file', () => {
    const folder = scratch();
    const odd = join(folder, 'opencode.db#ses_1.jsonl');
    const chain = emptyChain();
    importInto(chain, database(recorded('troubles')));
    const { sourceId } = listSources(chain)[0] as { sourceId: string };
    writeFileSync(odd, bytesOfSource(chain, sourceId));
    expect(importInto(emptyChain(), odd)).toMatchObject({ sessions: 1, skipped: [] });
  });

  test('one session of a database can be asked for by its path', () => {
    const chain = emptyChain();
    const path = database(recorded('tour'));
    const id = whole.session[0]?.id;
    expect(importInto(chain, `${path}#${id}`)).toMatchObject({ sessions: 1, skipped: [] });
    expect(listSources(chain).map((source) => source.sessionId)).toEqual([id]);
    expect(importInto(chain, `${path}#ses_none`).skipped).toMatchObject([{ reason: expect.stringContaining('holds no conversation "ses_none"') }]);
  });
});

test('[F33] sessions are found, named, imported after a run, and exported as documents', () => {
  const home = scratch();
  const path = join(home, 'opencode.db');
  writeDatabase(path, recorded('tour'));
  mkdirSync(join(home, 'repos/clone'), { recursive: true });
  writeFileSync(join(home, 'repos/clone/package.json'), '{}');
  const place = { agent: 'opencode' as const, root: home };
  expect(foundSources([place, { ...place, root: scratch() }])).toMatchObject([{ agent: 'opencode', folders: [path], sessions: 3 }, { sessions: 0 }]);
  const chain = emptyChain();
  const before = [...foundSessions(place, () => false)];
  expect(before.map(({ title, cwd }) => [title, cwd])).toEqual([
    ['Queue retry', '/home/ada/demo'],
    ['Queue retry (fork #1)', '/home/ada/demo'],
    ['Queue retry', '/home/ada/demo'],
  ]);
  importInto(chain, before[0]?.path ?? '');
  expect(listSources(chain)).toMatchObject([{ path: before[0]?.path, bytes: before[0]?.bytes }]);
  const taken = importGrowth(chain, namedFile(path), { what: 'end', granularity: 'turn_boundary' });
  expect(taken).toMatchObject({ skipped: [], pending: 0 });
  expect(listSources(chain)).toHaveLength(3);
  const bytes = readFileSync(path);
  const back = resumeIn(chain, [place], { id: taken.tip as ContextId });
  const { info } = JSON.parse(readFileSync(back.path, 'utf8')) as { info: { id: string; directory: string } };
  expect(info.directory).toBe('/home/ada/demo');
  expect(back.command).toBe(`cd /home/ada/demo && opencode import ${back.path} && opencode --session ${info.id}`);
  expect(readFileSync(path)).toEqual(bytes);
});
