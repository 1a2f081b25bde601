import type { ArtifactNo, CommitSeq } from '../../base/index.js';
import { type ContextRow, commitAt, findCommit, goesOnWithTurn, kept, lineage, type ReadChain, readParsed, type Step } from '../../chain/index.js';
import { once } from '../shared/once.js';
import type { Delta, EarlierDeltas } from './runtime.js';

type Placed = Pick<ContextRow, 'seq' | 'parent' | 'sessionId'>;

/** What a session wrote before a commit, in the order of its file: turns that were taken back since then are included. */
export const contentBefore = (chain: ReadChain, row: Placed): EarlierDeltas => ({
  first: () => firstOf(chain, row),
  earlier: () => earlierThan(chain, row, (artifact) => chain.artifacts.read(artifact)),
  found: (kind, find) =>
    earlierThan(chain, row, (artifact) =>
      kept(
        chain,
        kind,
        String(artifact),
        '',
        () => find(chain.artifacts.read(artifact)),
        () => bytesPerFinding,
      ),
    ),
  parent: () => findParent(chain, row),
});

function findParent(chain: ReadChain, { seq }: Placed): ReturnType<EarlierDeltas['parent']> {
  const own = commitAt(chain, seq);
  if (own.parent === null || !goesOnWithTurn(chain, own)) return undefined;
  const row = commitAt(chain, own.parent);
  return { format: row.format, bytes: chain.artifacts.read(row.artifact), before: contentBefore(chain, row) };
}

function firstOf(chain: ReadChain, { seq, sessionId }: Placed): Uint8Array | undefined {
  for (const step of lineage(chain, commitAt(chain, seq)))
    if (commitAt(chain, step.seq).sessionId === sessionId) return chain.artifacts.read(step.artifact);
  return undefined;
}

/** The number of bytes that settings and sums take in memory, about. */
const bytesPerFinding = 300;

function* earlierThan<Value>(chain: ReadChain, row: Placed, read: (artifact: ArtifactNo) => Value): Generator<Value> {
  const seen = new Set<ArtifactNo>();
  for (let { seq, parent, sessionId } = row; parent !== null; ) {
    // The lines of a turn that was taken back lie between a commit and its parent.
    const between = chain.db.all<{ artifact: ArtifactNo; seq: CommitSeq }>(
      'SELECT artifact, seq FROM context WHERE seq < ? AND seq >= ? AND (+sessionId = ? OR seq = ?) ORDER BY seq DESC',
      seq,
      parent,
      sessionId,
      parent,
    );
    for (const { artifact } of between) {
      if (seen.has(artifact)) continue;
      seen.add(artifact);
      yield read(artifact);
    }
    ({ seq, parent, sessionId } = commitAt(chain, parent));
  }
}

/** A delta that is read and parsed on first use. */
export function openDelta(chain: ReadChain, { id, type, format, artifact }: Pick<Step, 'id' | 'type' | 'format' | 'artifact'>, end?: number): Delta {
  const bytes = once(() => chain.artifacts.read(artifact));
  const entries = once(() => readParsed(chain, artifact, format).entries);
  return {
    commit: id,
    type,
    format,
    get bytes() {
      return bytes();
    },
    get entries() {
      return entries();
    },
    get end() {
      return end ?? chain.artifacts.stat(artifact).size;
    },
    get before() {
      return contentBefore(chain, findCommit(chain, id));
    },
  };
}
