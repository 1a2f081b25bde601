import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { programOutput } from '../../../src/main/system/index.js';
import { findProgram, launchOf } from '../../../src/main/system/programs.js';
import { scratch } from '../../support/project.js';

/** A disk of Windows with these files. Paths ignore case. */
function diskOf(files: Record<string, string>) {
  const known = new Map(Object.entries(files).map(([path, text]) => [path.toLowerCase(), text]));
  return { isProgram: (path: string) => known.has(path.toLowerCase()), beginning: (path: string) => known.get(path.toLowerCase()) };
}

const node = 'C:\\Program Files\\nodejs\\node.exe';
const npm = 'C:\\Users\\Jörg Müller\\AppData\\Roaming\\npm';
const env = {
  Path: `.;C:\\Windows\\System32;"C:\\Program Files\\nodejs";${npm}`,
  PATHEXT: '.COM;.EXE;.BAT;.CMD;.VBS;.JS',
  SystemRoot: 'C:\\Windows',
};

/** Recorded: what npm 10 (cmd-shim 6) writes for a script, with and without options of Node. */
const shim = (words: string) => `@ECHO off\r
GOTO start\r
:find_dp0\r
SET dp0=%~dp0\r
EXIT /b\r
:start\r
SETLOCAL\r
CALL :find_dp0\r
\r
IF EXIST "%dp0%\\node.exe" (\r
  SET "_prog=%dp0%\\node.exe"\r
) ELSE (\r
  SET "_prog=node"\r
  SET PATHEXT=%PATHEXT:;.JS;=;%\r
)\r
\r
endLocal & goto #_undefined_# 2>NUL || title %COMSPEC% & "%_prog%" ${words} %*\r
`;
/** Recorded: what older versions of npm write. */
const oldShim = `@IF EXIST "%~dp0\\node.exe" (\r
  "%~dp0\\node.exe"  "%~dp0\\node_modules\\codex\\bin\\codex.js" %*\r
) ELSE (\r
  @SETLOCAL\r
  @SET PATHEXT=%PATHEXT:;.JS;=;%\r
  node  "%~dp0\\node_modules\\codex\\bin\\codex.js" %*\r
)\r
`;
/** Recorded: what npm writes for a program that is no script. */
const programShim = `@ECHO off\r
GOTO start\r
:find_dp0\r
SET dp0=%~dp0\r
EXIT /b\r
:start\r
SETLOCAL\r
CALL :find_dp0\r
"%dp0%\\node_modules\\opencode\\bin\\opencode.exe"   %*\r
`;

const files = {
  [node]: '',
  'C:\\Windows\\System32\\git.exe': '',
  [`${npm}\\claude`]: '#!/bin/sh',
  [`${npm}\\claude.cmd`]: shim(' "%dp0%\\node_modules\\@anthropic-ai\\claude-code\\cli.js"'),
  [`${npm}\\node_modules\\@anthropic-ai\\claude-code\\cli.js`]: '',
  [`${npm}\\gemini.cmd`]: shim('--no-warnings=DEP0040 "%dp0%\\node_modules\\gemini\\index.mjs"'),
  [`${npm}\\node_modules\\gemini\\index.mjs`]: '',
  [`${npm}\\codex.cmd`]: oldShim,
  [`${npm}\\node_modules\\codex\\bin\\codex.js`]: '',
  [`${npm}\\opencode.cmd`]: programShim,
  [`${npm}\\node_modules\\opencode\\bin\\opencode.exe`]: '',
  [`${npm}\\own.bat`]: '@echo off\r\nnode "%~dp0\\evil.js" x %*\r\n',
  [`${npm}\\gone.cmd`]: shim(' "%dp0%\\node_modules\\gone\\cli.js"'),
};
const on = { env, system: 'windows', disk: diskOf(files) } as const;

