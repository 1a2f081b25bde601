import { homedir } from 'node:os';
import { join, resolve } from 'node:path';

/** The absolute path of what a person named. `~` at its start is the home folder, as in a shell. */
export const absolutePath = (given: string): string => (/^~(?=$|[/\\])/.test(given) ? join(homedir(), given.slice(1)) : resolve(given));
