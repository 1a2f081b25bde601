import { lstatSync } from 'node:fs';
import type Database from 'better-sqlite3';
import { identityAt, isSameFile } from '../../files/index.js';
import type { OpenedPlace } from '../place.js';
import { attachForReading, attachForWriting, detach, leaveMemory, removeDerived, writeFromSql } from './attach.js';
import { seal } from './seal.js';
import { derivedTables } from './tables.js';

/** The derived data of an open connection. */
export interface Derived {
  /** Whether a file is attached. If not, the tables are in memory and empty at first. */
  isStored(): boolean;
  /** How often the data was attached again, which may have changed every row. */
  attached(): number;
  /** Attaches the file again if another one lies at its path now, or if there was none or a lock. Does nothing inside a transaction. */
  refresh(): void;
  /** After an error that says damage: if the damage is in derived data, begins it anew and returns true. */
  heal(): boolean;
  /** Call it after the connection was closed. */
  closed(): void;
  /** Stores how far the record has come. Call it before the commit of a transaction that changed derived data. */
  follow(): void;
}

/**
 * Attaches the derived data of a record.
 * @param file where it lies; undefined for a record in memory.
 * @param mark as in `ConnectionOptions`.
 * @param place the record: the file is not attached again if another record lies at its path now.
 */
export function openDerived(raw: Database.Database, file: string | undefined, mark: string | undefined, place: OpenedPlace): Derived {
  let isStored = false;
  let isDue = false;
  let refused: string | undefined;
  let count = 0;
  let known: ReturnType<typeof identityAt>;
  let following: Database.Statement | undefined;
  const open = (): void => {
    const attached = raw.readonly ? attachForReading(raw, file, mark) : attachForWriting(raw, file, mark);
    isStored = attached === true;
    // A writer may be making the tables of the file that a reader cannot use.
    refused = attached === false && raw.readonly ? stampOf(file) : undefined;
    isDue = attached === 'later';
    known = file === undefined ? undefined : identityAt(file);
    count += 1;
    following = undefined;
  };
  const reopen = (): boolean => {
    try {
      detach(raw);
      leaveMemory(raw);
      open();
      return true;
    } catch {
      // A loop over rows is open on this connection: it goes on with the tables that it reads.
      return false;
    }
  };
  detach(raw);
  open();
  return {
    isStored: () => isStored,
    attached: () => count,
    refresh: () => {
      if (file === undefined || raw.inTransaction) return;
      // Every transaction comes here, so the paths of the record are looked at only if this one has changed.
      const now = identityAt(file);
      const hasChanged = now === undefined ? isStored || !raw.readonly : !isSameFile(now, known);
      if ((hasChanged || isDue || (refused !== undefined && refused !== stampOf(file))) && place.isSame()) reopen();
    },
    heal: () => {
      if (file === undefined || !isStored || raw.inTransaction || !place.isSame() || isWhole(raw)) return false;
      // A thread that reads removes the file, too: the writer then makes a new one.
      try {
        detach(raw);
        removeDerived(file);
      } catch {
        // Other programs keep the file open, which only Windows forbids to remove.
      }
      return reopen();
    },
    closed: () => {
      if (file !== undefined && isStored && !raw.readonly && place.isSame()) seal(file);
    },
    follow: () => {
      if (!isStored) return;
      following ??= raw.prepare(writeFromSql);
      following.run(mark ?? null);
    },
  };
}

/** A text that changes when a database or its log does; undefined without a file. */
function stampOf(file: string | undefined): string | undefined {
  if (file === undefined) return undefined;
  const stats = [file, `${file}-wal`].map((path) => lstatSync(path, { throwIfNoEntry: false }));
  return stats[0] && stats.map((stat) => `${stat?.size} ${stat?.mtimeMs}`).join(' ');
}

function isWhole(raw: Database.Database): boolean {
  try {
    return raw.prepare('PRAGMA derived.quick_check(1)').pluck().get() === 'ok';
  } catch {
    return false;
  }
}

const changing = new RegExp(`\\b(?:INTO|UPDATE(?: OR \\w+)?|DELETE FROM)\\s+"?(?:${derivedTables.join('|')})\\b`);

/** Whether a statement changes derived data. */
export const changesDerived = (sql: string): boolean => changing.test(sql);
