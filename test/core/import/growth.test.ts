import { appendFileSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import type { ContextId } from '../../../src/core/base/index.js';
import { materializedBytes, tips, type WriteChain } from '../../../src/core/chain/index.js';
import { namedFile } from '../../../src/core/files/index.js';
import { importGrowth } from '../../../src/core/follow/index.js';
import { listSources } from '../../../src/core/import/index.js';
import { listSessions } from '../../../src/core/sessions/index.js';
import { pull, push } from '../../../src/core/sync/index.js';
import { answer, call, prompt, result } from '../../support/claude-lines.js';
import { usageCalls } from '../../support/counted.js';
import { reply, usage } from '../../support/counted-lines.js';
import { fakeHub } from '../../support/fake-hub.js';
import { bytesOfFile, importInto, said } from '../../support/imports.js';
import { emptyChain, scratch } from '../../support/project.js';
import { filesBelow, root } from '../../support/source.js';

const cases = 'test/fixtures/cases';

/** What a person sees of a project: sessions, calls with their counts, and the entries of each branch. */
function seen(chain: WriteChain) {
  return {
    sessions: listSessions(chain, {})
      .sessions.map(
        ({ sessionId, parentSessionId, turns, branches, peakTokens, drift }) =>
          `${sessionId.startsWith('ctx-') ? 'subagent' : sessionId} ${parentSessionId} ${turns} turns ${branches} ${peakTokens} ${JSON.stringify(drift)}`,
      )
      .sort(),
    calls: usageCalls(chain, {})
      .calls.map(({ model, tokens, window, replayed, beside, flaw }) => JSON.stringify([model, tokens, window, replayed, beside, flaw]))
      .sort(),
    said: tips(chain, {})
      .map(({ id }) => said(chain, id, 'root'))
      .sort(),
  };
}

/** What is seen after imports of beginnings of a file, and then of the whole file. */
const after = (path: string, whole: Buffer, cuts: readonly number[]) => seen(grown(path, whole, cuts));

function grown(path: string, whole: Buffer, cuts: readonly number[]): WriteChain {
  const chain = emptyChain();
  const at = join(scratch(), path.split('/').slice(-3).join('/'));
  mkdirSync(dirname(at), { recursive: true });
  for (const cut of [...cuts, whole.length]) {
    writeFileSync(at, whole.subarray(0, cut));
    importInto(chain, at);
  }
  return chain;
}

/** Where each line of a file ends. */
function endsOf(whole: Buffer): number[] {
  const ends: number[] = [];
  for (let at = whole.indexOf(10); at >= 0; at = whole.indexOf(10, at + 1)) ends.push(at + 1);
  return ends;
}

/** Files, and the lines after which an import ended: before and within replies, their results and counts, queued prompts and compactions. */
const growing = [
  ['api-errors', [1, 3]],
  ['clear-command/69ff7f8f', [1, 2]],
  ['codex-exec-json', [3, 5]],
  ['codex-fork-replay', [1, 6]],
  ['codex-stripped-compaction', [1, 6, 19, 20, 21]],
  ['copilot-u2028', [4, 8, 13]],
  ['gemini-duplicate-id', [3, 4]],
  ['queue-absorbed', [2, 3, 4, 8]],
  ['queued-command-attachment', [2, 3]],
  ['rewind-mid', [2, 4]],
  ['snapshot-collision', [5, 6]],
] as const;

test.each(growing)('[N30] %s is the same when it is imported while it grows', (name, lines) => {
  const [path = ''] = filesBelow(cases, (one) => one.startsWith(`${cases}/${name}`) && one.endsWith('.jsonl'));
  const whole = readFileSync(join(root, path));
  const expected = after(path, whole, []);
  const ends = endsOf(whole);
  for (const line of lines) expect(after(path, whole, [ends[line - 1] ?? 0]), `cut after line ${line}`).toEqual(expected);
  // After each line, bookkeeping included.
  expect(after(path, whole, ends)).toEqual(expected);
  // Cut in the middle of records, several times.
  const parts = [1, 2, 3, 4, 5].map((part) => Math.floor((whole.length * part) / 6));
  expect(after(path, whole, parts)).toEqual(expected);
});

test.each([
  ['excerpt-48415fae24d7-branch-compact-queue-prlink', 2, [22, 24, 26, 29]],
  ['excerpt-f0c3dbdad0d8-branches-compact', 5, [46, 55, 61, 64]],
])('[N5] the words in place of a missing answer begin no turn, in whole and in parts: %s', (name, turns, lines) => {
  const path = `claude-code/${name}.jsonl`;
  const whole = readFileSync(join(root, 'test/fixtures', path));
  const ends = endsOf(whole);
  const expected = after(path, whole, []).sessions;
  expect(expected.join()).toContain(` ${turns} turns `);
  for (const line of lines) expect(after(path, whole, [ends[line - 1] ?? 0]).sessions, `cut after line ${line}`).toEqual(expected);
  expect(after(path, whole, ends).sessions).toEqual(expected);
});

test('[N30] a call that was imported before the record that names its model has that model', () => {
  const path = 'qwen-code/019f0000-004.jsonl';
  const whole = readFileSync(join(root, 'test/fixtures', path));
  const expected = after(path, whole, []);
  expect(expected.calls.join()).toContain('synthetic-active-model');
  expect(after(path, whole, [endsOf(whole)[5] ?? 0])).toEqual(expected);
});

test('[N30] a reply that was imported while it streamed has the count that it rose to', () => {
  const part = (uuid: string, parent: string, output: number): string =>
    reply(uuid, { parent, id: 'msg', stop: null, text: uuid, usage: usage(10, 0, 0, output) });
  const whole = Buffer.from([prompt('u1', 'ask'), part('a1', 'u1', 1), part('a2', 'a1', 1), part('a3', 'a2', 70)].join(''));
  const expected = after('s/s/s.jsonl', whole, []);
  expect(expected.calls).toEqual([expect.stringContaining('"output":70')]);
  for (const cuts of [[2], [3], [2, 3]])
    expect(
      after(
        's/s/s.jsonl',
        whole,
        cuts.map((line) => endsOf(whole)[line - 1] ?? 0),
      ),
    ).toEqual(expected);
});

test('[N5, N30] an answer that was tried again begins no turn, before and after tools', () => {
  const begun = [
    prompt('p1', 'ask'),
    answer('a1', 'yes', { parent: 'p1' }),
    prompt('p2', 'again', { parent: 'a1' }),
    call('c1', 't1', 'Read', {}, { parent: 'p2' }),
    result('r1', 't1', 'x', { parent: 'c1' }),
  ];
  for (const place of ['p2', 'r1']) {
    const whole = Buffer.from(
      [...begun, answer('a2', 'yes', { parent: 'r1' }), answer('a3', 'yes', { parent: place }), prompt('p3', 'next', { parent: 'a3' })].join(''),
    );
    const expected = after('s/s/s.jsonl', whole, []);
    expect(expected.sessions.join(), place).toContain('3 turns 2');
    for (const cuts of [...endsOf(whole).map((end) => [end]), endsOf(whole).slice(3), endsOf(whole).slice(3, 6)])
      expect(after('s/s/s.jsonl', whole, cuts), `${place} ${cuts}`).toEqual(expected);
  }
});

test('[N5] a first prompt that was edited has no turn before it', () => {
  const record = (id: string, parentId: string | null, more: object): object => ({ ...more, id, parentId, timestamp: '2026-01-01T00:00:00.000Z' });
  const asks = (text: string): object => ({ type: 'message', message: { role: 'user', content: [{ type: 'text', text }] } });
  const whole = file(
    { type: 'session', version: 3, id: 's1', timestamp: '2026-01-01T00:00:00.000Z', cwd: '/work' },
    record('00000001', null, { type: 'model_change', provider: 'anthropic', modelId: 'm' }),
    record('00000002', '00000001', asks('ask')),
    record('00000003', '00000001', asks('ask better')),
  );
  const expected = after('s.jsonl', whole, []);
  expect(expected.sessions.join()).toContain('1 turns 2');
  expect(after('s.jsonl', whole, endsOf(whole))).toEqual(expected);
});

test('[N30] calls and sums count after a part of a turn that is too large to read again', () => {
  const cost = `${JSON.stringify({ type: 'cost-state', sessionId: 's1', totalCostUSD: 1.5, modelUsage: { 'claude-x': { inputTokens: 5, costUSD: 1.5 } } })}\n`;
  const begun = [
    prompt('u1', 'ask'),
    call('a1', 'c1', 'Read', {}, { parent: 'u1' }),
    result('r1', 'c1', 'x'.repeat(8 * 1024 * 1024), { parent: 'a1' }),
  ].join('');
  const whole = Buffer.from([begun, reply('a2', { parent: 'r1', id: 'm2', usage: usage(10, 0, 0, 7) }), cost].join(''));
  const expected = after('s/s/s.jsonl', whole, []);
  expect(expected.calls).toHaveLength(3);
  expect(after('s/s/s.jsonl', whole, [begun.length])).toEqual(expected);
});

test('[N22] bookkeeping that two copies of a growing file hold is stored once', () => {
  const chain = emptyChain();
  const paths = [1, 2].map((copy) => join(scratch(), `${copy}.jsonl`));
  const bookkeeping = (text: string): string => `${JSON.stringify({ type: 'last-prompt', lastPrompt: text, sessionId: 's1' })}\n`;
  const grow = (copy: number, line: string): unknown => {
    appendFileSync(paths[copy] as string, line);
    return importInto(chain, paths[copy] as string);
  };
  const said = prompt('u1', 'one') + reply('a1', { parent: 'u1' });
  for (const copy of [0, 1]) grow(copy, said);
  grow(0, bookkeeping('one'));
  grow(1, bookkeeping('one'));
  for (const text of ['two', 'two']) grow(0, bookkeeping(text));
  grow(1, bookkeeping('two') + bookkeeping('two'));
  const [tip, ...others] = tips(chain, {}).map(({ id }) => id);
  expect(others).toEqual([]);
  expect(listSources(chain).map(({ tips }) => tips)).toEqual([[tip], [tip]]);
  const later = prompt('u2', 'two', { parent: 'a1' });
  for (const copy of [0, 1]) grow(copy, later);
  const [next, ...more] = tips(chain, {}).map(({ id }) => id);
  expect(more).toEqual([]);
  const { bytes } = materializedBytes(chain, { id: next as ContextId });
  expect(Buffer.from(bytes).toString()).toBe(readFileSync(paths[0] as string, 'utf8'));
  for (const path of paths) expect(bytesOfFile(chain, path)).toEqual(readFileSync(path));
});

test.each([
  ['a Codex session that repeats another one', 'codex-fork-replay'],
  ['a forked subagent', 'fork-subagent-null'],
])('[N22, F52] %s has the same links and counts in any order of imports', (_, name) => {
  const folder = scratch();
  cpSync(join(root, cases, name), folder, { recursive: true });
  const files = filesBelow(`${cases}/${name}`, (path) => path.endsWith('.jsonl'));
  const together = emptyChain();
  importInto(together, folder);
  const expected = seen(together);
  expect(expected.sessions.filter((line) => line.includes(' undefined '))).toHaveLength(1);
  for (const order of [files, files.toReversed()]) {
    const chain = emptyChain();
    const alone = scratch();
    for (const path of order) {
      // Nothing lies beside a file before it is imported.
      const to = join(alone, path.slice(`${cases}/${name}/`.length));
      mkdirSync(dirname(to), { recursive: true });
      writeFileSync(to, readFileSync(join(root, path)));
      const meta = path.replace(/\.jsonl$/, '.meta.json');
      if (basename(path).startsWith('agent-')) cpSync(join(root, meta), to.replace(/\.jsonl$/, '.meta.json'));
      importInto(chain, to);
    }
    expect(seen(chain), order.map((path) => basename(path)).join()).toEqual(expected);
  }
});

test('[N30] a Codex session that grows while it repeats another one continues that one', () => {
  const name = `${cases}/codex-fork-replay`;
  const [parent = '', child = ''] = filesBelow(name, (path) => path.endsWith('.jsonl'));
  const whole = readFileSync(join(root, child));
  const ends = endsOf(whole);
  /** `isLast`: the other session is imported last, and lies nowhere near before. */
  const grown = (lines: readonly number[], how: 'import' | 'settled', isLast: boolean) => {
    const chain = emptyChain();
    const at = (path: string): string => join(folder, path.slice(name.length));
    const folder = scratch();
    mkdirSync(dirname(at(child)), { recursive: true });
    const takeParent = (): void => {
      writeFileSync(at(parent), readFileSync(join(root, parent)));
      importInto(chain, at(parent));
    };
    if (!isLast) takeParent();
    for (const line of lines) {
      writeFileSync(at(child), whole.subarray(0, ends[line - 1]));
      if (how === 'import') importInto(chain, at(child));
      else importGrowth(chain, namedFile(at(child)), { what: how, granularity: 'turn_boundary' });
    }
    if (isLast) takeParent();
    writeFileSync(at(child), whole);
    importInto(chain, at(child));
    return seen(chain);
  };
  const expected = grown([], 'import', false);
  expect(expected.said).toHaveLength(1);
  // In the copied part: before its first turn, in and between its turns, and behind it.
  for (const lines of [[1], [1, 4], [10], [10, 11], [11, 17], [1, 18]]) expect(grown(lines, 'import', false), lines.join()).toEqual(expected);
  // Before it said anything, and before the other session was imported.
  for (const lines of [[1], [2]]) expect(grown(lines, 'import', true), lines.join()).toEqual(expected);
  const each = Array.from(ends, (_, at) => at + 1);
  for (const isLast of [false, true]) expect(grown(each, 'settled', isLast)).toEqual(expected);
});

test.each([
  ['claude-stream-json/out.jsonl', 2],
  ['codex-exec-json/out.jsonl', 1],
  ['gemini-stream-json/gemini.jsonl', 1],
])('[N30] a log that stands twice in its file counts once: %s', (name, counted) => {
  const log = readFileSync(join(root, cases, name));
  const twice = Buffer.concat([log, log]);
  expect(after(name, twice, [])).toEqual(after(name, log, []));
  expect(after(name, twice, [log.length])).toEqual(after(name, log, []));
  expect(after(name, log, []).calls.filter((call) => /"input":\d/.test(call))).toHaveLength(counted);
});

test('[N30] two runs of Codex in one log count each', () => {
  const log = readFileSync(join(root, cases, 'codex-exec-json/out.jsonl'), 'utf8');
  const other = log.replaceAll('a.txt', 'b.txt').replace(/("thread_id":\s*")[^"]*/, '$1other');
  const { calls } = after('codex-exec-json/out.jsonl', Buffer.from(log + other), []);
  expect(calls.filter((call) => /"input":500/.test(call))).toHaveLength(2);
});

const tokens = { input: 1000, output: 50, cached: 300, thoughts: 20, tool: 0, total: 1070 };
const header = { sessionId: '8f1d6ec1-e192-407c-a8ad-d631060f48ad', projectHash: 'ab', startTime: '2026-09-04T10:00:00.000Z', kind: 'main' };
const at = (minute: number): string => `2026-09-04T10:0${minute}:00.000Z`;
const asked = (id: string, minute: number, text: string) => ({ id, timestamp: at(minute), type: 'user', content: [{ text }] });
const answered = (id: string, minute: number, content: string) => ({
  id,
  timestamp: at(minute),
  type: 'gemini',
  content,
  thoughts: [],
  tokens,
  model: 'm',
});
const ran = (id: string) => ({
  ...{ id, name: 'read_file', args: { path: id }, status: 'success' },
  result: [{ functionResponse: { id, name: 'read_file', response: { output: `the text of ${id}` } } }],
});
const file = (...lines: object[]): Buffer => Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
const name = 'app/chats/session-2026-09-04T10-00-8f1d6ec1.jsonl';
const counts = (whole: Buffer, cuts: readonly number[] = []): (number | null)[] =>
  after(name, whole, cuts).calls.map((call) => (JSON.parse(call) as [unknown, { output: number | null }])[1].output);

test('[N30] in Gemini CLI, an answer without text is counted when its calls were never recorded', () => {
  const whole = file(header, asked('u1', 1, 'hi'), answered('g1', 2, ''), asked('u2', 3, 'again'), answered('g2', 4, 'done'));
  expect(counts(whole)).toEqual([70, 70]);
  expect(after(name, whole, endsOf(whole))).toEqual(after(name, whole, []));
});

test('[N30] in Gemini CLI, a message that is written a third time shows no call twice', () => {
  const answer = answered('g1', 2, '');
  const whole = file(header, asked('u1', 1, 'hi'), answer, { ...answer, toolCalls: [ran('a')] }, { ...answer, toolCalls: [ran('a'), ran('b')] });
  const [, , third = 0] = endsOf(whole);
  expect(after(name, whole, [third])).toEqual(after(name, whole, []));
});

test('[N30] in Gemini CLI, a prompt after a history with changed messages follows that history', () => {
  const [first, second] = [asked('u1', 1, 'hi'), answered('g1', 2, 'a long answer')];
  const changed = { $set: { messages: [first, { ...second, content: 'a short one' }] } };
  const whole = file(header, first, second, changed, asked('u2', 3, 'again'), answered('g2', 4, 'done'));
  const expected = after(name, whole, []);
  expect(expected.sessions.join()).toContain('2 turns 1');
  for (const end of endsOf(whole)) expect(after(name, whole, [end])).toEqual(expected);
});

test('[N30] in Gemini CLI, a message over several lines, with line breaks as they stand, is read', () => {
  const whole = file(header, asked('u1', 1, 'hi'), answered('g1', 2, 'one two'), asked('u2', 3, 'again'), answered('g2', 4, 'done'));
  const broken = Buffer.from(whole.toString().replace('one two', 'one\ntwo'));
  expect(counts(broken)).toEqual([70, 70]);
  expect(after(name, broken, []).said.flat().join()).toContain('one');
});

test('[N30] in pi, a shell command after a turn begins none when it is imported later', () => {
  const at = (second: number) => ({ timestamp: `2026-12-01T10:00:0${second}.000Z` });
  const message = (second: number, fields: object) => ({ type: 'message', ...at(second), message: fields });
  const answer = { role: 'assistant', content: [{ type: 'text', text: 'ok' }], provider: 'anthropic', model: 'claude-opus-4-5', stopReason: 'stop' };
  const shell = { role: 'bashExecution', command: 'ls', output: 'a.txt', exitCode: 0, cancelled: false, truncated: false };
  const asks = { role: 'user', content: [{ type: 'text', text: 'hi' }] };
  const whole = file({ type: 'session', id: '5a7d', ...at(0), cwd: '/work' }, message(1, asks), message(2, answer), message(3, shell));
  const expected = after('pi/sessions/2026.jsonl', whole, []);
  expect(expected.sessions.join()).toContain('1 turns');
  for (const end of endsOf(whole)) expect(after('pi/sessions/2026.jsonl', whole, [end])).toEqual(expected);
});

test.each(['api-errors', 'codex-stripped-reasoning-tools', 'copilot-nul'])(
  '[N30, E1] a clone has the turns and calls of %s, which grew',
  async (name) => {
    const [path = ''] = filesBelow(`${cases}/${name}`, (one) => one.endsWith('.jsonl'));
    const whole = readFileSync(join(root, path));
    const ends = endsOf(whole);
    const [mine, clone, hub] = [
      grown(
        path,
        whole,
        [1, 2].map((at) => ends[Math.floor((ends.length * at) / 3)] as number),
      ),
      emptyChain(),
      fakeHub(),
    ];
    await push(mine, hub);
    await pull(clone, hub);
    // The first question counts what was pulled.
    usageCalls(clone, {});
    expect(seen(clone)).toEqual(seen(mine));
    expect(seen(clone).sessions).toEqual(after(path, whole, []).sessions);
  },
);

test('[N30] in Copilot CLI, a fork after a turn that was taken back counts no call of its parent', () => {
  const [chain, folder] = [emptyChain(), join(scratch(), 'session-state')];
  const put = (id: string, lines: readonly string[]): void => {
    const at = join(folder, id, 'events.jsonl');
    mkdirSync(dirname(at), { recursive: true });
    writeFileSync(at, lines.join(''));
    importInto(chain, at);
  };
  const [parent, fork] = ['5264d248-7f24-4738-a567-649ec81c3734', 'ae00a717-079c-4dd2-9bfc-36e6402cb131'] as const;
  const linesOf = (id: string): string[] =>
    readFileSync(join(root, 'test/fixtures/copilot-cli/live-1.0.102/session-state', id, 'events.jsonl'), 'utf8').split(/(?<=\n)/);
  const lines = linesOf(parent);
  const from = lines.findIndex((line) => line.includes('"content":"Try another way"'));
  const to = lines.findIndex((line, at) => at > from && line.includes('"session.shutdown"')) + 1;
  // The same turn with other records and another call, before the person went back and asked again.
  const ids = new Set(lines.slice(from, to).map((line) => (JSON.parse(line) as { id: string }).id));
  const another = (line: string): string => [...ids].reduce((text, id) => text.replaceAll(id, `${id.startsWith('f') ? 0 : 'f'}${id.slice(1)}`), line);
  const taken = lines.slice(from, to).map((line) => another(line).replaceAll('chatcmpl-', 'chatcmpl-f').replace('Try another way', 'Try this way'));
  put(parent, [...lines.slice(0, from), ...taken]);
  put(parent, lines);
  put(fork, linesOf(fork));
  const { calls } = usageCalls(chain, {});
  expect(calls.map(({ beside }) => beside).filter(Boolean)).toEqual(['compaction']);
  expect(calls).toHaveLength(9 + 1 + 1 + 2);
});
