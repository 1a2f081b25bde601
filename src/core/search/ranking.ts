import type { Chain } from '../chain/index.js';
import { matchOf, type Phrase } from './words.js';

/** Where matches are looked for: a FROM and a WHERE whose first `?` is the question, and values for the others. */
export interface Matching {
  readonly sql: string;
  readonly values: readonly string[];
}

export interface Ranking {
  readonly best: readonly { readonly no: number; readonly score: number }[];
  readonly total: number;
  /** False where there are more matches than are counted. */
  readonly isExact: boolean;
}

/** Ranking reads statistics of each match: the newest so many are ranked, all others are older. */
const ranked = 2_000;
const counted = 10_000;
/** The newest matches, behind a FROM and WHERE. Numbers stand in the text here: a LIMIT with a `?` is planned anew each time it is asked. */
const newestRanked = `ORDER BY searchWords.rowid DESC LIMIT ${ranked}`;

/** From so many entries on, what every entry with a word of the question would cost is felt. */
const manyEntries = 100_000;
/** In so many entries a word that stands in more of them says little of any: it must be there, and counts for nothing. */
const tooCommon = 5_000;
/** A beginning stands for all its words: in so many entries shorter ones are words. */
const shortestBeginning = 3;

/** The best of the newest matches, best first; of two alike the newer. */
export function rank(chain: Chain, phrases: readonly Phrase[], matching: Matching, limit: number, many = manyEntries): Ranking {
  const highest = chain.db.one<{ no: number | null }>('SELECT MAX(no) AS no FROM searchEntry')?.no ?? 0;
  return highest < many ? rankAll(chain, phrases, matching, limit) : rankNewest(chain, phrases.map(closed), matching, limit);
}

function rankAll(chain: Chain, phrases: readonly Phrase[], { sql, values }: Matching, limit: number): Ranking {
  const best = chain.db.all<{ no: number; score: number; matches: number }>(
    `WITH matched AS MATERIALIZED (SELECT searchWords.rowid AS no, -searchWords.rank AS score ${sql} ${newestRanked})
     SELECT no, score, (SELECT COUNT(*) FROM matched) AS matches FROM matched ORDER BY score DESC, no DESC LIMIT ${limit}`,
    matchOf(phrases),
    ...values,
  );
  return { best, ...totalOf(chain, best[0]?.matches ?? 0, phrases, { sql, values }) };
}

/** bm25 goes through every entry with any of the words: here only those words are ranked by that stand in few. */
function rankNewest(chain: Chain, phrases: readonly Phrase[], { sql, values }: Matching, limit: number): Ranking {
  const newest = chain.db
    .all<{ no: number }>(`SELECT searchWords.rowid AS no ${sql} ${newestRanked}`, matchOf(phrases), ...values)
    .map(({ no }) => no);
  const telling = newest.length < 2 ? [] : phrases.filter((phrase) => countOf(chain, matchOf([phrase]), everywhere, tooCommon) < tooCommon);
  const scores = new Map(
    telling.length === 0
      ? []
      : chain.db
          .all<{ no: number; score: number }>(
            'SELECT rowid AS no, -rank AS score FROM searchWords WHERE searchWords MATCH ? AND rowid BETWEEN ? AND ?',
            matchOf(telling),
            newest.at(-1) ?? 0,
            newest[0] ?? 0,
          )
          .map(({ no, score }) => [no, score] as const),
  );
  const best = newest.map((no) => ({ no, score: scores.get(no) ?? 0 })).sort((a, b) => b.score - a.score || b.no - a.no);
  return { best: best.slice(0, limit), ...totalOf(chain, newest.length, phrases, { sql, values }) };
}

const closed = (phrase: Phrase): Phrase =>
  phrase.isOpen && phrase.words.length === 1 && (phrase.words[0]?.length ?? 0) < shortestBeginning ? { ...phrase, isOpen: false } : phrase;

const everywhere: Matching = { sql: 'FROM searchWords WHERE searchWords MATCH ?', values: [] };

function totalOf(chain: Chain, found: number, phrases: readonly Phrase[], matching: Matching): Pick<Ranking, 'total' | 'isExact'> {
  const total = found < ranked ? found : countOf(chain, matchOf(phrases), matching, counted + 1);
  return { total: Math.min(total, counted), isExact: total <= counted };
}

const countOf = (chain: Chain, match: string, { sql, values }: Matching, most: number): number =>
  chain.db.one<{ total: number }>(`SELECT COUNT(*) AS total FROM (SELECT 1 ${sql} LIMIT ${most})`, match, ...values)?.total ?? 0;
