import { homedir, userInfo } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import { badRequest } from '../base/index.js';

/**
 * The home folder of this user: HOME (USERPROFILE on Windows), else the folder in the system's list of users. An empty or relative HOME counts as not
 * set, because Stemma's files would land in the working folder. @throws BAD_REQUEST if this user has no home folder.
 */
export function homeFolder(): string {
  for (const find of [homedir, () => userInfo().homedir])
    try {
      const home = find();
      if (isAbsolute(home)) return home;
    } catch {
      // A user without an entry in the list, such as one that only a container names.
    }
  throw badRequest('HOME', 'This user has no home folder. Set HOME to the path of a folder.');
}

/** Makes a path that a person typed absolute. A leading `~` means the home folder, as in a shell. */
export const absolutePath = (given: string): string => (/^~(?=$|[/\\])/.test(given) ? join(homeFolder(), given.slice(1)) : resolve(given));
