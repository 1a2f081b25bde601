import { join, resolve } from 'node:path';
import { homeFolder } from './home.js';

/** Makes a path that a person typed absolute. A leading `~` means the home folder, as in a shell. */
export const absolutePath = (given: string): string => (/^~(?=$|[/\\])/.test(given) ? join(homeFolder(), given.slice(1)) : resolve(given));
