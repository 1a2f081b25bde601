import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { zstdCompressSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { blake3Of } from '../../../../src/core/artifacts/index.js';
import type { ContextId } from '../../../../src/core/base/index.js';
import { entries, fork, materializedBytes, tips, type WriteChain } from '../../../../src/core/chain/index.js';
import { exportContext } from '../../../../src/core/export/index.js';
import { codex } from '../../../../src/core/formats/codex/index.js';
import type { ImportPlan } from '../../../../src/core/formats/index.js';
import { detect, foundSessions, listSources } from '../../../../src/core/import/index.js';
import { codexLine, codexTurn } from '../../../support/codex-lines.js';
import { bytesOfFile, importInto } from '../../../support/imports.js';
import { emptyChain, scratch } from '../../../support/project.js';
import { runs } from '../../../support/properties.js';
import { root } from '../../../support/source.js';
import { plannedWhole, survivesAnyBytes } from '../each-byte.js';

const fixtures = join(root, 'test/fixtures/codex');
const main = join(fixtures, 'rollout-2026-11-21T09-05-39-01a1fd5a-a9b9-7ee2-8073-23f98318bbc4.jsonl');
const child = join(fixtures, 'rollout-2026-11-21T09-05-40-01a1fd5a-abea-7641-8fd1-529bf173e7a8.jsonl');

const texts = (chain: WriteChain, id: ContextId, stop?: 'root'): string[] =>
  entries(chain, { id, ...(stop && { stop }) }).entries.flatMap(({ kind, role, text }) => (kind === 'text' && role !== 'system' ? [text ?? ''] : []));
function written(text: string | Uint8Array, name = 'rollout-2026-01-01T00-00-00-00000000-0000-4000-8000-000000000001.jsonl'): string {
  const path = join(scratch(), name);
  writeFileSync(path, text);
  return path;
}

const header = codexLine('session_meta', { id: 's', cwd: '/work', originator: 'codex', cli_version: '0.169.0', model_provider: 'openai' });
const rollback = (turns: unknown): string => codexLine('event_msg', { type: 'thread_rolled_back', num_turns: turns });
const compacted = (message: string, history?: readonly string[]): string =>
  codexLine('compacted', {
    message,
    ...(history && {
      replacement_history: [...history, message].map((text) => ({ type: 'message', role: 'user', content: [{ type: 'input_text', text }] })),
    }),
  });

describe('a session', () => {
  test('[F1, F21] the root walk of a single chain is its file, byte for byte', () => {
    const chain = emptyChain();
    const path = written(header + codexTurn(1) + codexTurn(2));
    const { tips: ends, skipped, notes } = importInto(chain, path);
    expect({ skipped, notes }).toEqual({ skipped: [], notes: [] });
    expect(Buffer.from(materializedBytes(chain, { id: ends[0] as ContextId, stop: 'root' }).bytes)).toEqual(readFileSync(path));
    expect(bytesOfFile(chain, path)).toEqual(readFileSync(path));
    expect(exportContext(chain, { id: ends[0] as ContextId, format: 'codex-v1' }).text).toBe(readFileSync(path, 'utf8'));
  });

  test('[F4] turns that are taken back are a branch, and the session continues before them', () => {
    const chain = emptyChain();
    const { tips: ends } = importInto(chain, written(header + codexTurn(1) + codexTurn(2) + codexTurn(3) + rollback(2) + codexTurn(4)));
    expect(ends.map((id) => texts(chain, id).filter((text) => text.startsWith('question')))).toEqual([
      ['question 1', 'question 2', 'question 3'],
      ['question 1', 'question 4'],
    ]);
    const text = exportContext(chain, { id: ends[1] as ContextId, format: 'codex-v1' }).text ?? '';
    expect(text).toContain('question 4');
    expect(text).not.toContain('question 2');
  });

  test('a rollback of too many turns, none, a fraction or no number does what it can', () => {
    const take = (turns: unknown) => {
      const chain = emptyChain();
      const { tips: ends, notes } = importInto(chain, written(header + codexTurn(1) + rollback(turns) + codexTurn(2)));
      return { last: texts(chain, ends.at(-1) as ContextId).filter((text) => text.startsWith('question')), notes: notes.length };
    };
    expect(take(9)).toEqual({ last: ['question 2'], notes: 1 });
    expect(take(0)).toEqual({ last: ['question 1', 'question 2'], notes: 0 });
    expect(take(-3)).toEqual({ last: ['question 1', 'question 2'], notes: 0 });
    expect(take(1.5)).toEqual({ last: ['question 2'], notes: 0 });
    expect(take('1')).toEqual({ last: ['question 1', 'question 2'], notes: 0 });
  });

  test('[F5] a compaction replaces all before it, and a rollback stops there', () => {
    const chain = emptyChain();
    const text = header + codexTurn(1) + codexTurn(2) + compacted('SUMMARY', ['question 2']) + codexTurn(3) + rollback(5) + codexTurn(4);
    const { tips: ends, notes } = importInto(chain, written(text));
    const last = ends.at(-1) as ContextId;
    expect(texts(chain, last)).toEqual(['question 2', 'question 4', 'let me look, 4', 'answer 4']);
    expect(
      entries(chain, { id: last })
        .entries.filter(({ kind }) => kind === 'summary')
        .map((entry) => entry.text),
    ).toEqual(['SUMMARY']);
    expect(notes.map(({ reason }) => reason)).toEqual(['5 turns are taken back, more than there are since the last compaction']);
  });

  test('[F8, F9] a file that grows byte by byte loses nothing and repeats nothing', () => {
    const whole = Buffer.from(
      header + codexTurn(1) + codexTurn(2) + rollback(1) + codexTurn(3) + compacted('SUMMARY', ['question 3']) + codexTurn(4),
    );
    /** After the line of that kind, before its newline. */
    const endOf = (kind: string): number => whole.indexOf('\n', whole.indexOf(`"${kind}"`));
    const ends = (chain: WriteChain): Set<string> =>
      new Set(tips(chain, {}).map(({ id }) => JSON.stringify(entries(chain, { id, stop: 'root' }).entries.map(({ kind, text }) => [kind, text]))));
    const direct = emptyChain();
    importInto(direct, written(whole));
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: whole.length }), { maxLength: 4 }), (cuts) => {
        const chain = emptyChain();
        const path = written('');
        for (const end of [...cuts.sort((a, b) => a - b), whole.length]) {
          writeFileSync(path, whole.subarray(0, end));
          importInto(chain, path);
        }
        expect(ends(chain)).toEqual(ends(direct));
        expect(blake3Of(bytesOfFile(chain, path))).toEqual(blake3Of(whole));
      }),
      { numRuns: runs(20), examples: [[[endOf('thread_rolled_back')]], [[endOf('thread_rolled_back') - 1]], [[endOf('compacted')]]] },
    );
  });

  test('[F13] a fork cut after any entry and its file hold exactly the entries so far', { tags: 'long' }, () => {
    const chain = emptyChain();
    const { tips: ends } = importInto(chain, main);
    const tip = ends.at(-1) as ContextId;
    const visible = entries(chain, { id: tip }).entries;
    for (const [at, { key }] of [...visible.entries()].slice(1)) {
      const cut = fork(chain, { id: tip, at: key });
      expect(entries(chain, { id: cut.id }).entries.map((entry) => entry.key)).toEqual(visible.slice(0, at + 1).map((entry) => entry.key));
      const again = emptyChain();
      const { tips: made } = importInto(again, written(exportContext(chain, { id: cut.id, format: 'codex-v1' }).text ?? ''));
      expect(texts(again, made.at(-1) as ContextId)).toEqual(texts(chain, cut.id));
    }
  });
});

