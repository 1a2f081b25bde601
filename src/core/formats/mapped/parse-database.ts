import { defined } from '../../base/index.js';
import type { DatabaseReader, DatabaseRows, Member } from '../format.js';
import { clip } from '../shared/headline.js';
import { wrapLines } from '../shared/wrapped.js';
import { applied } from './apply.js';
import { formatId, type Unmapped, wrapRecords } from './parse-document.js';
import type { MappingRules } from './rules.js';

/** A conversation of a database. An empty fact counts as missing. */
export interface TableSession {
  readonly id: string;
  /** A value that changes with every added record. */
  readonly stamp: string;
  readonly title?: string;
  readonly cwd?: string;
  readonly startedIn?: string;
  readonly records: () => readonly Unmapped[];
}

export interface BuiltInDatabase {
  readonly mapping: MappingRules;
  readonly mayBe: (name: string) => boolean;
  readonly recognize: (tables: DatabaseRows['tables']) => boolean;
  /** As in `DatabaseReader`. */
  readonly aside?: readonly string[];
  readonly sessions: (rows: DatabaseRows) => Iterable<TableSession>;
}

/** A reader of the databases of these tools. */
export function readerOfDatabases(databases: readonly BuiltInDatabase[]): DatabaseReader {
  return {
    mayBe: (name) => databases.some((one) => one.mayBe(name)),
    isFollowed: (name) => databases.some((one) => one.mayBe(name)),
    keeps: { not: 'Stemma keeps each session of the database instead of the database, which changes with every message.' },
    recognize: (tables) => databases.some((one) => one.recognize(tables)),
    aside: databases.flatMap(({ aside = [] }) => aside),
    *members(rows) {
      const one = databases.find(({ recognize }) => recognize(rows.tables));
      if (!one) return;
      for (const session of one.sessions(rows)) yield readMember(one.mapping, session);
    },
  };
}

function readMember(mapping: MappingRules, { id, stamp, title, cwd, startedIn, records }: TableSession): Member {
  const facts = defined({ title: title ? clip(title) : undefined, cwd: cwd || undefined });
  const about = { sessionId: id, agent: mapping.name, ...facts, ...(startedIn && { startedIn, subagent: 'agent' }) };
  return { id, stamp, ...facts, lines: () => wrapLines(formatId, id, about, wrapRecords(applied(mapping), records(), id)) };
}
