import { type ArtifactNo, type CommitSeq, StemmaError } from '../base/index.js';
import type { Chain } from '../chain/index.js';
import { type ParsedEntry, readerOf } from '../formats/index.js';
import { indexable } from './words.js';

/** A text longer than this is found by its beginning: the words of a huge output are mostly numbers. */
const longestText = 200_000;
/**
 * So many commits share one transaction and one sync, and so many bytes of them: the last may hold more. What is written together need not
 * be merged later, which is most of the price of an index; what waits for the writer waits a tenth of a second.
 */
const atOnce = { commits: 1_024, bytes: 4 * 1024 * 1024 };

/** Takes further commits into the index, for at most about `budgetMs`; says how many are left. */
export function indexMore(chain: Chain, budgetMs: number): { readonly pending: number } {
  const end = chain.clock() + budgetMs;
  for (;;) {
    const pending = pendingOf(chain);
    if (pending === 0 || chain.db.readonly || chain.clock() > end) return { pending };
    indexBatch(chain);
  }
}

/** The last commit that is in the index, for a `:project`. */
const upTo = 'IFNULL((SELECT upTo FROM searchState WHERE project = :project), 0)';

export const pendingOf = (chain: Chain): number =>
  chain.db.one<{ pending: number }>(`SELECT COUNT(*) AS pending FROM context WHERE +project = :project AND seq > ${upTo}`, {
    project: chain.project,
  })?.pending ?? 0;

interface Row {
  readonly seq: CommitSeq;
  readonly artifact: ArtifactNo;
  readonly format: string;
  readonly repeats: number;
  /** Bytes of its content. */
  readonly size: number;
}

function indexBatch(chain: Chain): void {
  chain.db.transaction(() => {
    const rows = nextRows(chain);
    const said = rows.filter(({ repeats }) => !repeats);
    // Each kind of work by itself: what parses in between takes from the index what it holds near.
    const entries = contentsOf(chain, said).flatMap((content, at) => (content ? entriesOf(said[at] as Row, content) : []));
    const numbers = entries.map(({ seq, place, kind }) => chain.db.run(insertEntry, chain.project, seq, place, kind).rowId);
    for (const [at, { words }] of entries.entries()) chain.db.run(insertWords, numbers[at] as number, words);
    const last = rows.at(-1);
    if (last)
      chain.db.run(
        'INSERT INTO searchState (project, upTo) VALUES (?, ?) ON CONFLICT (project) DO UPDATE SET upTo = excluded.upTo',
        chain.project,
        last.seq,
      );
  });
}

function nextRows(chain: Chain): Row[] {
  const rows = chain.db.all<Row>(
    // A snapshot with a parent says again what the deltas say.
    `SELECT c.seq, c.artifact, c.format, c.type = 'snapshot' AND c.parent IS NOT NULL AS repeats, (SELECT a.size FROM artifact a WHERE a.no = c.artifact) AS size
       FROM context c WHERE +c.project = :project AND c.seq > ${upTo} ORDER BY c.seq LIMIT ${atOnce.commits}`,
    { project: chain.project },
  );
  let bytes = 0;
  const cut = rows.findIndex(({ size }) => {
    bytes += size;
    return bytes >= atOnce.bytes;
  });
  return cut < 0 ? rows : rows.slice(0, cut + 1);
}

/** Contents as they lie together, without keeping what was parsed for others. One that is damaged or over its time has no words. */
function contentsOf(chain: Chain, rows: readonly Row[]): (Uint8Array | undefined)[] {
  const isGone = (error: unknown): boolean => error instanceof StemmaError && (error.code === 'CORRUPT' || error.code === 'NOT_FOUND');
  try {
    return chain.artifacts.readAll(rows.map(({ artifact }) => artifact));
  } catch (error) {
    if (!isGone(error)) throw error;
  }
  return rows.map(({ artifact }) => {
    try {
      return chain.artifacts.read(artifact);
    } catch (error) {
      if (!isGone(error)) throw error;
      return undefined;
    }
  });
}

/** An entry as the index takes it. */
interface Said {
  readonly seq: CommitSeq;
  readonly place: number;
  readonly kind: string;
  readonly words: string;
}

const insertEntry = 'INSERT INTO searchEntry (project, context, place, kind) VALUES (?, ?, ?, ?)';
const insertWords = 'INSERT INTO searchWords (rowid, words) VALUES (?, ?)';

const entriesOf = ({ seq, format }: Row, content: Uint8Array): Said[] =>
  readerOf(format)
    .parse(content)
    .entries.map((entry, place) => ({
      seq,
      place,
      kind: entry.kind,
      words: entry.marks?.includes('hidden') ? '' : indexable(searchableText(entry)),
    }))
    .filter(({ words }) => words !== '');

/** What of an entry can be searched: its text, its tool, and the texts that the call was made with. */
export function searchableText(entry: Pick<ParsedEntry, 'text' | 'toolName' | 'arguments'>): string {
  const parts = [entry.toolName, ...textsIn(entry.arguments), entry.text].filter((part): part is string => part !== undefined && part !== '');
  return parts.join('\n').slice(0, longestText);
}

function textsIn(value: unknown, depth = 0): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null || depth > 8) return [];
  return Object.values(value).flatMap((member) => textsIn(member, depth + 1));
}
