import type Database from 'better-sqlite3';
import { attempt } from '../../base/index.js';
import { identityAt, isSameFile, stampAt } from '../../files/index.js';
import type { OpenedPlace } from '../place.js';
import { attachForReading, attachForWriting, detach, leaveMemory, removeDerived, writeFromSql } from './attach.js';
import { seal } from './seal.js';
import { derivedTables } from './tables.js';

/** The derived data of an open connection. */
export type Derived = ReturnType<typeof openDerived>;

/**
 * Attaches the derived data of a record.
 * @param file where it lies; undefined for a record in memory.
 * @param mark as in `ConnectionOptions`.
 * @param place the record: the file is not attached again if another record lies at its path now.
 */
export function openDerived(raw: Database.Database, file: string | undefined, mark: string | undefined, place: OpenedPlace) {
  let isStored = false;
  let isDue = false;
  let refused: string | undefined;
  let count = 0;
  let known: ReturnType<typeof identityAt>;
  let following: Database.Statement | undefined;
  /** A text that changes when the file or its log does; undefined without a file. A link that leads nowhere is no log. */
  const stamp = (): string | undefined => {
    const [own, log] = file === undefined ? [] : [file, `${file}-wal`].map((path) => attempt(() => stampAt(path)));
    return own && `${own} ${log}`;
  };
  const open = (): void => {
    const attached = raw.readonly ? attachForReading(raw, file, mark) : attachForWriting(raw, file, mark);
    isStored = attached === true;
    // A writer may be making the tables of the file that a reader cannot use.
    refused = attached === false && raw.readonly ? stamp() : undefined;
    isDue = attached === 'later';
    known = file === undefined ? undefined : identityAt(file);
    count += 1;
    following = undefined;
  };
  const reopen = (): boolean => {
    // If a loop over rows is open on this connection, it goes on with the tables that it reads.
    const isDone = attempt(() => {
      detach(raw);
      leaveMemory(raw);
      open();
      return true;
    });
    return isDone === true;
  };
  detach(raw);
  open();
  return {
    /** Whether a file is attached. If not, the tables are in memory and empty at first. */
    isStored: () => isStored,
    /** How often the data was attached again, which may have changed every row. */
    attached: () => count,
    /** Attaches the file again if another one lies at its path now, or if there was none or a lock. Does nothing inside a transaction. */
    refresh: (): void => {
      if (file === undefined || raw.inTransaction) return;
      // Every transaction comes here, so the paths of the record are looked at only if this one has changed.
      const now = identityAt(file);
      const hasChanged = now === undefined ? isStored || !raw.readonly : !isSameFile(now, known);
      if ((hasChanged || isDue || (refused !== undefined && refused !== stamp())) && place.isSame()) reopen();
    },
    /** After an error that says damage: if the damage is in derived data, begins it anew and returns true. */
    heal: (): boolean => {
      if (file === undefined || !isStored || raw.inTransaction || !place.isSame() || isWhole(raw)) return false;
      // A thread that reads removes the file, too: the writer then makes a new one. On Windows, nobody can remove it while other programs keep it open.
      attempt(() => {
        detach(raw);
        removeDerived(file);
      });
      return reopen();
    },
    /** Call it after the connection was closed. */
    closed: (): void => {
      if (file !== undefined && isStored && !raw.readonly && place.isSame()) seal(file);
    },
    /** Stores how far the record has come. Call it before the commit of a transaction that changed derived data. */
    follow: (): void => {
      if (!isStored) return;
      following ??= raw.prepare(writeFromSql);
      following.run(mark ?? null);
    },
  };
}

const isWhole = (raw: Database.Database): boolean => attempt(() => raw.prepare('PRAGMA derived.quick_check(1)').pluck().get()) === 'ok';

const changing = new RegExp(`\\b(?:INTO|UPDATE(?: OR \\w+)?|DELETE FROM)\\s+"?(?:${derivedTables.join('|')})\\b`);

/** Whether a statement changes derived data. */
export const changesDerived = (sql: string): boolean => changing.test(sql);
