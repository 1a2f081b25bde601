import { describe, expect, test } from 'vitest';
import { filesBelow, isSource, lineAt, parseSource, type Source } from '../support/source.js';

/** What is true on one system only, and the one folder or files that may say it. Elsewhere, their functions are called. */
const concerns: readonly { readonly what: string; readonly pattern: RegExp; readonly homes: readonly string[] }[] = [
  { what: 'asks for the platform', pattern: /\bprocess\.platform\b|\bos\.platform\(|\bplatform\(\)/g, homes: ['src/core/system/'] },
  { what: 'starts a program', pattern: /(?<!import type [^\n]*)['"](?:node:)?child_process['"]/g, homes: ['src/main/system/'] },
  { what: 'uses a shell', pattern: /\bshell: (?:true|[a-z]+\.)|['"]\/bin\/sh\b|['"](?:cmd|powershell)\.exe\b/g, homes: ['src/main/system/'] },
  {
    what: 'sends or names a signal',
    pattern: /\bprocess\.kill\(|['"]SIG(?:KILL|TERM|INT|HUP|QUIT|USR1|USR2|BREAK)['"]/g,
    homes: ['src/main/system/', 'src/core/files/temporary.ts'],
  },
  {
    what: 'asks for the user',
    pattern: /\bprocess\.(?:ge)?t?e?[ug]id\b|\buserInfo\(/g,
    homes: ['src/main/system/', 'src/core/files/private.ts', 'src/core/files/home.ts'],
  },
  {
    what: 'reads or sets a mode',
    pattern: /\bf?l?chmod(?:Sync)?\(|\b0o[0-7]{3,4}\b|\.mode & |\bumask\(/g,
    homes: ['src/core/files/private.ts'],
  },
  { what: 'compares numbers of files', pattern: /\.(?:ino|dev)\b/g, homes: ['src/core/files/identity.ts'] },
  { what: 'resolves links by itself', pattern: /\brealpath(?:Sync)?\b/g, homes: ['src/core/files/real.ts'] },
  { what: 'opens without following links', pattern: /\bO_(?:NOFOLLOW|NONBLOCK)\b/g, homes: ['src/core/files/'] },
  { what: 'makes links', pattern: /\bsymlink(?:Sync)?\(/g, homes: [] },
  {
    what: 'names a folder of one system',
    pattern: /['"`](?:\/tmp|\/var|\/dev|\/proc|\/etc|\/usr|\/bin)\b|\b(?:APPDATA|LOCALAPPDATA|XDG_CONFIG_HOME|USERPROFILE)\b|Application Support/g,
    homes: ['src/core/system/', 'src/main/system/', 'src/core/files/temporary.ts'],
  },
  { what: 'reads the search path', pattern: /\benv\.PATH\b|\bdelimiter\b|\bPATHEXT\b/g, homes: ['src/main/system/', 'src/core/system/'] },
  { what: 'quotes for a shell', pattern: /'\\\\''|\[\\w@%\+=/g, homes: ['src/core/system/quoting.ts'] },
  {
    what: 'asks whether a path is in a folder',
    pattern: /startsWith\([^)]*\bsep\)|startsWith\(`\.\.\$\{sep\}`\)/g,
    homes: ['src/core/system/', 'src/main/window/files.ts'],
  },
  { what: 'takes the name from a path of any system', pattern: /lastIndexOf\('\\\\'\)/g, homes: ['src/core/system/'] },
];

/** Files with a reason to do so themselves. */
const exemptions: readonly { readonly file: string; readonly what: string; readonly because: string }[] = [
  ...['asks for the platform', 'starts a program', 'uses a shell', 'asks for the user', 'reads or sets a mode'].map((what) => ({
    file: 'src/main/start/',
    what,
    because: 'it runs before the first build and imports nothing of src',
  })),
  {
    file: 'src/main/hub/load-embedded.ts',
    what: 'makes links',
    because: 'it completes the package of PostgreSQL, which has links where the system has them',
  },
  { file: 'src/main/electron/engine-host.ts', what: 'starts a program', because: 'it starts Node with a channel for messages, by its absolute path' },
  {
    file: 'src/renderer/views/inspector/FilesTouched.tsx',
    what: 'takes the name from a path of any system',
    because: 'the window imports the contract only',
  },
  {
    file: 'src/renderer/views/request/body.ts',
    what: 'quotes for a shell',
    because: 'the window imports the contract only; curl is written for a POSIX shell',
  },
];

/** The text with spaces in place of comments. */
function codeOf({ text, comments }: Source): string {
  let code = text;
  for (const { start, text: comment } of comments) {
    const length = comment.length + (text.startsWith('/*', start) ? 4 : 2);
    code = code.slice(0, start) + code.slice(start, start + length).replaceAll(/[^\n]/g, ' ') + code.slice(start + length);
  }
  return code;
}

interface Find {
  readonly file: string;
  readonly line: number;
  readonly what: string;
}

const findsIn = (source: Source): Find[] =>
  concerns
    .filter(({ homes }) => !homes.some((home) => source.path.startsWith(home)))
    .flatMap(({ what, pattern }) =>
      [...codeOf(source).matchAll(pattern)].map(({ index }) => ({ file: source.path, line: lineAt(source.text, index), what })),
    );

describe('systems', () => {
  const finds = ['src/core', 'src/main', 'src/renderer']
    .flatMap((folder) => filesBelow(folder, isSource))
    .flatMap((path) => findsIn(parseSource(path)));
  const isExempt = (find: Find): boolean => exemptions.some(({ file, what }) => find.file.startsWith(file) && what === find.what);

  test('what is true on one system only is in its one module', () => {
    expect(finds.filter((find) => !isExempt(find)).map(({ file, line, what }) => `${file}:${line} ${what}`)).toEqual([]);
  });

  test('every exemption is needed', () => {
    expect(exemptions.filter(({ file, what }) => !finds.some((find) => find.file.startsWith(file) && find.what === what))).toEqual([]);
  });

  test('each concern is found where it is written', () => {
    const lines = [
      'process.platform',
      "from 'node:child_process'",
      'spawn(x, { shell: true })',
      "process.kill(1, 'SIGTERM')",
      'process.getuid()',
      'chmodSync(x, 0o600)',
      'a.ino === b.ino',
      'realpathSync(x)',
      'constants.O_NOFOLLOW',
      'symlinkSync(a, b)',
      "'/tmp/x'",
      'env.PATH',
      'word.replaceAll("\'", "\'\\\\\'\'")',
      'path.startsWith(folder + sep)',
      "path.lastIndexOf('\\\\')",
    ];
    expect(lines.map((text, index) => findsIn(parse(`const _ = (${index}); // ${text}\n/* ${text} */`)).length)).toEqual(lines.map(() => 0));
    expect(lines.filter((text) => findsIn(parse(text.startsWith('from') ? `import x ${text};` : `void (${text});`)).length === 0)).toEqual([]);
  });
});

const parse = (text: string): Source => parseSource('src/core/any.ts', text);
