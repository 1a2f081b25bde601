import './page.js';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { experimental } from '../../src/renderer/parts/agents.js';
import { foldText } from '../../src/renderer/parts/Fold.js';
import { languageOf, languageOfPath } from '../../src/renderer/parts/highlight.js';
import { repositoryName, repositoryNames } from '../../src/renderer/parts/repository.js';
import { entryAt, scaleOf, sharesOf, tokensByShare } from '../../src/renderer/parts/TokenBar.js';
import { editOf, editsOf, jsonInLines, leadOf } from '../../src/renderer/parts/tools.js';
import { comparable, diffRows, dividePieces, isRewritten } from '../../src/renderer/views/diff/parts.js';
import { call, entry, outlineRow, result } from './make.js';

test('[F43] the window marks the tools of which Stemma met no file as experimental', () => {
  // test/core/formats/mapped.test.ts has the same list of mappings.
  expect(Object.keys(experimental)).toEqual(['cursor', 'goose', 'managed-agent', 'openai-agents', 'pydantic-ai', 'specstory', 'vercel-ai', 'zed']);
});

describe('folding', () => {
  test('twenty lines are shown and the rest is counted', () => {
    const text = Array.from({ length: 25 }, (_, n) => `line ${n}`).join('\n');
    const folded = foldText(text);
    expect(folded.shown.split('\n')).toHaveLength(20);
    expect(folded).toMatchObject({ hiddenLines: 5, size: text.length });
  });

  test('short text is not folded, a very long line is', () => {
    expect(foldText('a\nb')).toEqual({ shown: 'a\nb', hiddenLines: 0, size: 3 });
    expect(foldText('x'.repeat(100_000))).toMatchObject({ hiddenLines: 1, size: 100_000 });
  });

  test('shown and hidden lines add up to all lines', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ maxLength: 20 }), { minLength: 1, maxLength: 80 }), (lines) => {
        const text = lines.map((line) => line.replaceAll('\n', '')).join('\n');
        const { shown, hiddenLines } = foldText(text);
        expect(text.startsWith(shown)).toBe(true);
        expect(shown.split('\n').length + hiddenLines).toBe(text.split('\n').length);
      }),
    );
  });
});

describe('the token bar', () => {
  const rows = [outlineRow('a', 'user', 'text', { tokens: 10 }), call('t', { tokens: 60 }), result('t', { tokens: 30 })];

  test('each entry has its share, and a position finds its entry', () => {
    expect(sharesOf(rows)).toEqual([0, 0.1, 0.7, 1]);
    expect([0, 0.05, 0.1, 0.69, 0.71, 1].map((point) => entryAt(sharesOf(rows), point))).toEqual([0, 0, 1, 1, 2, 2]);
  });

  test('[W56] the bar shows what is not recorded, and the free window of a large context', () => {
    const limit = 200_000;
    expect(scaleOf(undefined)).toEqual({ unrecorded: 0, entries: 1 });
    expect(scaleOf({ counted: null, notRecorded: null, limit })).toEqual({ unrecorded: 0, entries: 1 });
    expect(scaleOf({ counted: 100_000, notRecorded: 20_000, limit })).toEqual({ unrecorded: 0.1, entries: 0.4 });
    // A bar of 5 % of the window would be too narrow to point at: it shows the counted tokens alone.
    expect(scaleOf({ counted: 10_000, notRecorded: 5_000, limit })).toEqual({ unrecorded: 0.5, entries: 0.5 });
    expect(scaleOf({ counted: 10_000, notRecorded: 0, limit: null })).toEqual({ unrecorded: 0, entries: 1 });
  });

  test('entries without tokens are accepted', () => {
    expect(sharesOf([{ tokens: 0 }, { tokens: 0 }])).toEqual([0, 0, 0]);
    expect(entryAt(sharesOf([]), 0.5)).toBe(0);
  });

  test('sums by kind equal the legend', () => {
    expect(tokensByShare(rows)).toEqual({ system: 0, summary: 0, user: 10, assistant: 0, thinking: 0, call: 60, result: 30 });
  });
});

