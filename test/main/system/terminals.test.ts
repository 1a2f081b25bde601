import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { terminalFor } from '../../../src/main/system/terminals.js';
import { scratch } from '../../support/project.js';

const hostile = `it's "so" %PATH% $(touch evil) \`x\` & calc\u0003\n; touch evil`;

/** A folder with a program that prints its folder and arguments into a file. */
function place() {
  const dir = realpathSync(scratch());
  const bin = join(dir, 'bin');
  mkdirSync(bin);
  const out = join(dir, 'out');
  writeFileSync(join(bin, 'agent'), `#!/bin/sh\nprintf '%s\\0' "$PWD" "$@" >> '${out}'\n`);
  chmodSync(join(bin, 'agent'), 0o755);
  const env = { PATH: `${bin}:${process.env.PATH}`, SHELL: '/bin/true' };
  return { dir, bin, env, said: () => (existsSync(out) ? readFileSync(out, 'utf8').split('\0').slice(0, -1) : []) };
}

describe('the terminal that continues a session', () => {
  test('[W37, O3] the terminal runs the commands in a shell that stays open', () => {
    const env = { DISPLAY: ':0', PATH: '', TERMINAL: '/bin/sh', SHELL: '/bin/bash' };
    const work = { folder: '/tmp', commands: [['claude', '--resume', 'x']] };
    expect(terminalFor(work, { env, system: 'linux' })).toEqual({
      name: '/bin/sh',
      program: '/bin/sh',
      args: ['-e', '/bin/sh', '-c', expect.stringMatching(/^cd \/tmp && claude --resume x; exec .*SHELL/)],
    });
    expect(terminalFor(work, { env: { ...env, DISPLAY: '' }, system: 'linux' })).toBeUndefined();
    expect(terminalFor(work, { env: { DISPLAY: ':0', PATH: '' }, system: 'linux' })).toBeUndefined();
  });

  test('[O3] a prompt arrives as it is through a terminal of Linux', () => {
    const { dir, env, said } = place();
    const work = {
      folder: dir,
      commands: [
        ['agent', 'import', 'a b'],
        ['agent', hostile],
      ],
    };
    const found = terminalFor(work, { env: { ...env, DISPLAY: ':0', TERMINAL: '/bin/sh' }, system: 'linux' });
    const [, program = '', ...args] = found?.args ?? [];
    expect(spawnSync(program, args, { env }).status).toBe(0);
    expect(said()).toEqual([dir, 'import', 'a b', dir, hostile]);
    expect(existsSync(join(dir, 'evil'))).toBe(false);
  });

  test('[O3] macOS opens a script, which removes itself; nothing is typed', () => {
    const { dir, env, said } = place();
    const found = terminalFor({ folder: dir, commands: [['agent', hostile]] }, { env, system: 'macos' });
    expect(found).toMatchObject({ name: 'Terminal', program: '/usr/bin/open', args: ['-a', 'Terminal'] });
    const script = join(dir, 'x.command');
    writeFileSync(script, found?.script ?? '', { mode: 0o700 });
    expect(spawnSync(script, [], { env }).status).toBe(0);
    expect([said(), existsSync(script), existsSync(join(dir, 'evil'))]).toEqual([[dir, hostile], false, false]);
  });

  test('[O3] Windows opens a console whose script starts each program with a finished command line', () => {
    const files = ['C:\\bin\\claude.exe', 'C:\\bin\\own.cmd'];
    const disk = { isProgram: (path: string) => files.includes(path), beginning: () => '' };
    const around = { env: { Path: 'C:\\bin', SystemRoot: 'C:\\Windows' }, system: 'windows', disk } as const;
    const found = terminalFor(
      {
        folder: "C:\\it's",
        commands: [
          ['own', 'import'],
          ['claude', `a "b" it's\nc\\`],
        ],
      },
      around,
    );
    expect(found?.program).toBe('C:\\Windows\\System32\\cmd.exe');
    expect(found?.args.at(-1)).toBe(
      '"start "Stemma" "C:\\Windows\\System32\\WindowsPowerShell\\v1.0\\powershell.exe" -NoLogo -NoExit -Command "$script = $env:STEMMA_TERMINAL_SCRIPT; $env:STEMMA_TERMINAL_SCRIPT = $null; Invoke-Expression $script""',
    );
    const script = found?.env?.STEMMA_TERMINAL_SCRIPT?.split('\n') ?? [];
    expect(script.slice(0, 2)).toEqual(["$folder = 'C:\\it''s'", 'Set-Location -LiteralPath $folder']);
    expect(script.slice(7).join('\n')).toBe(
      `if ((Start-Step 'C:\\Windows\\System32\\cmd.exe' '/e:ON /v:OFF /d /s /c ""C:\\bin\\own.cmd" import"') -eq 0) { [void](Start-Step 'C:\\bin\\claude.exe' '"a \\"b\\" it''s\nc\\\\"') }`,
    );
    expect(terminalFor({ folder: 'C:\\', commands: [['own', 'two\nlines']] }, around)).toBeUndefined();
    expect(terminalFor({ folder: 'C:\\', commands: [['none']] }, around)).toBeUndefined();
    expect(terminalFor({ folder: 'C:\\', commands: [['claude', 'x'.repeat(40_000)]] }, around)).toBeUndefined();
  });
});
