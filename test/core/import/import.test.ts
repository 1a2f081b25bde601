import { appendFileSync, chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { entries, graph, materializedBytes, show, tips, type WriteChain } from '../../../src/core/chain/index.js';
import type { ImportResult } from '../../../src/core/contract/index.js';
import { exportContext } from '../../../src/core/export/index.js';
import { type ImportInput, importPaths, listSources } from '../../../src/core/import/index.js';
import { atOnce, checkProject } from '../../../src/core/project/index.js';
import { answer, call, prompt, result } from '../../support/claude-lines.js';
import { bytesOfSource } from '../../support/imports.js';
import { emptyChain, emptyProject, scratch } from '../../support/project.js';
import { root } from '../../support/source.js';

function imported(chain: WriteChain, paths: string[], more: Partial<ImportInput> = {}): ImportResult {
  const run = importPaths(chain, { paths, ...more });
  for (;;) {
    const step = run.next();
    if (step.done) return step.value;
  }
}

function written(text: string, name = '11111111-1111-4111-8111-111111111111.jsonl'): string {
  const path = join(scratch(), name);
  writeFileSync(path, text);
  return path;
}

const texts = (chain: WriteChain, id: ImportResult['tips'][number]): (string | undefined)[] =>
  entries(chain, { id }).entries.map((entry) => entry.text);
const sourceText = (chain: WriteChain, path: string): string => {
  const source = listSources(chain).find((each) => each.path === path);
  return bytesOfSource(chain, source?.sourceId ?? '').toString();
};

const turn = (n: number): string =>
  prompt(`u${n}`, `question ${n}`, { parent: n === 1 ? null : `a${n - 1}` }) + answer(`a${n}`, `answer ${n}`, { parent: `u${n}` });

describe('one file', () => {
  test('[F1, F21] a linear session comes back byte for byte from its chain and from its source', () => {
    const chain = emptyChain();
    const text = `{"type":"file-history-snapshot","messageId":"m","snapshot":{}}\n${turn(1)}{"type":"queue-operation","operation":"enqueue","timestamp":"2026-01-01T00:00:00.000Z"}\n${turn(2)}{"type":"custom-title","customTitle":"A title"}\n`;
    const path = written(text);
    const { tips: made, skipped, commits } = imported(chain, [path]);
    expect(skipped).toEqual([]);
    expect(commits).toBe(2);
    expect(Buffer.from(materializedBytes(chain, { id: made[0] as never, stop: 'root' }).bytes).toString()).toBe(text);
    rmSync(path);
    expect(sourceText(chain, path)).toBe(text);
  });

  test('[F1, F21] a file that is read in parts is restored byte for byte', { tags: 'long' }, () => {
    const chain = emptyChain();
    const filler = 'x'.repeat(60_000);
    const text = Array.from({ length: 300 }, (_, n) => turn(n + 1).replace('answer', `answer ${filler}`)).join('');
    expect(text.length).toBeGreaterThan(17 * 1024 * 1024);
    const path = written(text);
    const { tips: made, skipped, commits, entries: count } = imported(chain, [path]);
    expect({ skipped, commits, count }).toEqual({ skipped: [], commits: 300, count: 600 });
    expect(Buffer.from(materializedBytes(chain, { id: made[0] as never, stop: 'root' }).bytes).equals(Buffer.from(text))).toBe(true);
    expect(entries(chain, { id: made[0] as never }).entries.at(-1)?.text).toBe(`answer ${filler} 300`);
    appendFileSync(path, turn(301));
    expect(imported(chain, [path])).toMatchObject({ commits: 1, entries: 2 });
    expect(sourceText(chain, path) === readFileSync(path, 'utf8')).toBe(true);
  });

  test('[F8] the same bytes again add nothing', () => {
    const chain = emptyChain();
    const path = written(turn(1) + turn(2));
    const first = imported(chain, [path]);
    const again = imported(chain, [path]);
    expect(again).toMatchObject({ commits: 0, entries: 0, tips: first.tips });
    expect(graph(chain, { offset: 0, limit: 9 }).total).toBe(2);
  });

  test('[F8] a grown file adds its new turns only, on the tip that it had', () => {
    const chain = emptyChain();
    const path = written(turn(1) + turn(2));
    const before = imported(chain, [path]);
    appendFileSync(path, turn(3));
    const after = imported(chain, [path]);
    expect(after.commits).toBe(1);
    expect(show(chain, after.tips[0] as never).parent).toBe(before.tips[0]);
    expect(texts(chain, after.tips[0] as never)).toHaveLength(6);
    expect(sourceText(chain, path)).toBe(readFileSync(path, 'utf8'));
    expect(listSources(chain)).toMatchObject([{ holds: { commits: 3, messages: 6, compactions: 0, errors: 0 } }]);
  });

  test('[F10] half a last line waits for its other half and is lost by neither import', () => {
    const chain = emptyChain();
    const [whole, half] = [turn(1), turn(2)];
    const path = written(whole + half.slice(0, half.length - 30));
    const before = imported(chain, [path]);
    expect(before.skipped).toMatchObject([{ path, line: 4 }]);
    expect(sourceText(chain, path)).toBe(readFileSync(path, 'utf8'));
    appendFileSync(path, half.slice(half.length - 30));
    const after = imported(chain, [path]);
    expect(after.skipped).toEqual([]);
    expect(texts(chain, after.tips[0] as never)).toEqual(['question 1', 'answer 1', 'question 2', 'answer 2']);
    expect(sourceText(chain, path)).toBe(readFileSync(path, 'utf8'));
  });

  test('a file that grows in the middle of a turn goes on with the turn', () => {
    const chain = emptyChain();
    const path = written(turn(1) + prompt('u2', 'look', { parent: 'a1' }) + call('c2', 't1', 'Read', {}, { parent: 'u2' }));
    imported(chain, [path]);
    appendFileSync(path, result('r2', 't1', 'content', { parent: 'c2' }) + answer('a2', 'seen', { parent: 'r2' }));
    const after = imported(chain, [path]);
    expect(entries(chain, { id: after.tips[0] as never }).entries.map((entry) => entry.kind)).toEqual([
      'text',
      'text',
      'text',
      'tool_call',
      'tool_result',
      'text',
    ]);
    expect(entries(chain, { id: after.tips[0] as never }).entries[4]?.toolName).toBe('Read');
  });

  test('[F3] a rewind into the middle of a turn of an earlier import branches there', () => {
    const chain = emptyChain();
    const path = written(
      turn(1) + prompt('u2', 'look', { parent: 'a1' }) + answer('x2', 'first words', { parent: 'u2' }) + answer('y2', 'more words', { parent: 'x2' }),
    );
    const before = imported(chain, [path]);
    appendFileSync(path, prompt('u3', 'no, differently', { parent: 'x2' }));
    const after = imported(chain, [path]);
    expect(texts(chain, after.tips.at(-1) as never)).toEqual(['question 1', 'answer 1', 'look', 'first words', 'no, differently']);
    expect(texts(chain, before.tips[0] as never)).toEqual(['question 1', 'answer 1', 'look', 'first words', 'more words']);
  });
});

describe('several files', () => {
  test('[F7] a fork that repeats its origin’s records shares its commits', () => {
    const chain = emptyChain();
    const origin = written(turn(1) + turn(2));
    imported(chain, [origin]);
    const repeated = (turn(1) + prompt('f2', 'in the fork', { parent: 'a1' })).replaceAll('"s1"', '"s2"');
    const fork = written(repeated, '22222222-2222-4222-8222-222222222222.jsonl');
    const made = imported(chain, [fork]);
    expect(made.commits).toBe(1);
    expect(texts(chain, made.tips[0] as never)).toEqual(['question 1', 'answer 1', 'in the fork']);
    expect(graph(chain, { offset: 0, limit: 9 }).total).toBe(3);
    expect(sourceText(chain, fork)).toBe(repeated);
  });

  test('[W70] a tip has the title of its session, side branch or subagent', () => {
    const chain = emptyChain();
    imported(chain, [join(root, 'resources/sample/larder')]);
    const { rows } = graph(chain, { offset: 0, limit: 100 });
    const names = rows.flatMap(({ tipOf, startedBy }) => (tipOf === undefined ? [] : [`${startedBy ? 'subagent: ' : ''}${tipOf.slice(0, 24)}`]));
    expect(names.sort()).toEqual([
      'An overview of larder, a',
      'Jam that is gone on its ',
      'The list looks ragged in',
      'Then say "in June" where',
      'daysLeft with Temporal (',
      'subagent: Look through every file ',
    ]);
  });

  test('[F6] a subagent’s file is a chain of its own, linked from the call that started it', () => {
    const chain = emptyChain();
    const dir = scratch();
    const id = '33333333-3333-4333-8333-333333333333';
    writeFileSync(
      join(dir, `${id}.jsonl`),
      prompt('u1', 'delegate') + call('a1', 'toolu_task', 'Agent', { prompt: 'look around', subagent_type: 'Explore' }, { parent: 'u1' }),
    );
    mkdirSync(join(dir, id, 'subagents'), { recursive: true });
    const side = { extra: { isSidechain: true, agentId: 'abc' } };
    writeFileSync(
      join(dir, id, 'subagents', 'agent-abc.jsonl'),
      prompt('s1', 'look around', side) + answer('s2', 'nothing here', { parent: 's1', ...side }),
    );
    writeFileSync(join(dir, id, 'subagents', 'agent-abc.meta.json'), JSON.stringify({ agentType: 'Explore', toolUseId: 'toolu_task' }));
    const made = imported(chain, [dir]);
    expect(made.skipped).toEqual([]);
    const started = graph(chain, { offset: 0, limit: 9 }).rows.filter((row) => row.startedBy);
    expect(started).toMatchObject([{ startedBy: { toolCallId: 'toolu_task' } }]);
    expect(graph(chain, { filter: { sessionId: id }, offset: 0, limit: 9 }).total).toBe(2);
    expect(tips(chain, {})).toHaveLength(2);
  });

  test('[F12] an export that is imported again is the same context, entry by entry', () => {
    const chain = emptyChain();
    const made = imported(chain, [written(turn(1) + turn(2))]);
    const path = join(scratch(), '44444444-4444-4444-8444-444444444444.jsonl');
    exportContext(chain, { id: made.tips[0] as never, format: 'claude-code-v1', path });
    const again = imported(chain, [path]);
    expect(again.tips).toEqual(made.tips);
    const elsewhere = emptyChain();
    const there = imported(elsewhere, [path]);
    expect(entries(elsewhere, { id: there.tips[0] as never }).entries.map(({ key, text }) => [key, text])).toEqual(
      entries(chain, { id: made.tips[0] as never }).entries.map(({ key, text }) => [key, text]),
    );
  });
});

describe('bad input', () => {
  test('[F10] what cannot be read is named with its path, and the rest goes on', () => {
    const chain = emptyChain();
    const dir = scratch();
    writeFileSync(join(dir, 'good.jsonl'), turn(1));
    writeFileSync(join(dir, 'empty.jsonl'), '');
    writeFileSync(join(dir, 'noise.jsonl'), 'this is not a transcript\n');
    const made = imported(chain, [dir, join(dir, 'missing.jsonl')]);
    expect(made.commits).toBe(1);
    expect(made.skipped.map((skip) => [skip.path.split('/').at(-1), skip.reason])).toEqual(
      expect.arrayContaining([
        ['missing.jsonl', 'it does not exist'],
        ['empty.jsonl', 'it is empty'],
        ['noise.jsonl', 'it is in no format that Stemma imports'],
      ]),
    );
  });

  test('[F22] a refused file is described by its content', () => {
    const refusals: readonly (readonly [name: string, content: string, reason: string])[] = [
      ['cut.json', '{"schema_version": "ATIF-v1.7",\n"steps": [{"message": "He', 'its JSON is broken or cut off at line 2, column 26'],
      ['short.json', '[{"role": "user"},', 'its JSON ends too early'],
      ['broken.json', '[1,, 2]', 'its JSON is broken'],
      ['log.eval', 'PK\u0003\u0004 half an archive', 'it is an archive that is damaged, or that is no log of Inspect'],
      ['lines.jsonl', '{"whole": 1}\n{"half', 'it is in no format that Stemma imports'],
      // The list of inputs that Gemini CLI keeps: its records look like lines of another agent.
      [
        'logs.json',
        JSON.stringify([{ sessionId: 's1', messageId: 0, type: 'user', message: 'Hi' }], null, 2),
        'it is in no format that Stemma imports',
      ],
    ];
    const dir = scratch();
    for (const [name, content] of refusals) writeFileSync(join(dir, name), content);
    const { skipped } = imported(emptyChain(), [dir]);
    const reasons = new Map(skipped.map(({ path, reason }) => [path.split('/').at(-1), reason]));
    for (const [name, , reason] of refusals) expect(reasons.get(name), name).toMatch(new RegExp(`${reason}$`));
  });

  test.skipIf(process.getuid?.() === 0)('a folder without permission is named', () => {
    const dir = scratch();
    mkdirSync(join(dir, 'closed'));
    chmodSync(join(dir, 'closed'), 0);
    expect(imported(emptyChain(), [dir]).skipped).toMatchObject([{ path: join(dir, 'closed'), reason: 'this user may not read it' }]);
    chmodSync(join(dir, 'closed'), 0o700);
  });

  test('an unknown format is refused before anything is read', () => {
    expect(() => imported(emptyChain(), ['/nowhere'], { format: 'no-such-v1' })).toThrow(/cannot be imported/);
  });
});

const corpus = join(import.meta.dirname, '../../fixtures/claude-code');
describe('real histories', () => {
  test('[F2, F21] every file imports, comes back byte for byte, and the project proves sound', () => {
    const project = emptyProject();
    const made = imported(project.chain, [corpus]);
    expect(made.commits).toBeGreaterThan(50);
    for (const skip of made.skipped) expect(skip.reason).not.toBe('');
    const sources = listSources(project.chain);
    expect(sources).toHaveLength(readdirSync(corpus, { recursive: true }).filter((name) => String(name).endsWith('.jsonl')).length);
    for (const source of sources) expect(sourceText(project.chain, source.path) === readFileSync(source.path).toString()).toBe(true);
    expect(atOnce(checkProject(project)).problems).toEqual([]);
    expect(imported(project.chain, [corpus])).toMatchObject({ commits: 0, entries: 0 });
  });
});
