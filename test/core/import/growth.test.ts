import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { tips, type WriteChain } from '../../../src/core/chain/index.js';
import { listSessions } from '../../../src/core/sessions/index.js';
import { prompt } from '../../support/claude-lines.js';
import { usageCalls } from '../../support/counted.js';
import { reply, usage } from '../../support/counted-lines.js';
import { importInto, said } from '../../support/imports.js';
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
function after(path: string, whole: Buffer, cuts: readonly number[]) {
  const chain = emptyChain();
  const at = join(scratch(), path.split('/').slice(-3).join('/'));
  mkdirSync(dirname(at), { recursive: true });
  for (const cut of [...cuts, whole.length]) {
    writeFileSync(at, whole.subarray(0, cut));
    importInto(chain, at);
  }
  return seen(chain);
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
