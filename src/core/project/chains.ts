import { randomUUID } from 'node:crypto';
import { openArtifacts, openReadArtifacts } from '../artifacts/index.js';
import { type ArtifactNo, type Clock, cachePool, type Recent } from '../base/index.js';
import { openVerified, type ReadChain, remakeSnapshot, type WriteChain } from '../chain/index.js';
import { type DeltaOutline, findReader, type ParsedDelta } from '../formats/index.js';
import { type OpenDatabase, openDatabase, type ReadableDb } from '../store/index.js';
import { type Seal, sealOfProcess } from '../trust/index.js';
import type { Access } from './access.js';
import type { ProjectManifest } from './manifest.js';
import type { ReadProject } from './reading.js';

/** What all threads keep in memory of all open projects together, in bytes. */
export const cacheBytes = 300 * 1024 * 1024;

/** The parts of `cacheBytes`: of the thread that writes, of all threads that read together, and of each thread that imports or repacks, of which two may run. */
export const cacheShares = { writer: 0.2, readers: 0.6, work: 0.1 } as const;

/**
 * What a project keeps in memory. `unit` is the number of bytes of one unit of weight: outlines and contexts are weighed by entries. Parsed deltas
 * take about twice their content. `part` is the part of a thread's cache that one kind may fill, so that one long list leaves the rest.
 */
const kinds = {
  parsed: { unit: 2, part: 0.4 },
  outlines: { unit: 150, part: 0.6 },
  /** A context of 250,000 entries must fit into the part of one thread, because its pages are slices of it. */
  placed: { unit: 60, part: 0.4 },
  /** Everything else that is derived from a project: graphs, sessions, measured windows. */
  derived: { unit: 1, part: 0.8 },
  /** Blocks of objects, decompressed. */
  blocks: { unit: 1, part: 0.2 },
} as const;

type CacheKind = keyof typeof kinds;

/** The caches of one project in a thread, which the chains of its connections share. */
interface ChainCaches extends Pick<ReadChain, Exclude<CacheKind, 'blocks'>> {
  readonly blocks: Recent<number, Uint8Array>;
}

/** The cache of this thread, which its open projects share. Without other threads, it is all of it. */
const pool = cachePool(cacheBytes);
const open = new Set<ChainCaches>();

/** Says which part of the memory for caches this thread may use. */
export const shareCaches = (share: number): void => pool.setLimit(cacheBytes * share);

export type CacheSize = ReturnType<typeof cacheSize>;

/** What this thread keeps in memory of its open projects, in bytes, its limit, and what it keeps by kind. */
export function cacheSize() {
  const names = Object.keys(kinds) as CacheKind[];
  const sizes = names.map(
    (name) => [name, Math.round([...open].reduce((sum, caches) => sum + caches[name].weight() * kinds[name].unit, 0))] as const,
  );
  return { bytes: sizes.reduce((sum, [, bytes]) => sum + bytes, 0), limit: Math.round(pool.limit()), kinds: Object.fromEntries(sizes) };
}

/** Opens the caches of a project in this thread. */
export function openCaches() {
  const caches = {
    outlines: pool.open<string, DeltaOutline>(kinds.outlines),
    parsed: pool.open<string, ParsedDelta>(kinds.parsed),
    placed: pool.open<string, Parameters<ReadChain['placed']['set']>[1]>(kinds.placed),
    derived: pool.open<string, unknown>(kinds.derived),
    blocks: pool.open<number, Uint8Array>(kinds.blocks),
  };
  const all = Object.values(caches);
  open.add(caches);
  return {
    ...caches,
    forget: (): void => all.forEach((cache) => void cache.clear()),
    /** Forgets everything for good. */
    close: (): void => {
      all.forEach((cache) => void cache.close());
      open.delete(caches);
    },
  };
}

/** How a chain reads the contents of commits. */
export interface ContentReading {
  readonly reader: ReadChain['reader'];
  /** Makes the content of a snapshot again. */
  readonly remake: (chain: ReadChain, artifact: ArtifactNo) => Uint8Array | undefined;
}

/** Reads all formats. */
export const allContents: ContentReading = { reader: findReader, remake: remakeSnapshot };

/** What a chain knows of this machine. */
export interface ChainMachine {
  /** The name of this machine. */
  readonly machine?: string | undefined;
  /** The text of a person's file of prices, limits and budgets; undefined without one. */
  readonly usageSettings?: (() => string | undefined) | undefined;
  /** As in `ReadChain`. Without it, the mark of this process. */
  readonly seal?: Seal | undefined;
}

/** What the chains of one project have in common. */
export interface ChainPlace extends ChainMachine {
  readonly project: number;
  readonly folder: string;
  readonly behind: string | undefined;
  readonly clock: Clock;
  readonly caches: ChainCaches;
  readonly contents: ContentReading;
  /** Forgets cached content that was removed. */
  readonly forget: () => void;
}

/** The parts of a chain beside its database and objects. */
function openParts(place: ChainPlace, db: ReadableDb) {
  const { project, clock, machine, usageSettings = () => undefined, seal = sealOfProcess } = place;
  const { reader } = place.contents;
  const { outlines, parsed, placed, derived } = place.caches;
  const kept = { outlines, parsed, placed, derived };
  return { project, clock, machine, usageSettings, seal, reader, newId: randomUUID, ...kept, verified: openVerified(db), offers: [] };
}

/** The chain of a connection that writes. */
export function writeChain(db: OpenDatabase, place: ChainPlace): WriteChain {
  const remake = (artifact: ArtifactNo): Uint8Array | undefined => place.contents.remake(chain, artifact);
  const { blocks } = place.caches;
  const artifacts = openArtifacts({ db, newName: randomUUID, ...place, blocks, remake, onGone: place.forget });
  const chain: WriteChain = { db, artifacts, ...openParts(place, db) };
  return chain;
}

/** The chain of a connection that SQLite opened read-only. */
export function readChain(db: ReadableDb, place: ChainPlace): ReadChain {
  const remake = (artifact: ArtifactNo): Uint8Array | undefined => place.contents.remake(chain, artifact);
  const { blocks } = place.caches;
  const artifacts = openReadArtifacts({ db, newName: randomUUID, ...place, blocks, remake });
  const chain: ReadChain = { db, artifacts, ...openParts(place, db) };
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
export type OpenedForReading = ReturnType<typeof readingFrom>;

export interface ForReading {
  readonly clock: Clock;
  readonly usageSettings: () => string | undefined;
  readonly live: ReadProject['live'];
}

/** Opens a project for reading on this thread. @throws the errors of `openDatabase`. */
export function openForReading(place: ReadPlace, reading: ForReading): OpenedForReading {
  return readingFrom(openDatabase(place.file, { readonly: true, mark: place.mark }), place, { ...reading, contents: allContents });
}

/** The project of a connection that SQLite opened read-only, which closes with it. */
export function readingFrom(db: OpenDatabase, place: Omit<ReadPlace, 'file' | 'mark'>, reading: ForReading & Pick<ChainPlace, 'contents'>) {
  const { objects, behind, project, machine, ...about } = place;
  const { clock, usageSettings, live, contents } = reading;
  const caches = openCaches();
  const chain = readChain(db, { project, folder: objects, behind, clock, machine, usageSettings, contents, caches, forget: caches.forget });
  const opened: ReadProject = { ...about, db, chain, live };
  return {
    project: opened,
    close: (): void => {
      chain.artifacts.close();
      db.close();
      caches.close();
    },
  };
}
