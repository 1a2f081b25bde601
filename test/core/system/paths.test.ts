import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { identityAt, isSameFile, isSameStat, realPathOf } from '../../../src/core/files/index.js';
import {
  comparable,
  foldersOf,
  isOnNetwork,
  isWithin,
  lastName,
  longPath,
  nameProblem,
  outsideProblem,
  systemOf,
  variableOf,
} from '../../../src/core/system/index.js';
import { scratch } from '../../support/project.js';

describe('paths of each system', () => {
  test('[O6] a path below a folder never leaves it', () => {
    const windows = (path: string) => outsideProblem('C:\\root', path, 'windows');
    expect(windows('a\\b.txt')).toBeUndefined();
    expect(windows('C:/root/a')).toBeUndefined();
    expect(windows('c:\\ROOT\\a')).toBeUndefined();
    for (const path of ['..\\x', 'C:\\rooted\\x', 'D:\\x', '\\x', '\\\\evil\\share\\x', '\\\\?\\C:\\x', 'C:x\\..\\..', '..', '', 'a\0'])
      expect(windows(path), path).toMatch(/is not inside|is no name/);
    for (const path of [
      'NUL',
      'con.txt',
      'a\\COM1',
      'lpt9.log\\x',
      'CONIN$',
      'com¹',
      'aux ',
      'project.json:hidden',
      'project.json::$DATA',
      '.. \\x',
      'a.\\b',
      'x\\a ',
      'a?',
      'a*b',
      'a|b',
    ])
      expect(windows(path), path).toMatch(/Windows/);
    for (const system of ['linux', 'macos'] as const) {
      expect(outsideProblem('/root', 'a/con.txt:x ', system)).toBeUndefined();
      for (const path of ['../x', '/rooted/x', '/x', 'a/../..', '', 'a\0']) expect(outsideProblem('/root', path, system), path).toMatch(/not inside/);
    }
  });

  test('[O6] a name is refused where a system cannot have it or means another', () => {
    expect(['a', 'console', 'com10', 'nulls', 'a.con', '.git', 'ä b'].map((name) => nameProblem(name, 'windows'))).toEqual(Array(7).fill(undefined));
    expect(['a/b', '', '.', '..', 'a\0'].map((name) => nameProblem(name, 'linux') !== undefined)).toEqual(Array(5).fill(true));
    expect(nameProblem('a\\b', 'windows')).toBe('contains "\\\\", which Windows allows in no name');
  });

  test('[O6] a path that leads to another machine is recognized in every spelling', () => {
    for (const path of [
      '\\\\evil\\share',
      '//evil/share/x',
      '\\\\?\\UNC\\evil\\x',
      '//?/unc/evil/x',
      '\\\\.\\UNC\\evil\\x',
      '\\\\.\\pipe\\x',
      '\\\\?\\GLOBALROOT\\x',
      '\\\\evil@SSL\\x',
    ])
      expect(isOnNetwork(path, 'windows'), path).toBe(true);
    for (const path of [
      'C:\\x',
      'C:/x',
      'x',
      '\\x',
      '\\\\?\\C:\\x',
      '\\\\wsl.localhost\\Ubuntu\\home',
      '\\\\wsl$\\Ubuntu',
      '\\\\?\\UNC\\wsl$\\Ubuntu',
    ])
      expect(isOnNetwork(path, 'windows'), path).toBe(false);
    expect(isOnNetwork('//x/y', 'linux')).toBe(false);
  });

  test('[O7] spellings of one path are one path where disks ignore case', () => {
    expect(isWithin('c:\\WORK\\a', 'C:\\work', 'windows')).toBe(true);
    expect(isWithin('C:/work/a', 'C:\\work\\', 'windows')).toBe(true);
    expect(isWithin('C:\\worker', 'C:\\work', 'windows')).toBe(false);
    expect(isWithin('C:\\x', 'C:\\', 'windows')).toBe(true);
    expect(isWithin('/Users/Me/x', '/users/me', 'macos')).toBe(true);
    expect(comparable('/Users/Mu\u0308ller', 'macos')).toBe(comparable('/users/M\u00fcller', 'macos'));
    expect(isWithin('/Work/a', '/work', 'linux')).toBe(false);
    expect(isWithin('/work/../etc', '/work', 'linux')).toBe(false);
    expect(isWithin('/work', '/work', 'linux')).toBe(true);
    expect(isWithin('/work', '/', 'linux')).toBe(true);
  });

  test('[O7] a file stays the same file when it is renamed, and another one in its place does not', () => {
    const dir = scratch();
    mkdirSync(join(dir, 'a'));
    writeFileSync(join(dir, 'one'), '');
    writeFileSync(join(dir, 'two'), '');
    expect(isSameFile(identityAt(join(dir, 'one')), identityAt(join(dir, 'a', '..', 'one')))).toBe(true);
    expect(isSameFile(identityAt(join(dir, 'one')), identityAt(join(dir, 'two')))).toBe(false);
    expect(isSameFile(identityAt(join(dir, 'one')), identityAt(join(dir, 'three')))).toBe(false);
    const without = { dev: 1n, ino: 0n };
    expect(isSameFile({ ...without, birthtimeNs: 1n }, { ...without, birthtimeNs: 2n })).toBe(false);
    const big = 2n ** 60n;
    expect(isSameFile({ dev: 1n, ino: big, birthtimeNs: 0n }, { dev: 1n, ino: big + 1n, birthtimeNs: 0n })).toBe(false);
    const stat = statSync(join(dir, 'one'));
    expect(isSameStat(stat, statSync(join(dir, 'one')))).toBe(true);
    expect(realPathOf(join(dir, 'a', 'new', 'file'))).toBe(join(realPathOf(dir), 'a', 'new', 'file'));
  });

  test('[O6] long paths of Windows get the form that SQLite opens', () => {
    const long = `C:\\${'a'.repeat(120)}\\${'b'.repeat(140)}`;
    expect(longPath(long, 'windows')).toBe(`\\\\?\\${long}`);
    expect(longPath('C:\\short', 'windows')).toBe('C:\\short');
    expect(longPath(`/${'a'.repeat(300)}`, 'linux')).toBe(`/${'a'.repeat(300)}`);
    expect([lastName('C:\\a\\b.txt'), lastName('/a/b.txt'), lastName('b')]).toEqual(['b.txt', 'b.txt', 'b']);
  });

  test('[O8] folders and variables are those of the system', () => {
    const windows = { APPDATA: 'D:\\Roaming', LocalAppData: 'D:\\Local' };
    expect(foldersOf({ env: windows, home: 'C:\\Users\\me', system: 'windows' })).toEqual({ settings: 'D:\\Roaming', data: 'D:\\Local' });
    expect(foldersOf({ env: {}, home: 'C:\\Users\\me', system: 'windows' })).toEqual({
      settings: 'C:\\Users\\me\\AppData\\Roaming',
      data: 'C:\\Users\\me\\AppData\\Local',
    });
    expect(foldersOf({ env: { XDG_DATA_HOME: '/x' }, home: '/Users/me', system: 'macos' }).data).toBe('/Users/me/Library/Application Support');
    expect(foldersOf({ env: { XDG_DATA_HOME: 'relative', XDG_CONFIG_HOME: '' }, home: '/home/me', system: 'linux' })).toEqual({
      settings: '/home/me/.config',
      data: '/home/me/.local/share',
    });
    expect(variableOf({ Path: 'x' }, 'PATH', 'windows')).toBe('x');
    expect(variableOf({ Path: 'x' }, 'PATH', 'linux')).toBeUndefined();
    expect(['win32', 'darwin', 'linux', 'freebsd'].map(systemOf)).toEqual(['windows', 'macos', 'linux', 'linux']);
  });
});
