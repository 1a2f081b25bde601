import { chmodSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { makeFolders, makePrivate, renameDurably, replaceFile, writeNew, writeNewParts } from '../../../src/core/files/index.js';

let dir: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'stemma-write-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const modeOf = (path: string): string => (lstatSync(path).mode & 0o777).toString(8);
const text = (path: string): string => readFileSync(path, 'utf8');

describe('the file writer', () => {
  test('writes a new file and never overwrites one', () => {
    const path = join(dir, 'a.txt');
    writeNewParts(path, ['one ', Buffer.from('two')]);
    expect(text(path)).toBe('one two');
    expect(() => writeNew(path, 'three')).toThrow(expect.objectContaining({ code: 'CONFLICT', data: { path } }));
    expect(() => writeNew(join(dir, 'none', 'a.txt'), '')).toThrow(expect.objectContaining({ code: 'BAD_REQUEST' }));
    expect(text(path)).toBe('one two');
  });

  test('leaves no file when a part fails', () => {
    const parts = function* (): Generator<string> {
      yield 'begun';
      throw new Error('no more');
    };
    expect(() => writeNewParts(join(dir, 'a.txt'), parts())).toThrow('no more');
    expect(readdirSync(dir)).toEqual([]);
  });

  test('replaces a file whole, and leaves nothing beside it when that fails', () => {
    const path = join(dir, 'a.txt');
    replaceFile(path, 'one');
    replaceFile(path, 'two');
    expect(text(path)).toBe('two');
    mkdirSync(join(dir, 'folder', 'inner'), { recursive: true });
    expect(() => replaceFile(join(dir, 'folder'), 'three')).toThrow(expect.objectContaining({ code: 'EISDIR' }));
    expect(readdirSync(dir).toSorted()).toEqual(['a.txt', 'folder']);
  });

  test('renames a file between folders', () => {
    makeFolders(join(dir, 'x', 'y'));
    writeNew(join(dir, 'a.txt'), 'one');
    renameDurably(join(dir, 'a.txt'), join(dir, 'x', 'y', 'b.txt'));
    expect(text(join(dir, 'x', 'y', 'b.txt'))).toBe('one');
  });

  test.skipIf(process.platform === 'win32')('[T33] makes files and folders that only their owner can open', () => {
    makeFolders(join(dir, 'x', 'y'));
    writeNew(join(dir, 'x', 'new.txt'), '');
    replaceFile(join(dir, 'x', 'replaced.txt'), '');
    expect(['x', 'x/y', 'x/new.txt', 'x/replaced.txt'].map((path) => modeOf(join(dir, path)))).toEqual(['700', '700', '600', '600']);
    replaceFile(join(dir, 'x', 'replaced.txt'), '', 0o644);
    expect(modeOf(join(dir, 'x', 'replaced.txt'))).toBe('644');
  });

  test.skipIf(process.platform === 'win32')('[T33] takes the access of others away, and follows no link to do it', () => {
    const [file, folder, link] = ['file', 'folder', 'link'].map((name) => join(dir, name)) as [string, string, string];
    writeFileSync(file, '');
    mkdirSync(folder);
    symlinkSync(folder, link);
    chmodSync(file, 0o664);
    chmodSync(folder, 0o775);
    makePrivate(link);
    expect(modeOf(folder)).toBe('775');
    makePrivate(file);
    makePrivate(folder);
    makePrivate(join(dir, 'missing'));
    expect([modeOf(file), modeOf(folder)]).toEqual(['600', '700']);
    expect(statSync(link).mode & 0o777).toBe(0o700);
  });
});
