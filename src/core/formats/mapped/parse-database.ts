import type { DatabaseReader, DatabaseRows, Member } from '../format.js';
import { clip } from '../shared/headline.js';
import { wrapLines } from '../shared/wrapped.js';
import { type Applied, applied } from './apply.js';
import { formatId, type Unmapped, wrapRecords } from './parse-document.js';
import type { MappingRules } from './rules.js';

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
  const ready = new Map<BuiltInDatabase, Applied>();
  return {
    mayBe: (name) => databases.some((one) => one.mayBe(name)),
    isFollowed: (name) => databases.some((one) => one.mayBe(name)),
    keeps: { not: 'Stemma keeps each session of the database instead of the database, which changes with every message.' },
    recognize: (tables) => databases.some((one) => one.recognize(tables)),
    aside: databases.flatMap(({ aside = [] }) => aside),
    *members(rows) {
      const one = databases.find(({ recognize }) => recognize(rows.tables));
      if (!one) return;
      const prepared = ready.get(one) ?? applied(one.mapping);
      ready.set(one, prepared);
      for (const session of one.sessions(rows)) yield readMember(one.mapping.name, prepared, session);
    },
  };
}

function readMember(agent: string, prepared: Applied, { id, stamp, title: given, cwd, startedIn, records }: TableSession): Member {
  const title = given === undefined ? undefined : clip(given);
  const facts = { ...(title !== undefined && { title }), ...(cwd !== undefined && { cwd }) };
  return {
    id,
    stamp,
    ...facts,
    lines: () =>
      wrapLines(
        formatId,
        id,
        { sessionId: id, agent, ...facts, ...(startedIn !== undefined && { startedIn, subagent: 'agent' }) },
        wrapRecords(prepared, records(), id),
      ),
  };
}
