import { basename } from 'node:path';
import type { CommitSeq } from '../base/index.js';
import { type Chain, commitAt, remember, update } from '../chain/index.js';
import type { Skip } from '../contract/index.js';
import { type ImportPlan, importableFormats, type KnownRecords } from '../formats/index.js';
import { allSources, type SourceRow, sourceBytes } from './sources.js';

/** Under this a commit is known whose session goes on from another that was not here: the other's name stands behind it. */
const waits = 'waits for ';

export const rememberWaiting = (chain: Chain, seq: CommitSeq, name: string): void =>
  remember(chain, { seq }, [`${waits}${name} ${commitAt(chain, seq).id}`]);

interface Waiting {
  readonly record: string;
  readonly context: CommitSeq;
}

/** Tips of a session that was taken in again, behind the one that it goes on from. */
export type Store = (source: SourceRow, bytes: Uint8Array, plan: ImportPlan) => readonly CommitSeq[];

/**
 * Sessions that wait for the file at the path are taken in again out of the store, now behind it: their records are found in the new
 * commits from then on. What was taken in before stays, since commits never change; its tips are tagged as superseded.
 */
export function attachWaiting(chain: Chain, path: string, store: Store): Skip[] {
  const name = basename(path);
  const waiting = chain.db
    .all<Waiting>('SELECT record, context FROM record WHERE project = ? AND record >= ? AND record < ?', chain.project, waits, `${waits}\u{10ffff}`)
    .filter(({ record }) => name.includes(record.slice(waits.length, record.lastIndexOf(' '))));
  return waiting.flatMap((one) => attach(chain, one, store));
}

function attach(chain: Chain, { record, context }: Waiting, store: Store): Skip[] {
  const before = descendants(chain, context);
  const source = allSources(chain).find(({ tips }) => tips.some((seq) => before.has(seq)));
  const format = importableFormats.find(({ id }) => id === source?.format);
  if (!source || !format) return [];
  const known: KnownRecords = {
    has: (one) => {
      const holder = chain.db.one<{ context: CommitSeq }>('SELECT context FROM record WHERE project = ? AND record = ?', chain.project, one);
      return holder !== undefined && !before.has(holder.context);
    },
  };
  const bytes = sourceBytes(chain, source);
  const plan = format.plan(bytes, { path: source.path, known, resumeAt: 0, granularity: 'turn_boundary' });
  if (plan.awaits !== undefined) return [];
  const tips = store(source, bytes, plan);
  chain.db.run('UPDATE source SET tips = ? WHERE no = ?', JSON.stringify(tips), source.no);
  chain.db.run('DELETE FROM record WHERE project = ? AND record = ?', chain.project, record);
  for (const seq of source.tips) {
    const { id, tags } = commitAt(chain, seq);
    update(chain, id, { tags: [...new Set([...(tags === null ? [] : (JSON.parse(tags) as string[])), 'superseded'])] });
  }
  return [{ path: source.path, line: 0, reason: 'what it goes on from is here now: it was taken in again behind that' }];
}

/** The commit and all that stand on it. */
function descendants(chain: Chain, first: CommitSeq): ReadonlySet<CommitSeq> {
  const rows = chain.db.all<{ seq: CommitSeq }>(
    'WITH RECURSIVE above(seq) AS (SELECT ? UNION SELECT c.seq FROM context c JOIN above ON c.parent = above.seq) SELECT seq FROM above',
    first,
  );
  return new Set(rows.map(({ seq }) => seq));
}
