import type { ArtifactNo, CommitSeq } from '../base/index.js';
import { type Chain, parsedOf } from '../chain/index.js';
import type { ParsedEntry } from '../formats/index.js';
import { indexable } from './words.js';

/** A text longer than this is found by its beginning: the words of a huge output are mostly numbers. */
const longestText = 200_000;
/** So many commits share one transaction and one sync. */
const batch = 256;

/** Takes further commits into the index, for at most about `budgetMs`; says how many are left. */
export function indexMore(chain: Chain, budgetMs: number): { readonly pending: number } {
  const end = chain.clock() + budgetMs;
  for (;;) {
    const done = indexBatch(chain);
    if (done < batch || chain.clock() >= end) return { pending: pendingOf(chain) };
  }
}

export const pendingOf = (chain: Chain): number =>
  chain.db.one<{ pending: number }>('SELECT COUNT(*) AS pending FROM context WHERE project = ? AND seq > ?', chain.project, upTo(chain))?.pending ??
  0;

const upTo = (chain: Chain): number => chain.db.one<{ upTo: number }>('SELECT upTo FROM searchState WHERE project = ?', chain.project)?.upTo ?? 0;

function indexBatch(chain: Chain): number {
  if (chain.db.readonly) return 0;
  return chain.db.transaction(() => {
    const rows = chain.db.all<{ seq: CommitSeq; artifact: ArtifactNo; format: string; repeats: number }>(
      // A snapshot with a parent says again what the deltas say.
      "SELECT seq, artifact, format, type = 'snapshot' AND parent IS NOT NULL AS repeats FROM context WHERE project = ? AND seq > ? ORDER BY seq LIMIT ?",
      chain.project,
      upTo(chain),
      batch,
    );
    for (const row of rows) indexCommit(chain, row);
    const last = rows.at(-1);
    if (last)
      chain.db.run(
        'INSERT INTO searchState (project, upTo) VALUES (?, ?) ON CONFLICT (project) DO UPDATE SET upTo = excluded.upTo',
        chain.project,
        last.seq,
      );
    return rows.length;
  });
}

function indexCommit(chain: Chain, row: { seq: CommitSeq; artifact: ArtifactNo; format: string; repeats: number }): void {
  if (row.repeats) return;
  for (const [place, entry] of parsedOf(chain, row.artifact, row.format).entries.entries()) {
    const words = searchableText(entry);
    if (!words || entry.marks?.includes('hidden')) continue;
    const { rowId } = chain.db.run(
      'INSERT INTO searchEntry (project, context, place, kind) VALUES (?, ?, ?, ?)',
      chain.project,
      row.seq,
      place,
      entry.kind,
    );
    chain.db.run('INSERT INTO searchWords (rowid, words) VALUES (?, ?)', rowId, indexable(words));
  }
}

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
