import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { batchArgument, batchLine, commandLine, quoted, windowsArgument } from '../../../src/core/system/index.js';

/** How a program of Windows splits its command line, by the documented rules of Microsoft's C runtime since 2008. */
function wordsOf(line: string): string[] {
  const words: string[] = [];
  let [word, inside, started] = ['', false, false];
  for (let at = 0; at < line.length; at++) {
    const [slashes = ''] = /^\\*/.exec(line.slice(at)) ?? [];
    if (slashes !== '' && line[at + slashes.length] === '"') {
      word += '\\'.repeat(Math.floor(slashes.length / 2));
      at += slashes.length;
      started = true;
      if (slashes.length % 2 === 1) word += '"';
      else if (inside && line[at + 1] === '"') [word, at] = [`${word}"`, at + 1];
      else inside = !inside;
    } else if (line[at] === '"') {
      started = true;
      if (inside && line[at + 1] === '"') [word, at] = [`${word}"`, at + 1];
      else inside = !inside;
    } else if (/[ \t]/.test(line[at] ?? '') && !inside) {
      if (started) words.push(word);
      [word, started] = ['', false];
    } else [word, started] = [word + (line[at] ?? ''), true];
  }
  return started ? [...words, word] : words;
}

/** What cmd.exe does first: percent signs. `%cd:~,%` is always empty, `%NAME%` a variable, and `%%` on a command line stays. */
function withVariables(line: string, env: Record<string, string>): string {
  let text = '';
  for (let at = 0; at < line.length; at++) {
    const named = line[at] === '%' ? /^%([^%:]+)(:[^%]*)?%/.exec(line.slice(at)) : null;
    const value = named && (named[1] === 'cd' ? (named[2] === ':~,' ? '' : 'C:\\here') : env[named[1] ?? '']);
    if (named && value !== undefined && value !== null) [text, at] = [text + value, at + named[0].length - 1];
    else text += line[at];
  }
  return text;
}

/** The characters that are special outside of quotes on a line of cmd.exe. */
const outsideQuotes = (line: string): string => line.replaceAll(/"[^"]*(?:"|$)/g, '');

const nasty = [
  '',
  ' ',
  '"',
  '\\',
  '\\"',
  '%PATH%',
  '%',
  '%%',
  '!x!',
  '^',
  '&',
  '|',
  '<',
  '>',
  '(',
  ')',
  "'",
  '’',
  '`',
  '$',
  ';',
  ',',
  '=',
  '-',
  '~',
  '*',
  'ä',
  '😀',
  'a b',
  'C:\\x\\',
  '\t',
];
const words = fc
  .array(fc.oneof(fc.constantFrom(...nasty), fc.string({ maxLength: 4, unit: 'grapheme' })), { maxLength: 6 })
  .map((parts) => parts.join('').replaceAll(/[\0\r\n]/g, ''));

describe('quoting', () => {
  test('[O2] a word quoted for a POSIX shell arrives as it was', () => {
    const given = [...nasty, 'new\nline', '-x', '=ls', "it's", '~', '#no', '$(id)', '!!'];
    const line = `printf '%s\\0' ${given.map((word) => quoted(word, 'sh')).join(' ')}`;
    expect(execFileSync('/bin/sh', ['-c', line], { encoding: 'utf8' }).split('\0').slice(0, -1)).toEqual(given);
    expect(quoted('/usr/a-b_c.d:e=f', 'sh')).toBe('/usr/a-b_c.d:e=f');
  });

  test('[O2] a program of Windows reads each argument as it was', () => {
    fc.assert(fc.property(fc.array(words, { maxLength: 5 }), (given) => void expect(wordsOf(given.map(windowsArgument).join(' '))).toEqual(given)));
    expect(['a\\b', 'a b\\', 'a"b', 'a\\"b', ''].map(windowsArgument)).toEqual(['a\\b', '"a b\\\\"', '"a\\"b"', '"a\\\\\\"b"', '""']);
  });

  test('[O1, O2] no argument of a batch file becomes a command or a variable, in either reading', () => {
    fc.assert(
      fc.property(fc.array(words, { minLength: 1, maxLength: 4 }), (given) => {
        const env = { PATH: '" & calc & "', x: 'y' };
        const once = withVariables(given.map(batchArgument).join(' '), env);
        expect(outsideQuotes(once)).not.toMatch(/[&|<>^()!]/);
        expect(wordsOf(once)).toEqual(given);
      }),
    );
  });

  test('[O1] batch files get the arguments that the standard library of Rust gives them', () => {
    const recorded = {
      hello: 'hello',
      'hello world': '"hello world"',
      '': '""',
      'a\\': '"a\\\\"',
      '"': '""""',
      'say "hi" & calc': '"say ""hi"" & calc"',
      '%PATH%': '"%%cd:~,%PATH%%cd:~,%"',
      'a^b': '"a^b"',
      'C:\\x\\y': 'C:\\x\\y',
      'a\\"b': '"a\\\\""b"',
    };
    expect(Object.keys(recorded).map(batchArgument)).toEqual(Object.values(recorded));
    expect(batchLine('C:\\a b\\x.cmd', ['1', '"&calc'])).toBe('""C:\\a b\\x.cmd" 1 """&calc""');
  });

  test.each(['a\nb', 'a\rcalc', 'a\0b'])('[O1] a batch file cannot receive %j', (word) => {
    expect(() => batchLine('C:\\x.cmd', [word])).toThrow(/end of a line/);
  });

  test('[O2] PowerShell gets texts in single quotes, whichever of its quotes they contain', () => {
    expect(quoted("it's ‘so’", 'powershell')).toBe("'it''s ‘‘so’’'");
    expect(['--resume', '-x.y', 'C:\\a\\b', 'a b', '$x', '`', '1e3', '@x', '', '--session=a'].map((word) => quoted(word, 'powershell'))).toEqual([
      '--resume',
      "'-x.y'",
      'C:\\a\\b',
      "'a b'",
      "'$x'",
      "'`'",
      "'1e3'",
      "'@x'",
      "''",
      '--session=a',
    ]);
  });

  test('[O2] commands run one after the other in a folder, in each shell', () => {
    const commands = [
      ['opencode', 'import', 'C:\\a b.json'],
      ['C:\\Program Files\\x.exe', "it's"],
    ];
    expect(commandLine('sh', '/a b', commands)).toBe("cd '/a b' && opencode import 'C:\\a b.json' && 'C:\\Program Files\\x.exe' 'it'\\''s'");
    expect(commandLine('powershell', 'C:\\[x]', commands)).toBe(
      "Set-Location -LiteralPath 'C:\\[x]'; if ($?) { opencode import 'C:\\a b.json' }; if ($?) { & 'C:\\Program Files\\x.exe' 'it''s' }",
    );
    expect(commandLine('cmd', 'C:\\a b', [['claude', '"&calc']])).toBe('cd /d "C:\\a b" && claude """&calc"');
    expect(commandLine('sh', undefined, [['ls']])).toBe('ls');
  });
});