describe('broken sessions', () => {
  const keysDiffer = (plan: ImportPlan): void => {
    for (const { entries: all } of plan.commits) expect(new Set(all.map(({ key }) => key)).size).toBe(all.length);
  };

  test.each([main, child].map((path) => [basename(path), path]))('[F2, F10] any bytes are planned, each in one place: %s', (_, path) =>
    survivesAnyBytes(codex, readFileSync(path), keysDiffer),
  );

  test('[F10] reordered, repeated and missing lines are planned, each in one place', () => {
    const lines = readFileSync(main, 'utf8').split(/(?<=\n)/);
    fc.assert(
      fc.property(fc.shuffledSubarray([...lines.keys(), ...lines.keys()]), (order) =>
        keysDiffer(plannedWhole(codex, Buffer.from(order.map((at) => lines[at]).join('')))),
      ),
      { numRuns: runs(25) },
    );
  });

  test('[F11] names of the language, malformed items and stray outputs are read', () => {
    const odd = [
      codexLine('response_item', { type: 'message', role: '__proto__', id: '__proto__', content: 'a text' }),
      codexLine('response_item', { type: 'constructor', id: 'constructor' }),
      codexLine('response_item', { type: 'function_call', name: 'x', arguments: '{"torn', call_id: '__proto__' }),
      codexLine('response_item', { type: 'function_call_output', call_id: 'nobody', output: { content: [1, null, { type: 'x' }] } }),
      codexLine('response_item', {
        type: 'message',
        role: 'user',
        content: [null, 3, { type: 'input_image', image_url: 'data:image/png;base64,AAAA' }],
      }),
      codexLine('compacted', { message: 3, replacement_history: [null, 1, 'x', { type: 'message' }] } as never),
      codexLine('__proto__', { x: 1 }),
    ].join('');
    plannedWhole(codex, Buffer.from(header + odd));
    const read = codex.parse(Buffer.from(odd)).entries;
    expect(read.find(({ text }) => text === 'a text')).toMatchObject({ role: 'user' });
    expect(read.find(({ toolName }) => toolName === 'x')).toMatchObject({ arguments: { input: '{"torn' }, marks: ['unparsed'] });
    expect(read.filter(({ kind }) => kind === 'image')).toHaveLength(1);
  });

  test('[F10] a base that is distant, invalid or the session itself does no harm', () => {
    for (const base of [
      { thread_id: 'x'.repeat(300), end_ordinal_exclusive: Number.MAX_SAFE_INTEGER },
      { thread_id: '../../etc/passwd', end_ordinal_exclusive: 3 },
      { thread_id: '00000000-0000-4000-8000-000000000001', end_ordinal_exclusive: -1 },
      { thread_id: 7, end_ordinal_exclusive: 'x' },
    ]) {
      const chain = emptyChain();
      const meta = codexLine('session_meta', { id: 's', cwd: '/work', history_base: base });
      const { tips: ends } = importInto(chain, written(meta + codexTurn(1)));
      expect(texts(chain, ends[0] as ContextId)[0]).toBe('question 1');
    }
  });
});

