import { badRequest, type CommitSeq, type ContextId, type EntryKey, inWords, toTimestamp } from '../base/index.js';
import { contextColumns, hiddenCommits, type ReadChain, readParsed, type StoredDelta } from '../chain/index.js';
import type { InputOf, Kind, OutputOf, SearchHit } from '../contract/index.js';
import { matchingRow } from '../store/index.js';
import { kindDigit, pendingOf, searchableText } from './indexing.js';
import { everywhere, type Matching, rank } from './ranking.js';
import { lacksWords, type Pattern, patternsOf, phrasesOf, snippetOf } from './words.js';

export type SearchQuery = InputOf<'search.query'>;

/** True for a commit that matches its checksum. */
const intactCommit = matchingRow(contextColumns, 'c');

interface Found extends StoredDelta {
  readonly no: number;
  readonly place: number;
  readonly id: ContextId;
  readonly createdAt: number;
  readonly sessionId: string | null;
  readonly summary: string | null;
}

/** Finds entries that contain all words of a query. @throws BAD_REQUEST for a query without words. */
export function query(chain: ReadChain, input: SearchQuery): OutputOf<'search.query'> {
  const phrases = phrasesOf(input.text);
  if (phrases.length === 0) throw badRequest('text', `${inWords(input.text)} has no letter or digit to search for`);
  const pending = pendingOf(chain);
  const { best, total, isExact } = rank(chain, phrases, matchingOf(chain, input.filter), input.limit ?? 20);
  const rows = new Map(
    chain.db
      .all<Found>(
        `SELECT j.value AS no, j.value - ${ofEntry('j.value', 'first')} AS place, c.id, c.artifact, c.format, c.createdAt, CASE WHEN ${intactCommit} THEN c.sessionId END AS sessionId,
                CASE WHEN ${intactCommit} THEN c.summary END AS summary
           FROM json_each(?) j CROSS JOIN commits c ON c.seq = ${ofEntry('j.value', 'context')}`,
        JSON.stringify(best.map(({ no }) => no)),
      )
      .map((row) => [row.no, row] as const),
  );
  const patterns = patternsOf(phrases);
  const hits = best.flatMap(({ no, score }) => hitOf(chain, rows.get(no), score, patterns) ?? []);
  return { total, isExact, hits, pending };
}

/** A column of `searchCommit`, as SQL, for the commit whose entry has this row of the index. */
const ofEntry = (no: string, fact: string): string => `(SELECT ${fact} FROM searchCommit WHERE first <= ${no} ORDER BY first DESC LIMIT 1)`;

function matchingOf(chain: ReadChain, filter: SearchQuery['filter']): Matching {
  const { where, values } = conditions(filter, hiddenCommits(chain, { archived: true }));
  // Without a filter the index is enough. Looking up each match would take longer than the search itself.
  const isAlone = chain.db.one('SELECT 1 FROM project WHERE no <> ?', chain.project) === undefined;
  if (where === '' && isAlone) return everywhere;
  // CROSS JOIN keeps the order: SQLite must search the index first and look up its matches.
  const sql = `FROM searchWords CROSS JOIN commits c ON c.seq = ${ofEntry('searchWords.rowid', 'context')}
    WHERE searchWords MATCH ? AND c.project = ${chain.project}${where}`;
  return { sql, values };
}

/** The condition of each filter. A subagent's template begins with its agent and a slash. */
const filtered = {
  sessionId: 'c.sessionId = ?',
  principal: 'c.principal = ?',
  template: 'c.template = ?',
  agent: "substr(c.template, 1, instr(c.template || '/', '/') - 1) = ?",
  from: 'c.createdAt >= ?',
  to: 'c.createdAt < ?',
  kind: `${ofEntry('searchWords.rowid', 'substr(kinds, searchWords.rowid - first + 1, 1)')} = ?`,
} as const;

function storedValue(name: keyof typeof filtered, value: string): string | number {
  if (name === 'from' || name === 'to') return Date.parse(value);
  return name === 'kind' ? kindDigit(value as Kind) : value;
}

function conditions(filter: SearchQuery['filter'], hidden: ReadonlySet<CommitSeq>): { where: string; values: (string | number)[] } {
  const wanted = (Object.keys(filtered) as (keyof typeof filtered)[]).flatMap((name) => {
    const value = filter?.[name];
    return value === undefined ? [] : [{ sql: filtered[name], value: storedValue(name, value) }];
  });
  // The index keeps entries of deleted sessions, so that they are found again when the session is restored.
  const without = hidden.size > 0 ? ' AND c.seq NOT IN (SELECT value FROM json_each(?))' : '';
  return {
    where: wanted.map(({ sql }) => ` AND ${sql}`).join('') + without,
    values: [...wanted.map(({ value }) => value), ...(hidden.size > 0 ? [JSON.stringify([...hidden])] : [])],
  };
}

function hitOf(chain: ReadChain, row: Found | undefined, score: number, patterns: readonly Pattern[]): SearchHit | undefined {
  const entry = row && readParsed(chain, row).entries[row.place];
  // A damaged index may return an entry without the words, which is no hit.
  if (!entry || lacksWords(searchableText(entry), patterns)) return undefined;
  return {
    commit: row.id,
    entryKey: entry.key as EntryKey,
    ...snippetOf(searchableText(entry), patterns),
    score,
    role: entry.role,
    kind: entry.kind,
    at: entry.at ?? toTimestamp(row.createdAt),
    ...(row.sessionId !== null && { sessionId: row.sessionId }),
    ...(row.summary !== null && { summary: row.summary }),
  };
}
