import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Credentials } from '../artifacts/index.js';
import { isObject, parseJson, stringAt } from '../base/index.js';

/** Who may use the backing stores of this machine's projects: in Stemma's own folder, never in a project that travels. */
export interface Keys {
  find(projectId: string, tier: string): Credentials | undefined;
  set(projectId: string, tier: string, credentials: Credentials | undefined): void;
}

export function openKeys(dataDir: string, newName: () => string): Keys {
  const file = join(dataDir, 'credentials.json');
  const read = (): Record<string, unknown> => {
    const stored = existsSync(file) ? parseJson(readFileSync(file, 'utf8')) : undefined;
    return isObject(stored) ? { ...stored } : {};
  };
  const keyOf = (projectId: string, tier: string): string => `${projectId}/${tier}`;
  return {
    find: (projectId, tier) => {
      const stored = read()[keyOf(projectId, tier)];
      const [accessKeyId, secretAccessKey] = [stringAt(stored, 'accessKeyId'), stringAt(stored, 'secretAccessKey')];
      return accessKeyId !== undefined && secretAccessKey !== undefined ? { accessKeyId, secretAccessKey } : undefined;
    },
    set: (projectId, tier, credentials) => {
      const { [keyOf(projectId, tier)]: _, ...others } = read();
      const beside = `${file}.${newName()}`;
      const next = credentials ? { ...others, [keyOf(projectId, tier)]: credentials } : others;
      writeFileSync(beside, `${JSON.stringify(next, null, 2)}\n`, { mode: 0o600 });
      renameSync(beside, file);
    },
  };
}
