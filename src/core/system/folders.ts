import { type Environment, pathRules, type System, variableOf } from './system.js';

/** The person whose folders are meant: the home folder and the variables that move others. */
export interface FolderOwner {
  readonly env: Environment;
  readonly home: string;
  readonly system: System;
}

/**
 * The folders in which a system keeps a program's files for one person. `settings` may follow the person to other machines (`%APPDATA%`,
 * XDG_CONFIG_HOME), and `data` stays on this one (`%LOCALAPPDATA%`, XDG_DATA_HOME). An empty variable counts as not set; the XDG rules ignore a
 * relative path, so Stemma does too.
 */
export function foldersOf({ env, home, system }: FolderOwner): Readonly<Record<'settings' | 'data', string>> {
  const { join, isAbsolute } = pathRules(system);
  const named = (name: string): string | undefined => {
    const value = variableOf(env, name, system);
    return value && isAbsolute(value) ? value : undefined;
  };
  if (system === 'windows')
    return {
      settings: named('APPDATA') ?? join(home, 'AppData', 'Roaming'),
      data: named('LOCALAPPDATA') ?? join(home, 'AppData', 'Local'),
    };
  if (system === 'macos') {
    const support = join(home, 'Library', 'Application Support');
    return { settings: support, data: support };
  }
  return { settings: named('XDG_CONFIG_HOME') ?? join(home, '.config'), data: named('XDG_DATA_HOME') ?? join(home, '.local', 'share') };
}

/** Folders in which every user of the machine may write, besides the one that the system names for temporary files. */
export const sharedFolders = (system: System): readonly string[] => (system === 'windows' ? [] : ['/tmp', '/var/tmp', '/dev/shm']);

/** The folder for data of services, which every user may pass through. */
export const machineFolder = (system: System): string =>
  ({ linux: '/var/lib', macos: '/Library/Application Support', windows: 'C:\\ProgramData' })[system];

/** A folder in memory that may hold a copy of a file when the disk is full. Only Linux has one at a known place. */
export const memoryFolders = (system: System): readonly string[] => (system === 'linux' ? ['/dev/shm'] : []);
