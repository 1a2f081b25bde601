import type { ArtifactNo, Clock, Recent } from '../base/index.js';
import type { goneReasons, Policy } from '../contract/index.js';
import type { ReadableDb, WritableDb } from '../store/index.js';
import type { Caches } from './caches.js';
import type { Packs, ReadPacks } from './packs.js';

/** The rows and object files of one project, for reading. */
export interface ReadShelf {
  readonly db: ReadableDb;
  readonly project: number;
  readonly packs: ReadPacks;
  readonly caches: Caches;
  readonly clock: Clock;
  /** Recently read blocks, decompressed, by number. */
  readonly blocks: Recent<number, Uint8Array>;
  /** When each object was last read in this process. Kept only if objects may be evicted. */
  used: Map<ArtifactNo, number> | undefined;
  /** Rebuilds the bytes of a dropped cache; undefined if it cannot. */
  readonly remake: (no: ArtifactNo) => Uint8Array | undefined;
  /** Called when content is removed, so that others drop their copies of it. */
  readonly onGone: () => void;
}

export interface Shelf extends ReadShelf {
  readonly db: WritableDb;
  readonly packs: Packs;
}

export type Gone = (typeof goneReasons)[number];

/** The columns that reading needs: few, because a chain has thousands of rows. */
export interface ContentRow {
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

/** A row without its content. */
export interface ObjectRow extends Pick<ContentRow, 'no' | 'hash' | 'size' | 'storedSize' | 'expiresAt' | 'gone'> {
  readonly contentType: string;
  readonly policy: Policy;
  readonly labels: string | null;
  readonly createdAt: number;
  readonly touchedAt: number | null;
  readonly isStored: number;
}

/** True for a row with content of its own. Other rows are caches or gone. */
export const isStoredSql = '(data IS NOT NULL OR pack IS NOT NULL OR block IS NOT NULL OR chunks IS NOT NULL)';

export const factColumns = `no, hash, size, storedSize, contentType, policy, labels, createdAt, touchedAt, expiresAt, gone, ${isStoredSql} AS isStored`;

/** SQL that removes the content of a row. Set `gone` to the reason with it. */
export const withoutContent = 'data = NULL, pack = NULL, packStart = NULL, block = NULL, blockStart = NULL, chunks = NULL, storedSize = 0';

/** The derived tables that hold parts of an object's content, or measures of it. */
const ofContent = ['outline', 'deltaFact', 'usageEntry'];

/** Deletes what was derived from content that goes. `which` is SQL after the column with the number of the object, with a `?` for each value. */
export function forgetContent({ db }: Shelf, which: string, ...values: readonly number[]): void {
  for (const table of ofContent) db.run(`DELETE FROM ${table} WHERE artifact ${which}`, ...values);
}