describe('tool calls', () => {
  test('the head line shows the main argument', () => {
    expect(leadOf('shell', { description: 'List', command: 'ls -la\nrm x' })).toBe('ls -la');
    expect(leadOf(undefined, { deep: {}, path: '/a' })).toBe('/a');
    expect(leadOf('task', { x: 1 })).toBeUndefined();
    expect(leadOf('shell', undefined)).toBeUndefined();
  });

  test('a replacement has removed, added and surrounding lines', () => {
    expect(editOf('a\nb\nc', 'a\nB\nB2\nc')).toMatchObject({ before: ['a'], removed: ['b'], added: ['B', 'B2'], after: ['c'] });
    expect(editOf('', 'new')).toMatchObject({ removed: [], added: ['new'] });
    expect(editOf('x\nx', 'x')).toMatchObject({ before: ['x'], removed: ['x'], added: [] });
  });

  test('unexpected arguments are shown field by field, not as a diff', () => {
    expect(editsOf('edit', { file_path: '/a', old_string: 1, new_string: 'b' })).toBeUndefined();
    expect(editsOf('edit', { edits: [{ old_string: 'a', new_string: 'b' }, 'x'] })).toBeUndefined();
    expect(editsOf('edit', { edits: [{ oldText: 'a', newText: 'b' }] })).toHaveLength(1);
    expect(editsOf('edit', 'text')).toBeUndefined();
  });

  test('languages are found by name and by file, and nothing else is loaded', () => {
    expect(['ts', 'TSX', 'sh', 'nope', '__proto__', 'constructor', undefined].map(languageOf)).toEqual([
      'typescript',
      'tsx',
      'bash',
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
    expect(['/a/b.py', 'C:\\x\\Makefile', '/Dockerfile', '/a/b'].map(languageOfPath)).toEqual(['python', 'make', 'docker', undefined]);
  });
});

describe('the diff', () => {
  test('hunks become rows: unchanged entries folded, others one by one', () => {
    expect(
      diffRows([
        { op: 'same', aStart: 0, aCount: 20, bStart: 0, bCount: 20 },
        { op: 'changed', aStart: 20, aCount: 2, bStart: 20, bCount: 1 },
        { op: 'added', aStart: 22, aCount: 0, bStart: 21, bCount: 1 },
      ]),
    ).toEqual([
      { kind: 'same', aStart: 0, bStart: 0, count: 20 },
      { kind: 'changed', a: 20, b: 20 },
      { kind: 'removed', a: 21 },
      { kind: 'added', b: 21 },
    ]);
  });

  test('moved rows name their place on the other side', () => {
    const hunks = [
      { op: 'removed', aStart: 0, aCount: 2, bStart: 0, bCount: 0 },
      { op: 'same', aStart: 2, aCount: 5, bStart: 0, bCount: 5 },
      { op: 'added', aStart: 7, aCount: 0, bStart: 5, bCount: 2 },
    ] as const;
    expect(diffRows(hunks, [{ aStart: 1, bStart: 5, count: 1 }])).toEqual([
      { kind: 'removed', a: 0 },
      { kind: 'removed', a: 1, to: 5 },
      { kind: 'same', aStart: 2, bStart: 0, count: 5 },
      { kind: 'added', b: 5, from: 1 },
      { kind: 'added', b: 6 },
    ]);
  });

  test('the pieces of a change add up to both texts', () => {
    const { a, b } = dividePieces('one two three', 'one 2 three!', [
      { fromA: 4, toA: 7, fromB: 4, toB: 5 },
      { fromA: 13, toA: 13, fromB: 11, toB: 12 },
    ]);
    expect(a.map((piece) => piece.text).join('')).toBe('one two three');
    expect(b).toEqual([
      { text: 'one ', differs: false },
      { text: '2', differs: true },
      { text: ' three', differs: false },
      { text: '!', differs: true },
    ]);
  });

  test('long texts with little in common are not marked word by word', () => {
    const long = 'Words of a long result. '.repeat(60);
    const whole = [{ fromA: 0, toA: long.length, fromB: 0, toB: long.length }];
    expect(isRewritten(long, long.toUpperCase(), whole)).toBe(true);
    expect(isRewritten(long, `${long}more`, [{ fromA: long.length, toA: long.length, fromB: long.length, toB: long.length + 4 }])).toBe(false);
    // Short texts are always marked.
    expect(isRewritten('yes', 'no', [{ fromA: 0, toA: 3, fromB: 0, toB: 2 }])).toBe(false);
  });

  test('calls are compared by arguments, results by content', () => {
    expect(comparable(entry('assistant', 'tool_call', { arguments: { a: 1 } }))).toBe('{\n  "a": 1\n}');
    expect(comparable(entry('tool', 'tool_result', { result: [1] }))).toBe('[\n  1\n]');
    expect(comparable(entry('user', 'text', { text: 'hi' }))).toBe('hi');
  });
});

describe('JSON in one long line', () => {
  test('is formatted, any other text is unchanged', () => {
    const long = JSON.stringify({ a: 'x'.repeat(100), b: [1], c: {}, d: [] });
    expect(jsonInLines(` ${long}\n`)).toBe(JSON.stringify(JSON.parse(long), null, 2));
    for (const text of ['{"a":1}', `${long}x`, `[\n${long}]`, 'plain', '']) expect(jsonInLines(text)).toBeUndefined();
  });

  test('keeps large numbers, escapes and duplicate keys', () => {
    const odd = `{"id":12345678901234567890,"id":1.0e+2,"s":"\\u003e \\" , : [ {","pad":"${'x'.repeat(100)}"}`;
    expect(
      jsonInLines(odd)
        ?.replaceAll(/\n */g, '')
        .replaceAll(/(?<="): /g, ':'),
    ).toBe(odd);
  });

  test('of any shape keeps its meaning', () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue(), { minLength: 1 }), (value) => {
        const text = JSON.stringify([...value, 'x'.repeat(100)]);
        expect(JSON.parse(jsonInLines(text) ?? '')).toEqual(JSON.parse(text));
      }),
    );
  });
});

test('[W3] a worktree is named after its repository', () => {
  expect(
    ['/home/me/cli', 'C:\\work\\cli', '/home/me/cli/.worktrees/2', '/home/me/cli/.claude/worktrees/fix', '/worktrees/2'].map(repositoryName),
  ).toEqual(['cli', 'cli', 'cli (2)', 'cli (fix)', '2']);
});

test('[W3] repositories of one name are told apart by as many parent folders as they need', () => {
  const named = (...folders: string[]): string[] => [...repositoryNames(folders).values()];
  expect(named('/home/me/cli', '/work/shop', '/work/shop')).toEqual(['cli', 'shop']);
  expect(named('/home/me/cli', '/work/cli')).toEqual(['me/cli', 'work/cli']);
  expect(named('/a/team/cli', '/b/team/cli', '/cli')).toEqual(['a/team/cli', 'b/team/cli', 'cli']);
  expect(named('/a/cli/.worktrees/2', '/b/cli/.worktrees/2', '/a/cli')).toEqual(['a/cli (2)', 'b/cli (2)', 'cli']);
  expect(named('C:\\x\\cli', 'C:\\y\\cli')).toEqual(['x/cli', 'y/cli']);
  expect(named('/a/cli', '/a/cli/')).toEqual(['/a/cli', '/a/cli/']);
});
