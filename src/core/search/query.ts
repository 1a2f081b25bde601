import { badRequest, type ContextId, type EntryKey, inWords, timestampOf } from '../base/index.js';
import { type Chain, parsedOf } from '../chain/index.js';
import type { Kind, SearchHit } from '../contract/index.js';
import { indexMore, searchableText } from './indexing.js';
import { type Matching, rank } from './ranking.js';
import { type Pattern, patternsOf, phrasesOf, snippetOf } from './words.js';

export interface SearchQuery {
  readonly text: string;
  readonly filter?:
    | {
        readonly sessionId?: string | undefined;
        readonly principal?: string | undefined;
        readonly template?: string | undefined;
        readonly kind?: Kind | undefined;
      }
    | undefined;
  readonly limit?: number | undefined;
}

export interface SearchResult {
  readonly total: number;
  /** False where there are more matches than are counted. */
  readonly isExact: boolean;
  readonly hits: SearchHit[];
  readonly pending: number;
}

/** A question takes a little of what is not indexed yet along, so that what was just committed is found. */
const catchUpMs = 150;
interface Found {
  readonly no: number;
  readonly place: number;
  readonly id: ContextId;
  readonly artifact: Parameters<typeof parsedOf>[1];
  readonly format: string;
  readonly createdAt: number;
  readonly sessionId: string | null;
  readonly summary: string | null;
}

/** Entries with all the words of a question. @throws BAD_REQUEST where there is no word in it. */
export function query(chain: Chain, input: SearchQuery): SearchResult {
  const phrases = phrasesOf(input.text);
  if (phrases.length === 0) throw badRequest('text', `${inWords(input.text)} has no letter or digit to search for`);
  const { pending } = indexMore(chain, catchUpMs);
  const { best, total, isExact } = rank(chain, phrases, matchingOf(chain, input.filter), input.limit ?? 20);
  const rows = new Map(
    chain.db
      .all<Found>(
        `SELECT e.no, e.place, c.id, c.artifact, c.format, c.createdAt, c.sessionId, c.summary
           FROM json_each(?) j CROSS JOIN searchEntry e ON e.no = j.value CROSS JOIN context c ON c.seq = e.context`,
        JSON.stringify(best.map(({ no }) => no)),
      )
      .map((row) => [row.no, row] as const),
  );
  const patterns = patternsOf(phrases);
  const hits = best.flatMap(({ no, score }) => hitOf(chain, rows.get(no), score, patterns) ?? []);
  return { total, isExact, hits, pending };
}

function matchingOf(chain: Chain, filter: SearchQuery['filter']): Matching {
  const { where, values } = conditions(filter);
  // Without a filter the index alone says what matches: looking each match up would take longer than all else.
  return where === '' && isAlone(chain)
    ? { sql: 'FROM searchWords WHERE searchWords MATCH ?', values }
    : {
        // The index leads: what it matches is looked up, never the other way round.
        sql: `FROM searchWords CROSS JOIN searchEntry e ON e.no = searchWords.rowid CROSS JOIN context c ON c.seq = e.context
          WHERE searchWords MATCH ? AND e.project = ${chain.project}${where}`,
        values,
      };
}

/** Whether all that is indexed is of this project: a database may hold several. */
const isAlone = (chain: Chain): boolean => chain.db.one('SELECT 1 FROM project WHERE no <> ?', chain.project) === undefined;

/** Where each part of a filter stands. */
const filtered = { sessionId: 'c.sessionId', principal: 'c.principal', template: 'c.template', kind: 'e.kind' } as const;

function conditions(filter: SearchQuery['filter']): { where: string; values: string[] } {
  const wanted = (Object.keys(filtered) as (keyof typeof filtered)[]).flatMap((name) => {
    const value = filter?.[name];
    return value === undefined ? [] : [{ column: filtered[name], value }];
  });
  return { where: wanted.map(({ column }) => ` AND ${column} = ?`).join(''), values: wanted.map(({ value }) => value) };
}

function hitOf(chain: Chain, row: Found | undefined, score: number, patterns: readonly Pattern[]): SearchHit | undefined {
  const entry = row && parsedOf(chain, row.artifact, row.format).entries[row.place];
  if (!entry) return undefined;
  return {
    commit: row.id,
    entryKey: entry.key as EntryKey,
    ...snippetOf(searchableText(entry), patterns),
    score,
    role: entry.role,
    kind: entry.kind,
    at: entry.at ?? timestampOf(row.createdAt),
    ...(row.sessionId !== null && { sessionId: row.sessionId }),
    ...(row.summary !== null && { summary: row.summary }),
  };
}