describe('a session that continues another', () => {
  const inFolder = (path: string): string => {
    const copy = join(scratch(), basename(path));
    writeFileSync(copy, readFileSync(path));
    return copy;
  };

  test('[F7] is imported again on top of the other session, once that arrives', () => {
    const chain = emptyChain();
    const [origin, fork] = [inFolder(main), inFolder(child)] as const;
    const whole = readFileSync(fork, 'utf8').split(/(?<=\n)/);
    writeFileSync(fork, whole.slice(0, 9).join(''));
    const alone = importInto(chain, fork);
    expect(alone.notes.map(({ reason }) => reason)).toEqual([expect.stringContaining('which the project does not have')]);
    expect(texts(chain, alone.tips[0] as ContextId, 'root').join()).not.toContain('Fix the queue retry');
    const later = importInto(chain, origin);
    expect(later.notes).toMatchObject([
      { path: fork, reason: 'the session that it continues was imported, so this file was imported again as its continuation' },
    ]);
    const [tip] = listSources(chain).find(({ path }) => path === fork)?.tips ?? [];
    writeFileSync(fork, whole.join(''));
    const { tips: ends } = importInto(chain, fork);
    const plain = emptyChain();
    const direct = importInto(plain, main, child);
    const expected = texts(plain, direct.tips.at(-1) as ContextId, 'root');
    expect(expected.join()).toContain('Fix the queue retry');
    expect(texts(chain, ends.at(-1) as ContextId, 'root')).toEqual(expected);
    expect(texts(chain, tip as ContextId, 'root')).toEqual(expected);
    for (const path of [origin, fork]) expect(bytesOfFile(chain, path)).toEqual(readFileSync(path));
    expect(importInto(chain, origin, fork)).toMatchObject({ commits: 0, notes: [] });
  });
});

describe('a compressed session', () => {
  const compress = (path: string, folder: string): string => {
    const target = join(folder, `${basename(path)}.zst`);
    writeFileSync(target, zstdCompressSync(readFileSync(path)));
    return target;
  };

  test('[F21] is found, named and imported with its origin, and comes back unchanged', () => {
    const home = scratch();
    const folder = join(home, 'sessions/2026/11/21');
    mkdirSync(folder, { recursive: true });
    const [origin, fork] = [compress(main, folder), compress(child, folder)] as const;
    expect(
      detect([home])
        .map(({ path, format, sessions }) => [path, format, sessions])
        .sort(),
    ).toEqual([
      [origin, 'codex-v1', 1],
      [fork, 'codex-v1', 1],
    ]);
    const sessions = [...foundSessions({ agent: 'codex', root: home }, () => false)];
    expect(sessions.map(({ cwd }) => cwd)).toEqual(['/home/ada/demo/project', '/home/ada/demo/project']);
    const chain = emptyChain();
    const result = importInto(chain, fork);
    expect({ skipped: result.skipped, notes: result.notes }).toEqual({ skipped: [], notes: [] });
    const plain = emptyChain();
    const direct = importInto(plain, child);
    expect(texts(chain, result.tips.at(-1) as ContextId, 'root')).toEqual(texts(plain, direct.tips.at(-1) as ContextId, 'root'));
    for (const path of [origin, fork]) expect(bytesOfFile(chain, path)).toEqual(readFileSync(path));
    // The same session is known from before it was compressed.
    expect(importInto(chain, main, child).commits).toBe(0);
  });

  test('[F10] is refused with a reason where it is incomplete or too large', () => {
    const folder = scratch();
    const whole = zstdCompressSync(readFileSync(main));
    const broken = join(folder, 'rollout-a.jsonl.zst');
    writeFileSync(broken, whole.subarray(0, whole.length / 2));
    const other = join(folder, 'rollout-b.jsonl.zst');
    writeFileSync(other, zstdCompressSync(Buffer.from('{"no":"rollout"}\n')));
    const { skipped, commits } = importInto(emptyChain(), folder);
    expect(commits).toBe(0);
    expect(skipped.map(({ path, reason }) => [path, reason]).sort()).toEqual([
      [broken, 'it is compressed and cannot be expanded: unexpected end of file'],
      [other, 'it is in no format that Stemma imports'],
    ]);
  });
});
