import { basename } from 'node:path';
import type { CommitSeq } from '../base/index.js';
import { commitAt, type ReadChain, remember, update, type WriteChain } from '../chain/index.js';
import type { Skip } from '../contract/index.js';
import { type ImportPlan, importableFormats, type KnownRecords } from '../formats/index.js';
import { allSources, type SourceRow, sourceBytes } from './sources.js';

/** The prefix of a record for a commit whose session continues a session that is not imported yet. The name of that session follows. */
const waits = 'waits for ';

/** Records that a commit waits for the session of this name. */
export const rememberWaiting = (chain: WriteChain, seq: CommitSeq, name: string): void =>
  remember(chain, { seq }, [`${waits}${name} ${commitAt(chain, seq).id}`]);

interface Waiting {
  readonly record: string;
  readonly context: CommitSeq;
}

/** Stores a session again, now as the continuation of another one, and returns its tips. */
export type Store = (source: SourceRow, bytes: Uint8Array, plan: ImportPlan) => readonly CommitSeq[];

/**
 * Imports the sessions that wait for the file at the path again, from their stored bytes, now as its continuation. From then on, their
 * records belong to the new commits. The earlier commits stay, because commits never change; their tips get the tag `superseded`.
 */
export function attachWaiting(chain: WriteChain, path: string, store: Store): Skip[] {
  const name = basename(path);
  const waiting = chain.db
    .all<Waiting>('SELECT record, context FROM record WHERE project = ? AND record >= ? AND record < ?', chain.project, waits, `${waits}\u{10ffff}`)
    .filter(({ record }) => name.includes(record.slice(waits.length, record.lastIndexOf(' '))));
  return waiting.flatMap((one) => attach(chain, one, store));
}

function attach(chain: WriteChain, { record, context }: Waiting, store: Store): Skip[] {
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
  return [{ path: source.path, line: 0, reason: 'the session that it continues was imported, so this file was imported again as its continuation' }];
}

/** The commit and all its descendants. */
function descendants(chain: ReadChain, first: CommitSeq): ReadonlySet<CommitSeq> {
  const rows = chain.db.all<{ seq: CommitSeq }>(
    'WITH RECURSIVE above(seq) AS (SELECT ? UNION SELECT c.seq FROM context c JOIN above ON c.parent = above.seq) SELECT seq FROM above',
    first,
  );
  return new Set(rows.map(({ seq }) => seq));
}
