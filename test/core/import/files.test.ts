import { appendFileSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { blake3Of } from '../../../src/core/artifacts/index.js';
import { namedFile } from '../../../src/core/files/index.js';
import { hashesUpTo, openFile, Unreadable } from '../../../src/core/import/files.js';
import { scratch } from '../../support/project.js';

const content = Buffer.from(Array.from({ length: 3_000_000 }, (_, at) => (at * 7) % 251));

function written(): string {
  const path = join(scratch(), 'a.jsonl');
  writeFileSync(path, content);
  return path;
}

/** A change within a clock's tick of the writing is seen by no time of the file. */
const touch = (path: string): void => utimesSync(path, new Date(), new Date(Date.now() + 5_000));

describe('[F8] a file that is read a part at a time', () => {
  test('gives the ranges of a file that is in memory, whatever their order and length', () => {
    const file = openFile(namedFile(written()), { held: 0 });
    const ranges = [
      [0, 10],
      [5, 1_200_000],
      [1_199_990, 1_200_010],
      [2_999_990, 3_000_000],
      [0, 3_000_000],
      [17, 17],
    ] as const;
    for (const [start, end] of ranges) expect(Buffer.compare(file.bytes.subarray(start, end), content.subarray(start, end))).toBe(0);
    expect(file.hash()).toEqual(blake3Of(content));
    expect(file.hash(1_234)).toEqual(blake3Of(content.subarray(0, 1_234)));
    expect(Buffer.compare(file.whole(), content)).toBe(0);
    file.close();
  });

  test.each([0, content.length])('says the hash of every beginning, in whatever order it is asked (%i bytes held)', (held) => {
    const file = openFile(namedFile(written()), { held });
    for (const end of [1_234, 2_000_000, content.length, 0, 1_234, 1_999_999, content.length])
      expect(file.hash(end)).toEqual(blake3Of(content.subarray(0, end)));
    const part = file.upTo(1_500_000);
    expect(part.bytes.length).toBe(1_500_000);
    expect(part.hash()).toEqual(blake3Of(content.subarray(0, 1_500_000)));
    expect(Buffer.compare(part.whole(), content.subarray(0, 1_500_000))).toBe(0);
    expect(part.upTo(2_000_000).bytes.length).toBe(1_500_000);
    part.close();
    expect(file.hash(77)).toEqual(blake3Of(content.subarray(0, 77)));
    file.close();
  });

  test('is read beside others, and after them', () => {
    const other = written();
    writeFileSync(other, Buffer.from(content).reverse());
    const [first, second] = [openFile(namedFile(written()), { held: 0 }), openFile(namedFile(other), { held: 0 })];
    const isHere = (file: typeof first, bytes: Buffer): boolean =>
      [0, 1_500_000, 2_999_000].every((at) => Buffer.compare(file.bytes.subarray(at, at + 1_000), bytes.subarray(at, at + 1_000)) === 0);
    const reversed = Buffer.from(content).reverse();
    expect([isHere(first, content), isHere(second, reversed)]).toEqual([true, true]);
    first.close();
    const third = openFile(namedFile(other), { held: 0 });
    expect(third.bytes.subarray(2_000_000, 2_000_100)).toEqual(reversed.subarray(2_000_000, 2_000_100));
    expect([isHere(second, reversed), isHere(third, reversed)]).toEqual([true, true]);
    expect([second.hash(), third.hash()]).toEqual([blake3Of(reversed), blake3Of(reversed)]);
    second.close();
    third.close();
  });

  test('is the same file when something was appended, another when something was written over', () => {
    const path = written();
    const file = openFile(namedFile(path), { held: 0 });
    const hash = file.hash();
    expect(file.hasChanged(hash)).toBe(false);
    appendFileSync(path, 'more');
    touch(path);
    expect(file.hasChanged(hash)).toBe(false);
    writeFileSync(path, Buffer.concat([Buffer.from('other'), content.subarray(5)]));
    touch(path);
    expect(file.hasChanged(hash)).toBe(true);
    file.close();
  });

  test('is hashed from where it was left when it has grown', () => {
    const path = written();
    const first = openFile(namedFile(path), { held: 0 });
    expect(first.hash(2_000_000)).toEqual(blake3Of(content.subarray(0, 2_000_000)));
    first.close();
    const kept = hashesUpTo(first.hashes, 2_000_000);
    expect(kept?.at).toBe(2_000_000);
    // What was left is not read again: a change there stays unseen, which is why the end of the session reads everything.
    const grown = Buffer.concat([Buffer.alloc(1_000_000), content.subarray(1_000_000), Buffer.from('more')]);
    writeFileSync(path, grown);
    const again = openFile(namedFile(path), { held: 0, hashes: kept });
    expect(again.hash(2_000_000)).toEqual(blake3Of(content.subarray(0, 2_000_000)));
    expect(again.hash()).toEqual(blake3Of(Buffer.concat([content, Buffer.from('more')])));
    again.close();
    const whole = openFile(namedFile(path), { held: 0 });
    expect(whole.hash()).toEqual(blake3Of(grown));
    whole.close();
    // Hashed beyond the last complete record: an agent may write something else there.
    expect(hashesUpTo(again.hashes, 2_000_000)).toBeUndefined();
  });

  test('that is cut off meanwhile, or was never there, is refused in words', () => {
    const path = written();
    const file = openFile(namedFile(path), { held: 0 });
    truncateSync(path, 100);
    expect(() => file.bytes.subarray(0, 200)).toThrow(Unreadable);
    file.close();
    expect(() => openFile(namedFile(`${path}.not`))).toThrow(new Unreadable('it does not exist'));
  });
});
