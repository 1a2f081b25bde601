import { createHash } from 'node:crypto';
import { readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Takes } from '../artifacts/index.js';
import { defined, isObject, parseJson, stringAt } from '../base/index.js';
import { makeFolders, replaceFile, stampOf } from '../files/index.js';
import { readCredentials, type StoredCredentials } from './credentials.js';
import type { ReplicaPlace } from './store.js';

export interface ReplicaSettings {
  readonly place: ReplicaPlace;
  readonly takes: Takes;
  readonly credentials?: StoredCredentials | undefined;
}

export type ReplicasByName = ReadonlyMap<string, ReplicaSettings>;

/** The replicas of this machine's projects. They are stored in Stemma's own folder, so a project from elsewhere brings none. */
export interface MachineReplicas {
  of(projectId: string): ReplicasByName;
  /** Sets a replica, or removes it if `settings` is undefined. */
  set(projectId: string, name: string, settings: ReplicaSettings | undefined): void;
}

const nothing: ReplicasByName = new Map();

/** For work without the machine's settings, such as a hook: there are no replicas, and none can be configured. */
export const noReplicas: MachineReplicas = {
  of: () => nothing,
  set: () => {
    throw new Error('replicas cannot be set without a data folder');
  },
};

/** Opens the settings in `dataDir`: one file for each project that has replicas. Other processes may change them at any time. */
export function openMachineReplicas(dataDir: string): MachineReplicas {
  const folder = join(dataDir, 'replicas');
  const remembered = new Map<string, { readonly stamp: string; readonly replicas: ReplicasByName }>();
  // A project names its own id, so the id must not become a path.
  const settingsFile = (projectId: string): string => join(folder, `${createHash('sha256').update(projectId).digest('hex')}.json`);
  const of = (projectId: string): ReplicasByName => {
    const file = settingsFile(projectId);
    const stat = statSync(file, { bigint: true, throwIfNoEntry: false });
    if (!stat) return nothing;
    const stamp = stampOf(stat);
    const known = remembered.get(projectId);
    if (known?.stamp === stamp) return known.replicas;
    const replicas = readReplicas(file, projectId);
    remembered.set(projectId, { stamp, replicas });
    return replicas;
  };
  return {
    of,
    set: (projectId, name, settings) => {
      const next = new Map(of(projectId));
      if (settings) next.set(name, settings);
      else next.delete(name);
      const file = settingsFile(projectId);
      if (next.size === 0) return rmSync(file, { force: true });
      makeFolders(folder);
      const text = JSON.stringify({ projectId, replicas: Object.fromEntries([...next].sort(([a], [b]) => (a < b ? -1 : 1))) }, null, 2);
      replaceFile(file, `${text}\n`);
    },
  };
}

function readReplicas(file: string, projectId: string): ReplicasByName {
  const stored = parseJson(readFileSync(file, 'utf8'));
  if (!isObject(stored) || stored.projectId !== projectId || !isObject(stored.replicas)) return nothing;
  return new Map(
    Object.entries(stored.replicas).flatMap(([name, value]) => {
      const settings = readSettings(value);
      return settings ? [[name, settings] as const] : [];
    }),
  );
}

/** Reads a replica's settings. Undefined if they name no place. */
function readSettings(value: unknown): ReplicaSettings | undefined {
  if (!isObject(value)) return undefined;
  const place = readPlace(value.place);
  const credentials = readCredentials(value.credentials);
  return place && { place, takes: value.takes === 'all' ? 'all' : 'replicate', ...(credentials && { credentials }) };
}

function readPlace(value: unknown): ReplicaPlace | undefined {
  const [kind, dir, bucket] = ['kind', 'dir', 'bucket'].map((key) => stringAt(value, key));
  if (kind === 'folder' && dir !== undefined) return { kind, dir };
  if (kind !== 's3' || bucket === undefined) return undefined;
  const [endpoint, region, prefix] = ['endpoint', 'region', 'prefix'].map((key) => stringAt(value, key));
  return { kind, bucket, ...defined({ endpoint, region, prefix }) };
}
