import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { encodeText } from '../../../src/core/base/index.js';
import { contextEntries, tips } from '../../../src/core/chain/index.js';
import { findReader } from '../../../src/core/formats/index.js';
import { type Dialect, scanJsonl } from '../../../src/core/formats/shared/jsonl.js';
import { answer, prompt } from '../../support/claude-lines.js';
import { importInto } from '../../support/imports.js';
import { some } from '../../support/long.js';
import { emptyChain, scratch } from '../../support/project.js';

const dialect: Dialect = { beginning: /\{"n":/g, isWhole: ({ n }) => typeof n === 'number' };
const read = (text: string, part?: number) => {
  const bytes = encodeText(text);
  const file = part === undefined ? bytes : { length: bytes.length, subarray: (start: number, end: number) => bytes.subarray(start, end) };
  return scanJsonl(file, dialect, { mayGrow: true, ...(part !== undefined && { part }) });
};
const textsIn = (text: string, part?: number) => read(text, part).pieces.flatMap(({ record }) => record ?? []);

const over = '{"n":1}\n{"n":2,"text":"one\ntwo {\\"n\\":9}\n\tthree"}\n{"n":3}\n';

test('[F48] a record with raw line breaks in its texts is one record, and the import names it', () => {
  const { pieces, notes, skipped } = read(over);
  expect(pieces.map(({ line, record }) => [line, record])).toEqual([
    [1, { n: 1 }],
    [2, { n: 2, text: 'one\ntwo {"n":9}\n\tthree' }],
    [5, { n: 3 }],
  ]);
  expect(skipped).toEqual([]);
  expect(notes).toEqual([{ line: 2, reason: expect.stringContaining('3 lines') }]);
  expect(textsIn('{"n":1,"text":"a\tb"}\n')).toEqual([{ n: 1, text: 'a\tb' }]);
});

test('[F48] such records are the same in whatever parts a file is read', () => {
  const whole = read(over);
  for (let part = 1; part <= over.length; part++) expect(read(over, part)).toEqual(whole);
});

test('[F48] a torn line before a whole record stays torn, and costs no record after it', () => {
  const { pieces, skipped } = read('{"n":1,"text":"cut\n{"n":2}\n{"n":3,"text":"cut\nmore\n{"n":4}\n');
  expect(pieces.flatMap(({ record }) => record ?? [])).toEqual([{ n: 2 }, { n: 4 }]);
  expect(skipped.map(({ line }) => line)).toEqual([1, 3, 4]);
});

test('[F48] a bad line that is too long for a regular expression costs no record after it', () => {
  const { pieces, skipped } = read(`{"n":1}\n{"n":2,"text":"\t${'a'.repeat(12_000_000)}"}\n{"n":3}\n`);
  expect(pieces.flatMap(({ record }) => record ?? [])).toEqual([{ n: 1 }, { n: 3 }]);
  expect(skipped.map(({ line }) => line)).toEqual([2]);
});

const copilot = join(import.meta.dirname, '../../fixtures/cases/copilot-raw-newline/session-state/1ea34016-7bd2-4195-a1fe-8c55036c5830/events.jsonl');

test('[F48] a record with raw line breaks that is cut off anywhere is left for the next import', () => {
  const file = readFileSync(copilot);
  const recordsIn = (bytes: Buffer, begin = 0) => {
    const { pieces, end } = scanJsonl(bytes, dialect, { mayGrow: true, begin });
    return { end, records: pieces.flatMap(({ record, range }) => (record && range.end <= end ? [record] : [])) };
  };
  const { records } = recordsIn(file);
  expect(records.some((record) => JSON.stringify(record).includes('LINE2\\nLINE2') || JSON.stringify(record).includes('\\nLINE2'))).toBe(true);
  for (let cut = 1; cut < file.length; cut++) {
    const first = recordsIn(file.subarray(0, cut));
    expect([...first.records, ...recordsIn(file, first.end).records], `cut at ${cut}`).toEqual(records);
  }
});

test('[F48] a file that is imported while such a record is written keeps its text', () => {
  const file = readFileSync(copilot);
  const said = (...cuts: readonly number[]): string[] => {
    const path = join(scratch(), 'events.jsonl');
    const chain = emptyChain();
    for (const cut of [...cuts, file.length]) {
      writeFileSync(path, file.subarray(0, cut));
      importInto(chain, path);
    }
    return tips(chain, {}).flatMap(({ id }) => contextEntries(chain, { id, stop: 'root' }).map(({ entry }) => `${entry.kind} ${entry.text ?? ''}`));
  };
  const whole = said();
  const breaks = [...file.entries()].flatMap(([at, byte]) => (byte === 0x0a ? [at, at + 1, at + 5] : []));
  for (const cut of some(
    breaks.filter((at) => at < file.length),
    20,
  ))
    expect(said(cut), `cut at ${cut}`).toEqual(whole);
});

test('[F48] a file of torn lines is read in a time that grows with its size', { tags: 'long' }, () => {
  const from = performance.now();
  read('{"n":"\n'.repeat(90_000));
  read(`${'{"n":"\nx'.repeat(40_000)}\n`);
  expect(performance.now() - from).toBeLessThan(20_000);
});

test('[F48] raw line breaks in records of Claude Code are read, in the delta too', () => {
  const lines = prompt('u1', 'look') + answer('a1', 'ONE@TWO', { parent: 'u1' }).replace('@', '\n') + prompt('u2', 'thanks', { parent: 'a1' });
  const { entries, problems } = findReader('claude-code-v1').parse(encodeText(lines));
  expect(entries.map(({ text }) => text)).toEqual(['look', 'ONE\nTWO', 'thanks']);
  expect(problems).toEqual([]);
});
