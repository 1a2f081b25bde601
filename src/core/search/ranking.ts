import type { ReadChain } from '../chain/index.js';
import { rowsOfIndex } from './indexing.js';
import { matchOf, type Phrase } from './words.js';

/** The FROM and WHERE of a search. Its first `?` is the FTS5 query, `values` are for the others. */
export interface Matching {
  readonly sql: string;
  readonly values: readonly (string | number)[];
}

export interface Ranking {
  readonly best: readonly { readonly no: number; readonly score: number }[];
  readonly total: number;
  /** False if counting stopped at a limit and there are more matches. */
  readonly isExact: boolean;
}

/** Ranking reads statistics for each match, so only this many of the newest matches are ranked. */
const ranked = 2_000;
const counted = 10_000;
/** The newest matches, after a FROM and WHERE. */
const newestRanked = `ORDER BY searchWords.rowid DESC LIMIT ${ranked}`;

/** From this many entries on, those without words included, ranking every entry with one of the words takes noticeable time. */
const manyEntries = 100_000;
/** In a large index, a word that occurs in more entries than this must match but does not count for the rank. */
const tooCommon = 5_000;
/** A prefix matches every word that starts with it. In a large index, shorter prefixes match as whole words only. */
const minBeginningLength = 3;

/** The best of the newest matches, best first. Of equal matches, the newer one comes first. */
export function rank(chain: ReadChain, phrases: readonly Phrase[], matching: Matching, limit: number, many = manyEntries): Ranking {
  return rowsOfIndex(chain) < many ? rankAll(chain, phrases, matching, limit) : rankNewest(chain, phrases.map(closed), matching, limit);
}

function rankAll(chain: ReadChain, phrases: readonly Phrase[], { sql, values }: Matching, limit: number): Ranking {
  const best = chain.db.all<{ no: number; score: number; matches: number }>(
    `WITH matched AS MATERIALIZED (SELECT searchWords.rowid AS no, -searchWords.rank AS score ${sql} ${newestRanked})
     SELECT no, score, (SELECT COUNT(*) FROM matched) AS matches FROM matched ORDER BY score DESC, no DESC LIMIT ${limit}`,
    matchOf(phrases),
    ...values,
  );
  return { best, ...totalOf(chain, best[0]?.matches ?? 0, phrases, { sql, values }) };
}

/** bm25 reads every entry with any of the words, so only rare words count for the rank. */
function rankNewest(chain: ReadChain, given: readonly Phrase[], { sql, values }: Matching, limit: number): Ranking {
  const { phrases, newest } = newestOf(chain, given, { sql, values });
  const rare = newest.length < 2 ? [] : phrases.filter((phrase) => countOf(chain, matchOf([phrase]), everywhere, tooCommon) < tooCommon);
  const scored = 'SELECT rowid, -rank FROM searchWords WHERE searchWords MATCH ? AND rowid BETWEEN ? AND ?';
  const between = [newest.at(-1) ?? 0, newest[0] ?? 0];
  const scores = new Map(rare.length === 0 ? [] : chain.db.rows<[no: number, score: number]>(scored, matchOf(rare), between));
  const best = newest.map((no) => ({ no, score: scores.get(no) ?? 0 })).sort((a, b) => b.score - a.score || b.no - a.no);
  return { best: best.slice(0, limit), ...totalOf(chain, newest.length, phrases, { sql, values }) };
}

/**
 * The newest matches. The last word is taken as a beginning only if few entries have it as a word: SQLite adds up the lists of all words with that
 * beginning before it returns the first match.
 */
function newestOf(chain: ReadChain, given: readonly Phrase[], { sql, values }: Matching) {
  const find = (phrases: readonly Phrase[]): number[] =>
    chain.db.column(`SELECT searchWords.rowid ${sql} ${newestRanked}`, matchOf(phrases), ...values);
  const whole = given.map((phrase) => ({ ...phrase, isOpen: false }));
  const newest = find(whole);
  return newest.length >= ranked || !given.some(({ isOpen }) => isOpen) ? { phrases: whole, newest } : { phrases: given, newest: find(given) };
}

const closed = (phrase: Phrase): Phrase =>
  phrase.isOpen && phrase.words.length === 1 && (phrase.words[0]?.length ?? 0) < minBeginningLength ? { ...phrase, isOpen: false } : phrase;

export const everywhere: Matching = { sql: 'FROM searchWords WHERE searchWords MATCH ?', values: [] };

function totalOf(chain: ReadChain, found: number, phrases: readonly Phrase[], matching: Matching): Pick<Ranking, 'total' | 'isExact'> {
  const total = found < ranked ? found : countOf(chain, matchOf(phrases), matching, counted + 1);
  return { total: Math.min(total, counted), isExact: total <= counted };
}

const countOf = (chain: ReadChain, match: string, { sql, values }: Matching, most: number): number =>
  chain.db.value(`SELECT COUNT(*) FROM (SELECT 1 ${sql} LIMIT ${most})`, match, ...values) ?? 0;
