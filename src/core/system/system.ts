import { type PlatformPath, posix, win32 } from 'node:path';

/** The systems that Stemma knows. Every other system counts as Linux: it has POSIX paths, shells and signals. */
export type System = 'linux' | 'macos' | 'windows';

/** The system of a platform name of Node. */
export const systemOf = (platform: string): System => (platform === 'win32' ? 'windows' : platform === 'darwin' ? 'macos' : 'linux');

/** Node's name of the platform of this process. Nothing else asks for it. */
export const thisPlatform: string = process.platform;

/** The system of this process. */
export const thisSystem: System = systemOf(thisPlatform);

/** The functions for paths of a system. */
export const pathRules = (system: System): PlatformPath => (system === 'windows' ? win32 : posix);

/** Environment variables, as a process has them or as a copy. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The value of an environment variable. Names ignore case on Windows, also in a copy of the environment, where `PATH` is usually `Path`. */
export function variableOf(env: Environment, name: string, system: System = thisSystem): string | undefined {
  const value = env[name];
  if (value !== undefined || system !== 'windows') return value;
  const other = Object.keys(env).find((one) => one.toUpperCase() === name.toUpperCase());
  return other === undefined ? undefined : env[other];
}
