import type { CommitSeq, ContextId } from '../base/index.js';
import { digestOfRow, isDigestOfRow, isIdOf, type WriteChain } from '../chain/index.js';
import type { CommitRow } from './check.js';

type Named = Pick<CommitRow, 'seq' | 'id' | 'digest' | 'parent' | 'parentId' | 'createdAt' | 'template'> & { readonly hash: Buffer };

const selectNamed = /* sql */ `
SELECT c.seq, c.id, c.digest, c.parent, p.id AS parentId, a.hash, c.createdAt, c.template
  FROM commits c JOIN artifact a ON a.no = c.artifact LEFT JOIN commits p ON p.seq = c.parent WHERE c.project = ?`;

/**
 * Restores the id of a commit from its digest, or the digest from the values that it covers: each proves the other. Call it only for
 * commits whose row does not match its checksum.
 */
export function restoreNames(chain: WriteChain, unverified: ReadonlySet<CommitSeq>): void {
  for (const seq of unverified) {
    const row = chain.db.one<Named>(`${selectNamed} AND c.seq = ?`, chain.project, seq);
    if (!row || (row.parent !== null && row.parentId === null)) continue;
    const digest = digestOfRow(row, row.parentId);
    if (!digest) continue;
    if (isDigestOfRow(row, row.parentId) && !isIdOf(row.id, digest))
      chain.db.run('UPDATE OR IGNORE commits SET id = ? WHERE seq = ?', `ctx-${digest.toString('hex').slice(0, row.id.length - 'ctx-'.length)}`, seq);
    else if (isIdOf(row.id, digest)) chain.db.run('UPDATE commits SET digest = ? WHERE seq = ?', digest, seq);
  }
}

/** More pairs of commits than this are not compared. */
const maxPairs = 20_000_000;

/** Finds missing parents by the id that the child's digest covers, and links them. Such a parent was imported again under another row number. */
export function relinkOrphans(chain: WriteChain): void {
  const orphans = chain.db.all<Named>(`${selectNamed} AND c.parent IS NOT NULL AND p.seq IS NULL`, chain.project);
  if (orphans.length === 0) return;
  const ids = chain.db.all<{ seq: CommitSeq; id: ContextId }>('SELECT seq, id FROM commits WHERE project = ?', chain.project);
  if (orphans.length * ids.length > maxPairs) return;
  for (const orphan of orphans) {
    const parent = ids.find(({ id }) => isDigestOfRow(orphan, id));
    if (parent) chain.db.run('UPDATE commits SET parent = ? WHERE seq = ?', parent.seq, orphan.seq);
  }
}
