import { badRequest, type CommitSeq, type ContextId, type EntryKey, inWords, timestampOf } from '../base/index.js';
import { type Chain, parsedOf } from '../chain/index.js';
import type { Kind, SearchHit } from '../contract/index.js';
import { indexMore, searchableText } from './indexing.js';
import { matchOf, patternsOf, phrasesOf, snippetOf } from './words.js';

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
  const best = chain.db.all<{ no: number; score: number; matches: number }>(
    `SELECT no, score, COUNT(*) OVER () AS matches
       FROM (SELECT searchWords.rowid AS no, -bm25(searchWords) AS score ${matching} ORDER BY searchWords.rowid DESC LIMIT ?)
      ORDER BY score DESC, no DESC LIMIT ?`,
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
  const hits = best.flatMap(({ no, score }) => hitOf(chain, no, score, patterns) ?? []);
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

function hitOf(chain: Chain, no: number, score: number, patterns: readonly RegExp[]): SearchHit | undefined {
  const entryRow = chain.db.one<{ context: CommitSeq; place: number }>('SELECT context, place FROM searchEntry WHERE no = ?', no);
  const row =
    entryRow && chain.db.one<Found>('SELECT id, artifact, format, createdAt, sessionId, summary FROM context WHERE seq = ?', entryRow.context);
  const entry = row && parsedOf(chain, row.artifact, row.format).entries[entryRow.place];
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
