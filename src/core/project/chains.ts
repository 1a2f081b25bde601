import { randomUUID } from 'node:crypto';
import { openArtifacts, openReadArtifacts } from '../artifacts/index.js';
import { type ArtifactNo, type Clock, recent } from '../base/index.js';
import { openVerified, type ReadChain, remakeSnapshot, type WriteChain } from '../chain/index.js';
import { type OpenDatabase, openDatabase, type ReadableDb } from '../store/index.js';
import { type Seal, sealOfProcess } from '../trust/index.js';
import type { Access } from './access.js';
import type { ProjectManifest } from './manifest.js';
import type { ReadProject } from './reading.js';

const megabyte = 1024 * 1024;

/**
 * The caches of a project and their limits in bytes over all threads. `unit` is the number of bytes of one unit of weight: outlines and contexts are
 * weighed by entries. Parsed deltas take about twice their content.
 */
const limits = {
  parsed: { bytes: 128 * megabyte, unit: 2 },
  outlines: { bytes: 150 * megabyte, unit: 150 },
  /** A context of 200,000 entries must fit into the part of one thread, because its pages are slices of it. */
  placed: { bytes: 60 * megabyte, unit: 60 },
  /** Everything else that is derived from a project: graphs, sessions, measured windows. */
  derived: { bytes: 256 * megabyte, unit: 1 },
} as const;

/** The caches of one process, which the chains of its connections share. */
type ChainCaches = Pick<ReadChain, keyof typeof limits>;

interface OpenCaches extends ChainCaches {
  forget(): void;
  /** Forgets everything for good. */
  close(): void;
}

/** The open caches of this thread. */
const open = new Set<ChainCaches>();

/** What the caches of the open projects hold in this thread, in bytes, and their limits. */
export const cacheSizes = (): { name: string; bytes: number; limit: number }[] =>
  (Object.keys(limits) as (keyof typeof limits)[]).map((name) => ({
    name,
    bytes: Math.round([...open].reduce((sum, caches) => sum + caches[name].weight() * limits[name].unit, 0)),
    limit: limits[name].bytes,
  }));

/** Opens the caches of one process or thread. `share` is its part of the memory that all of them may use. */
export function openCaches(share = 1): OpenCaches {
  const budgetOf = ({ bytes, unit }: { readonly bytes: number; readonly unit: number }): number => (bytes * share) / unit;
  const caches: ChainCaches = {
    outlines: recent(budgetOf(limits.outlines)),
    parsed: recent(budgetOf(limits.parsed)),
    placed: recent(budgetOf(limits.placed)),
    derived: recent(budgetOf(limits.derived)),
  };
  const forget = (): void => {
    for (const name of Object.keys(limits) as (keyof typeof limits)[]) caches[name].clear();
  };
  open.add(caches);
  return {
    ...caches,
    forget,
    close: () => {
      forget();
      open.delete(caches);
    },
  };
}

/** What the chains of one project have in common. */
export interface ChainPlace {
  readonly project: number;
  readonly folder: string;
  readonly behind: string | undefined;
  readonly clock: Clock;
  readonly machine: string | undefined;
  readonly usageSettings: (() => string | undefined) | undefined;
  /** As in `ReadChain`. Without it, the mark of this process. */
  readonly seal?: Seal | undefined;
  readonly caches: ChainCaches;
  /** Forgets cached content that was removed. */
  readonly forget: () => void;
}

/** The parts of a chain beside its database and objects. */
function partsOf(
  { project, clock, machine, usageSettings = () => undefined, seal = sealOfProcess, caches: { outlines, parsed, placed, derived } }: ChainPlace,
  db: ReadableDb,
) {
  return {
    project,
    clock,
    machine,
    usageSettings,
    seal,
    newId: randomUUID,
    outlines,
    parsed,
    placed,
    derived,
    verified: openVerified(db),
    offers: [],
  };
}

/** The chain of a connection that writes. */
export function writeChain(db: OpenDatabase, place: ChainPlace): WriteChain {
  const parts = partsOf(place, db);
  const remake = (artifact: ArtifactNo): Uint8Array | undefined => remakeSnapshot(chain, artifact);
  const artifacts = openArtifacts({ db, newName: randomUUID, ...place, remake, onGone: place.forget });
  const chain: WriteChain = { db, artifacts, ...parts };
  return chain;
}

/** The chain of a connection that SQLite opened read-only. */
export function readChain(db: ReadableDb, place: ChainPlace): ReadChain {
  const remake = (artifact: ArtifactNo): Uint8Array | undefined => remakeSnapshot(chain, artifact);
  const chain: ReadChain = { db, artifacts: openReadArtifacts({ db, newName: randomUUID, ...place, remake }), ...partsOf(place, db) };
  return chain;
}

/** Where a project is read: all that another thread needs to open it. */
export interface ReadPlace extends ProjectManifest {
  readonly dir: string;
  readonly access: Access;
  /** The file of the database: the project's own, or a copy. */
  readonly file: string;
  readonly objects: string;
  /** For a read-only project, its own `objects` folder; `objects` then belongs to a copy. */
  readonly behind: string | undefined;
  /** The number of the project's row. */
  readonly project: number;
  readonly machine: string | undefined;
  /** As in `ConnectionOptions`. */
  readonly mark: string | undefined;
}

/** A project that a thread opened for reading. */
export interface OpenedForReading {
  readonly project: ReadProject;
  close(): void;
}

export interface ForReading {
  readonly clock: Clock;
  readonly usageSettings: () => string | undefined;
  readonly cacheShare: number;
  readonly live: ReadProject['live'];
}

/** Opens a project for reading on this thread. @throws the errors of `openDatabase`. */
export function openForReading(place: ReadPlace, { clock, usageSettings, cacheShare, live }: ForReading): OpenedForReading {
  const { file, objects, behind, project, machine, mark, ...about } = place;
  const db = openDatabase(file, { readonly: true, mark });
  const caches = openCaches(cacheShare);
  const chain = readChain(db, { project, folder: objects, behind, clock, machine, usageSettings, caches, forget: caches.forget });
  return {
    project: { ...about, db, chain, live },
    close: () => {
      chain.artifacts.close();
      db.close();
      caches.close();
    },
  };
}
