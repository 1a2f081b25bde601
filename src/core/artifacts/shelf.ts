import type { ArtifactNo, Clock, Recent } from '../base/index.js';
import type { goneWhys, Policy } from '../contract/index.js';
import type { WritableDb } from '../store/index.js';
import type { Caches } from './caches.js';
import type { Packs } from './packs.js';

/** What every function of the store works on: one project's rows and files of objects. */
export interface Shelf {
  readonly db: WritableDb;
  /** The project's number: every query is bound to it. */
  readonly project: number;
  readonly packs: Packs;
  readonly caches: Caches;
  readonly clock: Clock;
  /** Plain blocks that were read lately, by number. */
  readonly blocks: Recent<number, Uint8Array>;
  /** When each object was last read in this process; kept only where objects may be evicted. */
  used: Map<ArtifactNo, number> | undefined;
  /** Makes the bytes of a dropped cache object again, or says that it cannot. */
  readonly remake: (no: ArtifactNo) => Uint8Array | undefined;
  /** Called when content goes that others may have read: what they remember of it must go too. */
  readonly onGone: () => void;
}

export type Gone = (typeof goneWhys)[number];

/** What reading needs of a row: few columns, because chains are read by the thousand. */
export interface Content {
  readonly no: ArtifactNo;
  readonly hash: Buffer;
  readonly size: number;
  readonly storedSize: number;
  readonly pack: number | null;
  readonly packStart: number | null;
  readonly data: Buffer | null;
  readonly block: number | null;
  readonly blockStart: number | null;
  readonly chunks: Buffer | null;
  readonly expiresAt: number | null;
  readonly gone: Gone | null;
}

export const contentColumns = 'no, hash, size, storedSize, pack, packStart, data, block, blockStart, chunks, expiresAt, gone';

/** The row without its content, and whether there is any. */
export interface Facts {
  readonly no: ArtifactNo;
  readonly hash: Buffer;
  readonly size: number;
  readonly storedSize: number;
  readonly contentType: string;
  readonly policy: Policy;
  readonly labels: string | null;
  readonly createdAt: number;
  readonly touchedAt: number | null;
  readonly expiresAt: number | null;
  readonly gone: Gone | null;
  readonly isStored: number;
}

export const factColumns = `no, hash, size, storedSize, contentType, policy, labels, createdAt, touchedAt, expiresAt, gone,
  (data IS NOT NULL OR pack IS NOT NULL OR block IS NOT NULL OR chunks IS NOT NULL) AS isStored`;

/** A row that has content of its own; the others are caches, or are gone. */
export const isStoredSql = '(data IS NOT NULL OR pack IS NOT NULL OR block IS NOT NULL OR chunks IS NOT NULL)';

/** What a chunk of a larger object says that it is; it is no object that anybody asked to keep. */
export const chunkType = 'application/vnd.stemma.chunk';

/** How far work in the background has come: `repack`, the last object looked at; `hollow`, bytes taken out of rows since pages were written anew. */
export type Progress = 'repack' | 'hollow';

export const progressOf = (shelf: Shelf, name: Progress): number =>
  shelf.db.one<{ value: number }>('SELECT value FROM progress WHERE project = ? AND name = ?', shelf.project, name)?.value ?? 0;

export const setProgress = (shelf: Shelf, name: Progress, value: number): void =>
  void shelf.db.run(
    'INSERT INTO progress (project, name, value) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET value = excluded.value',
    shelf.project,
    name,
    value,
  );
