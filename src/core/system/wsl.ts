import { commandLine, quoted } from './quoting.js';

/** A folder of a Linux system that runs inside Windows. */
export interface WslFolder {
  readonly distribution: string;
  /** The path in the Linux system. */
  readonly path: string;
}

/** The Linux system and the home folder in it that a path of Windows leads into; undefined for other paths. */
export function wslHomeOf(path: string): WslFolder | undefined {
  const plain = path.replaceAll('/', '\\');
  const [, distribution, home] = /^\\\\wsl(?:\.localhost|\$)\\([\w.-]+)(\\home\\[\w.-]+|\\root)(?:\\|$)/i.exec(plain) ?? [];
  return distribution === undefined || home === undefined ? undefined : { distribution, path: home.replaceAll('\\', '/') };
}

/** The path of Windows for a folder of a Linux system inside it. */
export const wslPath = ({ distribution, path }: WslFolder): string => `\\\\wsl.localhost\\${distribution}${path.replaceAll('/', '\\')}`;

/**
 * The command of Windows that runs commands in a folder of a Linux system, one after the other. They run in the person's own shell as at a login,
 * because its start files say where the agents are.
 */
export const inWsl = ({ distribution, path }: WslFolder, commands: readonly (readonly string[])[]): readonly string[] => [
  ...['wsl.exe', '--distribution', distribution, '--cd', path, '--exec', 'sh', '-c'],
  `exec "\${SHELL:-/bin/sh}" -lic ${quoted(commandLine('sh', undefined, commands), 'sh')}`,
];
