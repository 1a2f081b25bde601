import { type ArtifactNo, type CommitSeq, orUndefined } from '../base/index.js';
import { outlineVersion, type ReadChain, saveOutline, type WriteChain } from '../chain/index.js';
import { type Kind, kinds } from '../contract/index.js';
import { encodeOutline, findReader, isHidden, outlineOfParsed, type ParsedDelta, type ParsedEntry } from '../formats/index.js';
import { upToBytes } from '../store/index.js';
import { indexable } from './words.js';

/** Maximum number of indexed characters of a text: the words of huge outputs are mostly numbers. */
const maxTextLength = 200_000;
/**
 * The size of a batch, which is one transaction and one sync. The last commit may exceed the bytes. Large batches avoid later merges of
 * the index, which are its main cost. Other writers wait about a tenth of a second for a batch.
 */
const batch = { commits: 1_024, bytes: 4 * 1024 * 1024 };

/** Indexes the commits that are not indexed yet, in short transactions. Yields after each. */
export function* indexInPieces(chain: WriteChain): Generator<undefined, void> {
  while (pendingOf(chain, 1) > 0) {
    indexBatch(chain);
    yield;
  }
}

/** Milliseconds that a query waits for the index at most, so that it finds new commits. */
const catchUpMs = 150;

/** Indexes new commits for a short time, unless another process is writing. Call it before a query. */
export function catchUpIndex(chain: WriteChain): void {
  const end = chain.clock() + catchUpMs;
  if (!chain.db.isFree()) return;
  for (const _ of indexInPieces(chain)) if (chain.clock() > end || !chain.db.isFree()) return;
}

/** The last indexed commit of `:project`. */
const upTo = 'IFNULL((SELECT upTo FROM searchState WHERE project = :project), 0)';

/** The number of commits that are not indexed yet, at most `limit`. */
export const pendingOf = (chain: ReadChain, limit = Number.MAX_SAFE_INTEGER): number =>
  chain.db.value(`SELECT COUNT(*) FROM (SELECT 1 FROM commits WHERE +project = :project AND seq > ${upTo} LIMIT :limit)`, {
    project: chain.project,
    limit,
  }) ?? 0;

/** Empties the index of entries: the next search fills it again. */
export function dropSearchIndex(chain: WriteChain): void {
  chain.db.run("INSERT INTO searchWords (searchWords) VALUES ('delete-all')");
  chain.db.run('DELETE FROM searchCommit');
  chain.db.run('DELETE FROM searchState');
}

/** The number of rows of the index that belong to entries, also those without words. */
export const rowsOfIndex = ({ db }: ReadChain): number =>
  db.value('SELECT first + length(kinds) - 1 FROM searchCommit ORDER BY first DESC LIMIT 1') ?? 0;

/** The kind of an entry in the column `kinds`: its place in the list of kinds, as one digit. If a kind gets another place, raise `derivedLayout`. */
export const kindDigit = (kind: Kind): string => String(kinds.indexOf(kind));

interface Row {
  readonly seq: CommitSeq;
  readonly artifact: ArtifactNo;
  readonly format: string;
  readonly repeats: number;
  /** Bytes of its content. */
  readonly size: number | null;
  readonly hasOutline: number;
}

function indexBatch(chain: WriteChain): void {
  chain.db.transaction(() => {
    const rows = nextRows(chain);
    const wanted = rows.filter(({ repeats }) => !repeats);
    // Parses the whole batch before the inserts, because parsing between them would push the index out of the cache.
    let next = rowsOfIndex(chain) + 1;
    const entries = contentsOf(chain, wanted).flatMap((content, at) => {
      const row = wanted[at] as Row;
      const parsed = content && findReader(row.format).parse(content);
      if (!parsed) return [];
      // An import stores the outlines. They are missing if derived data was begun anew.
      if (!row.hasOutline) saveOutline(chain, row, encodeOutline(outlineOfParsed(parsed)));
      const first = next;
      next += parsed.entries.length;
      if (next > first) chain.db.run(insertCommit, first, row.seq, parsed.entries.map(({ kind }) => kindDigit(kind)).join(''));
      return wordsOf(parsed, first);
    });
    for (const { no, words } of entries) chain.db.run(insertWords, no, words);
    const last = rows.at(-1);
    const indexed = 'INSERT INTO searchState (project, upTo) VALUES (?, ?) ON CONFLICT (project) DO UPDATE SET upTo = excluded.upTo';
    if (last) chain.db.run(indexed, chain.project, last.seq);
  });
}

function nextRows(chain: ReadChain): readonly Row[] {
  const rows = chain.db.all<Row>(
    // A snapshot with a parent repeats the content of its deltas.
    `SELECT c.seq, c.artifact, c.format, c.type = 'snapshot' AND c.parent IS NOT NULL AS repeats, (SELECT a.size FROM artifact a WHERE a.no = c.artifact) AS size,
            EXISTS (SELECT 1 FROM outline o WHERE o.artifact = c.artifact AND o.format = c.format AND o.parser = ${outlineVersion}) AS hasOutline
       FROM commits c WHERE +c.project = :project AND c.seq > ${upTo} ORDER BY c.seq LIMIT ${batch.commits}`,
    { project: chain.project },
  );
  return upToBytes(rows, batch.bytes);
}

/** The contents of a batch, read together and not cached. A damaged or expired object has no content. */
function contentsOf(chain: ReadChain, rows: readonly Row[]): (Uint8Array | undefined)[] {
  const ifThere = <Read>(read: () => Read): Read | undefined => orUndefined(read, ['CORRUPT', 'NOT_FOUND']);
  const together = ifThere(() => chain.artifacts.readAll(rows.map(({ artifact }) => artifact)));
  return together ?? rows.map(({ artifact }) => ifThere(() => chain.artifacts.read(artifact)));
}

const insertCommit = 'INSERT INTO searchCommit (first, context, kinds) VALUES (?, ?, ?)';
const insertWords = 'INSERT INTO searchWords (rowid, words) VALUES (?, ?)';

/** The words of the entries of a commit that have some, with the rows of the index that belong to them. */
const wordsOf = ({ entries }: ParsedDelta, first: number): { readonly no: number; readonly words: string }[] =>
  entries
    .map((entry, place) => ({ no: first + place, words: isHidden(entry) ? '' : indexable(searchableText(entry)) }))
    .filter(({ words }) => words !== '');

/** The searchable text of an entry: its tool, the texts of its arguments, and its text. */
export function searchableText(entry: Pick<ParsedEntry, 'text' | 'toolName' | 'arguments'>): string {
  const parts = [entry.toolName, ...textsIn(entry.arguments), entry.text].filter((part): part is string => part !== undefined && part !== '');
  return parts.join('\n').slice(0, maxTextLength);
}

function textsIn(value: unknown, depth = 0): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null || depth > 8) return [];
  return Object.values(value).flatMap((member) => textsIn(member, depth + 1));
}
