import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isObject, parseJson, stringAt } from '../base/index.js';
import { makeFolders, replaceFile } from '../files/index.js';
import type { Vault } from '../replicas/index.js';

/** A project on a hub, and the token that opens it. */
export interface HubAddress {
  /** Such as `https://hub.example`. */
  readonly hub: string;
  readonly project: string;
  /** Undefined if this machine's sign-in at the hub is used. */
  readonly token: string | undefined;
  /** Objects stay on the hub until they are read. */
  readonly onDemand?: boolean | undefined;
}

/** The hubs of this machine's projects. They are stored in Stemma's own folder, so a project from elsewhere brings none. */
export type MachineHubs = ReturnType<typeof openMachineHubs>;

/** Opens the hubs stored in `dataDir`. The operating system seals tokens if it can; otherwise only this user can read the file. */
export function openMachineHubs(dataDir: string, vault: Vault | undefined) {
  const folder = join(dataDir, 'hubs');
  // A project names its own id, so the id must not become a path.
  const settingsFile = (projectId: string): string => join(folder, `${createHash('sha256').update(projectId).digest('hex')}.json`);
  return {
    of: async (projectId: string): Promise<HubAddress | undefined> => {
      const file = settingsFile(projectId);
      const stored = existsSync(file) ? parseJson(readFileSync(file, 'utf8')) : undefined;
      const [hub, project, sealed, plain] = ['hub', 'project', 'sealed', 'token'].map((key) => stringAt(stored, key));
      if (!isObject(stored) || stored.projectId !== projectId || hub === undefined || project === undefined) return undefined;
      const place = { hub, project, ...(stored.onDemand === true && { onDemand: true }) };
      if (stored.isSignedIn === true) return { ...place, token: undefined };
      const token = sealed === undefined ? plain : await vault?.unseal(sealed);
      return token === undefined ? undefined : { ...place, token };
    },
    set: async (projectId: string, address: HubAddress | undefined): Promise<void> => {
      if (!address) return rmSync(settingsFile(projectId), { force: true });
      const { token, ...place } = address;
      // Without a keyring the token stays in a file that only this person can read.
      const sealed = token === undefined ? undefined : await vault?.seal(token).catch(() => undefined);
      const secret = token === undefined ? { isSignedIn: true } : sealed === undefined ? { token } : { sealed };
      makeFolders(folder);
      replaceFile(settingsFile(projectId), `${JSON.stringify({ projectId, ...place, ...secret }, null, 2)}\n`);
    },
  };
}
