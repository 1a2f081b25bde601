import { homedir } from 'node:os';
import { join, resolve } from 'node:path';

/** Makes a path that a person typed absolute. A leading `~` means the home folder, as in a shell. */
export const absolutePath = (given: string): string => (/^~(?=$|[/\\])/.test(given) ? join(homedir(), given.slice(1)) : resolve(given));