describe('programs of Windows', () => {
  test('[O1] a program is found by its ending, in folders of the search path only', () => {
    expect(findProgram('git', on)).toBe('C:\\Windows\\System32\\git.exe');
    expect(findProgram('node.exe', on)).toBe(node);
    expect(findProgram('claude', on)?.toLowerCase()).toBe(`${npm}\\claude.cmd`.toLowerCase());
    const disk = diskOf({ ...files, [`${process.cwd()}\\git.exe`]: '', 'git.exe': '', '.\\evil.exe': '', 'C:\\tools\\x.js': '' });
    expect(findProgram('evil', { ...on, disk })).toBeUndefined();
    expect(findProgram('x', { ...on, env: { ...env, Path: 'C:\\tools' }, disk })).toBeUndefined();
    expect(findProgram('git', { ...on, env: { Path: ' ;.;tools;..\\x' }, disk })).toBeUndefined();
    expect(findProgram('C:\\Windows\\System32\\git', on)).toBe('C:\\Windows\\System32\\git.exe');
  });

  test('[O1] a batch file of npm is replaced by what it starts', () => {
    const started = (name: string) => launchOf(`${npm}\\${name}.cmd`, ['-p', 'two\nlines "&calc'], on);
    const args = ['-p', 'two\nlines "&calc'];
    const script = (below: string) => `${npm}\\node_modules\\${below}`;
    expect(started('claude')).toEqual({ file: node, args: [script('@anthropic-ai\\claude-code\\cli.js'), ...args], isVerbatim: false });
    expect(started('gemini')).toEqual({ file: node, args: ['--no-warnings=DEP0040', script('gemini\\index.mjs'), ...args], isVerbatim: false });
    expect(started('codex')).toEqual({ file: node, args: [script('codex\\bin\\codex.js'), ...args], isVerbatim: false });
    expect(started('opencode')).toEqual({ file: script('opencode\\bin\\opencode.exe'), args, isVerbatim: false });
    const beside = diskOf({ ...files, [`${npm}\\node.exe`]: '' });
    expect(launchOf(`${npm}\\claude.cmd`, [], { ...on, disk: beside }).file).toBe(`${npm}\\node.exe`);
  });

  test('[O1] any other batch file gets one safe command line, or is refused', () => {
    for (const name of ['own.bat', 'gone.cmd'])
      expect(launchOf(`${npm}\\${name}`, ['a&calc', '%PATH%'], on)).toEqual({
        file: 'C:\\Windows\\System32\\cmd.exe',
        args: ['/e:ON', '/v:OFF', '/d', '/s', '/c', `""${npm}\\${name}" "a&calc" "%%cd:~,%PATH%%cd:~,%""`],
        isVerbatim: true,
      });
    expect(() => launchOf(`${npm}\\own.bat`, ['a\r\ncalc'], on)).toThrow(/end of a line/);
    const pnpm = diskOf({ [`${npm}\\x.cmd`]: `@SET NODE_PATH=C:\\y\r\n${oldShim}`, [`${npm}\\node_modules\\codex\\bin\\codex.js`]: '' });
    expect(launchOf(`${npm}\\x.cmd`, [], { ...on, disk: pnpm }).isVerbatim).toBe(true);
  });

  test('[O1] on POSIX a program is started as it is', async () => {
    const dir = scratch();
    mkdirSync(join(dir, 'bin'));
    const program = join(dir, 'bin', 'say.cmd');
    writeFileSync(program, '#!/bin/sh\nprintf "%s|" "$@"\n');
    const place = { env: { PATH: `:.:${join(dir, 'bin')}` } };
    expect(findProgram('say.cmd', place)).toBeUndefined();
    chmodSync(program, 0o755);
    expect(findProgram('say.cmd', place)).toBe(program);
    expect(findProgram('bin', { env: { PATH: dir } })).toBeUndefined();
    expect(launchOf(program, ['"&x'], { env: {}, system: 'macos' })).toEqual({ file: program, args: ['"&x'], isVerbatim: false });
    expect(await programOutput('say.cmd', ['a b', '"&x\n', ''], place)).toBe('a b|"&x\n||');
    await expect(async () => programOutput('none', [], place)).rejects.toMatchObject({ code: 'ENOENT' });
  });
});
