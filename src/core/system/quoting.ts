import type { System } from './system.js';

/** A shell that a person or a program gives a command line to. */
export type Shell = 'sh' | 'powershell' | 'cmd';

/** The shell that a person on a system most likely has in front of them. */
export const shellOf = (system: System): Shell => (system === 'windows' ? 'powershell' : 'sh');

/** A word of a command line for a shell. The shell hands it to the program as it is given here, whatever it contains. */
export const quoted = (word: string, shell: Shell): string =>
  shell === 'sh' ? quotedForSh(word) : shell === 'powershell' ? quotedForPowerShell(word) : batchArgument(word);

/** Commands that run one after the other, in a folder. The next runs only if the one before succeeded. */
export function commandLine(shell: Shell, folder: string | undefined, commands: readonly (readonly string[])[]): string {
  const lines = commands.map((words) => words.map((word, index) => commandWord(word, index, shell)).join(' '));
  const enter = folder === undefined ? [] : [changeFolder(shell, folder)];
  if (shell !== 'powershell') return [...enter, ...lines].join(' && ');
  // Windows PowerShell 5 has no &&.
  const [first = '', ...rest] = [...enter, ...lines];
  return rest.reduce((before, line) => `${before}; if ($?) { ${line} }`, first);
}

function changeFolder(shell: Shell, folder: string): string {
  if (shell === 'sh') return `cd ${quotedForSh(folder)}`;
  if (shell === 'cmd') return `cd /d ${batchArgument(folder)}`;
  return `Set-Location -LiteralPath ${quotedForPowerShell(folder)}`;
}

/** The first word is a program. PowerShell would print a quoted program instead of starting it. */
function commandWord(word: string, index: number, shell: Shell): string {
  const text = quoted(word, shell);
  return index === 0 && shell === 'powershell' && text !== word ? `& ${text}` : text;
}

/** A leading equals sign is the path of a program in zsh. */
const quotedForSh = (word: string): string => (/^(?!=)[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

/**
 * PowerShell splits an option at a dot, reads words that begin with a digit as numbers, and also ends a text at typographic single quotes. Before
 * version 7.3 it loses a double quote inside a word on the way to a program, whatever is written.
 */
const quotedForPowerShell = (word: string): string =>
  /^(?:-{1,2}[A-Za-z][\w=-]*|[A-Za-z_\\/.][\w./\\:+=-]*)$/.test(word) ? word : `'${word.replaceAll(/['\u2018\u2019\u201a\u201b]/g, '$&$&')}'`;

/**
 * An argument for a program of Windows, which splits its command line itself, by the rules of Microsoft's C runtime: a backslash is special only
 * before a quote.
 */
export function windowsArgument(word: string): string {
  if (word !== '' && !/[\s"]/.test(word)) return word;
  return `"${word.replaceAll(/(\\*)"/g, '$1$1\\"').replace(/(\\+)$/, '$1$1')}"`;
}

/** Characters that need no quotes in an argument of a batch file, as in the standard library of Rust. */
const harmless = /^[A-Za-z0-9#$*+\-./:?@\\_\u00a0-\uffff]+$/;

/**
 * An argument for a batch file (`.cmd`, `.bat`). cmd.exe reads it twice: when it starts the file, and when the file hands its arguments on, so quotes
 * stay in pairs (`""`), and no caret is used. A percent sign is followed by an empty piece of a variable that always exists, so that nothing is a
 * variable. cmd.exe must run with /e:ON and /v:OFF. The way of Rust's standard library since CVE-2024-24576.
 */
export function batchArgument(word: string): string {
  const isPlain = word !== '' && harmless.test(word) && !word.endsWith('\\');
  const text = word.replaceAll(/(\\*)"/g, '$1$1""').replaceAll('%', '%%cd:~,%');
  return isPlain ? text : `"${text.replace(/(\\+)$/, '$1$1')}"`;
}

/** The argument of `cmd.exe /e:ON /v:OFF /d /s /c` that runs a batch file. @throws TypeError for a word that no batch file can receive. */
export function batchLine(file: string, args: readonly string[]): string {
  // cmd.exe ends a command at the end of a line.
  const broken = [file, ...args].find((word) => ['\0', '\r', '\n'].some((each) => word.includes(each)));
  if (broken !== undefined)
    throw new TypeError(`The argument ${JSON.stringify(broken.slice(0, 80))} contains the end of a line, which no batch file can receive.`);
  if (file.includes('"') || file.endsWith('\\')) throw new TypeError(`${JSON.stringify(file)} is no file name on Windows.`);
  // A percent sign in the file's own path would also be read as a variable.
  return `"${[`"${file.replaceAll('%', '%%cd:~,%')}"`, ...args.map(batchArgument)].join(' ')}"`;
}
