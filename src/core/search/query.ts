import { badRequest, type ContextId, type EntryKey, inWords, timestampOf } from '../base/index.js';
import { type Chain, parsedOf } from '../chain/index.js';
import type { Kind, SearchHit } from '../contract/index.js';
import { indexMore, searchableText } from './indexing.js';
import { matchOf, type Pattern, patternsOf, phrasesOf, snippetOf } from './words.js';

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
/** Ranking reads statistics of each match: the newest so many are ranked, all others are older. */
const ranked = 2_000;
const counted = 10_000;

interface Found {
  readonly no: number;
  readonly score: number;
  /** Of all that was ranked, how much there is. */
  readonly matches: number;
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
  const match = matchOf(phrases);
  if (match === undefined) throw badRequest('text', `${inWords(input.text)} has no letter or digit to search for`);
  const { pending } = indexMore(chain, catchUpMs);
  const { where, values } = conditions(input.filter);
  // Without a filter the index alone says what matches: looking each match up would take longer than all else.
  const matching =
    where === '' && isAlone(chain)
      ? 'FROM searchWords WHERE searchWords MATCH ?'
      : // The index leads: what it matches is looked up, never the other way round.
        `FROM searchWords CROSS JOIN searchEntry e ON e.no = searchWords.rowid CROSS JOIN context c ON c.seq = e.context
          WHERE searchWords MATCH ? AND e.project = ${chain.project}${where}`;
  const best = chain.db.all<Found>(
    `SELECT b.no, b.score, b.matches, e.place, c.id, c.artifact, c.format, c.createdAt, c.sessionId, c.summary
       FROM (SELECT no, score, COUNT(*) OVER () AS matches
               FROM (SELECT searchWords.rowid AS no, -bm25(searchWords) AS score ${matching} ORDER BY searchWords.rowid DESC LIMIT ?)
              ORDER BY score DESC, no DESC LIMIT ?) b
      CROSS JOIN searchEntry e ON e.no = b.no CROSS JOIN context c ON c.seq = e.context`,
    match,
    ...values,
    ranked,
    input.limit ?? 20,
  );
  const few = best[0]?.matches ?? 0;
  const total =
    few < ranked
      ? few
      : (chain.db.one<{ total: number }>(`SELECT COUNT(*) AS total FROM (SELECT 1 ${matching} LIMIT ?)`, match, ...values, counted + 1)?.total ?? 0);
  const patterns = patternsOf(phrases);
  const hits = best.toSorted((a, b) => b.score - a.score || b.no - a.no).flatMap((row) => hitOf(chain, row, patterns) ?? []);
  return { total: Math.min(total, counted), isExact: total <= counted, hits, pending };
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

function hitOf(chain: Chain, row: Found, patterns: readonly Pattern[]): SearchHit | undefined {
  const entry = parsedOf(chain, row.artifact, row.format).entries[row.place];
  if (!entry) return undefined;
  return {
    commit: row.id,
    entryKey: entry.key as EntryKey,
    ...snippetOf(searchableText(entry), patterns),
    score: row.score,
    role: entry.role,
    kind: entry.kind,
    at: entry.at ?? timestampOf(row.createdAt),
    ...(row.sessionId !== null && { sessionId: row.sessionId }),
    ...(row.summary !== null && { summary: row.summary }),
  };
}
