import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { folderInside, listInside, makeFolderInside, openInside, readInside, removeInside, statInside } from '../../../src/core/files/index.js';

let dir: string;
let root: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'stemma-files-'));
  root = join(dir, 'root');
  mkdirSync(join(root, 'sub'), { recursive: true });
  mkdirSync(join(dir, 'outside'));
  writeFileSync(join(root, 'sub', 'a.txt'), 'inside');
  writeFileSync(join(dir, 'outside', 'a.txt'), 'outside');
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const codeOf = (work: () => unknown): string | undefined => {
  try {
    work();
    return undefined;
  } catch (error) {
    return (error as { code?: string }).code;
  }
};
const read = (path: string, limit = 100): string => readInside(root, path, { limit }).toString();

describe('files inside of a root', () => {
  test('a regular file is read, by an absolute or a relative path', () => {
    expect(read('sub/a.txt')).toBe('inside');
    expect(read(join(root, 'sub', 'a.txt'))).toBe('inside');
    expect(statInside(root, 'sub/a.txt')?.size).toBe(6);
    expect(statInside(root, 'sub/b.txt')).toBeUndefined();
    expect(listInside(root, 'sub').map(({ name }) => name)).toEqual(['a.txt']);
  });

  test('[T10] links are refused below a root, and the root may be one', () => {
    symlinkSync(join(dir, 'outside', 'a.txt'), join(root, 'file'));
    symlinkSync(join(dir, 'outside'), join(root, 'folder'));
    for (const path of ['file', 'folder/a.txt']) {
      expect(codeOf(() => read(path))).toBe('ELOOP');
      expect(codeOf(() => statInside(root, path))).toBe('ELOOP');
      expect(codeOf(() => openInside(root, path, { mode: 'readWrite' }))).toBe('ELOOP');
      expect(codeOf(() => removeInside(root, path))).toBe('ELOOP');
    }
    expect(codeOf(() => listInside(root, 'folder'))).toBe('ELOOP');
    expect(codeOf(() => folderInside(root, 'folder'))).toBe('ELOOP');
    expect(codeOf(() => makeFolderInside(root, 'folder/new'))).toBe('ELOOP');
    expect(readdirSync(join(dir, 'outside'))).toEqual(['a.txt']);
    symlinkSync(root, join(dir, 'named'));
    expect(readInside(join(dir, 'named'), 'sub/a.txt', { limit: 10 }).toString()).toBe('inside');
  });

  test('[T10] a path that leads out of the root is refused', () => {
    for (const path of ['../outside/a.txt', '..', '.', join(dir, 'outside', 'a.txt'), `${root}x`, 'sub/../../outside/a.txt', 'a\0b'])
      expect([path, codeOf(() => read(path))]).toEqual([path, 'EOUTSIDE']);
  });

  test.skipIf(process.platform === 'win32')('[T11] named pipes, devices and folders are refused without waiting', () => {
    execFileSync('mkfifo', [join(root, 'pipe')]);
    expect(codeOf(() => read('pipe'))).toBe('EFTYPE');
    expect(codeOf(() => removeInside(root, 'pipe'))).toBe('EFTYPE');
    expect(codeOf(() => read('sub'))).toBe('EFTYPE');
    expect(codeOf(() => readInside('/dev', 'zero', { limit: 10 }))).toBe('EFTYPE');
  });

  test('[T11] a file above its limit is refused before it is read', () => {
    expect(codeOf(() => read('sub/a.txt', 5))).toBe('EFBIG');
    expect(read('sub/a.txt', 6)).toBe('inside');
  });

  test('folders are made and files are opened for writing and removed', () => {
    makeFolderInside(root, 'x/y');
    writeFileSync(join(root, 'x', 'y', 'f'), 'z');
    const { fd, stat } = openInside(root, 'x/y/f', { mode: 'readWrite' });
    closeSync(fd);
    expect(stat.size).toBe(1);
    expect(removeInside(root, 'x/y/f')).toBe(true);
    expect(removeInside(root, 'x/y/f')).toBe(false);
    expect(readFileSync(join(root, 'sub', 'a.txt'), 'utf8')).toBe('inside');
  });
});
