import type { ArtifactNo, CommitSeq } from '../base/index.js';
import { commitAt, lineage, type WriteChain } from '../chain/index.js';
import { joinAnswers, takeRecords } from '../requests/index.js';

/** The most bytes of a received file that are read at once. Pieces may name one object a million times, so that a small item would fill the memory. */
const mostBytes = 512 * 1024 * 1024;

/**
 * Reads the model calls that a received file records, as its import did. They are derived from the file, so they are not sent themselves. Does nothing for a
 * file that is too large. Call it inside the transaction that stores the file's row.
 */
export function readRecordedCalls(chain: WriteChain, source: number): void {
  const row = chain.db.one<{ format: string; pieces: string; tips: string }>('SELECT format, pieces, tips FROM source WHERE no = ?', source);
  if (!row) return;
  const pieces = JSON.parse(row.pieces) as [artifact: ArtifactNo, start: number, length: number][];
  if (pieces.reduce((sum, [, , length]) => sum + length, 0) > mostBytes) return;
  const bytes = Buffer.concat(pieces.map(([artifact, start, length]) => chain.artifacts.readRange(artifact, start, start + length)));
  const records = takeRecords(chain, { bytes, whole: () => bytes, format: row.format, from: 0, source: undefined });
  if (!records) return;
  records.save(source);
  const commits = (JSON.parse(row.tips) as CommitSeq[]).flatMap((tip) => lineage(chain, commitAt(chain, tip)));
  joinAnswers(chain, new Set(commits.map(({ seq }) => seq)));
}
