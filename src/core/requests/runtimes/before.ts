import { type ArtifactNo, type CommitSeq, once, picked } from '../../base/index.js';
import {
  type ContextRow,
  commitAt,
  correctionsOf,
  findCommit,
  goesOnWithTurn,
  keep,
  kept,
  lineage,
  type ReadChain,
  readParsed,
  recalled,
  type Step,
} from '../../chain/index.js';
import type { Delta, EarlierDeltas } from './runtime.js';

type Placed = Pick<ContextRow, 'seq' | 'parent' | 'sessionId'>;

/** What a session wrote before a commit, in the order of its file: turns that were taken back since then are included. */
export const contentBefore = (chain: ReadChain, row: Placed): EarlierDeltas => ({
  first: (kind, find) => {
    const artifact = firstOf(chain, row);
    return artifact === undefined ? undefined : foundIn(chain, artifact, kind, find);
  },
  earlier: () => earlierThan(chain, row, (artifact) => chain.artifacts.read(artifact)),
  found: (kind, find) => earlierThan(chain, row, (artifact) => foundIn(chain, artifact, kind, find)),
  parent: () => findParent(chain, row),
});

function findParent(chain: ReadChain, { seq }: Placed): ReturnType<EarlierDeltas['parent']> {
  const own = commitAt(chain, seq);
  if (own.parent === null || !goesOnWithTurn(chain, own)) return undefined;
  const row = commitAt(chain, own.parent);
  return { format: row.format, bytes: chain.artifacts.read(row.artifact), before: contentBefore(chain, row) };
}

/** The content of the first commit of the session on the way to a commit. It is that of the parent, whose first one is usually known. */
function firstOf(chain: ReadChain, { seq, parent, sessionId }: Placed): ArtifactNo | undefined {
  const nameAt = (at: CommitSeq): string => `${at} ${sessionId}`;
  const firstAt = (at: CommitSeq): ArtifactNo | undefined => recalled(chain, firstKind, nameAt(at));
  const known = firstAt(seq) ?? (parent === null ? undefined : firstAt(parent));
  const first = known ?? lineage(chain, commitAt(chain, seq)).find((step) => commitAt(chain, step.seq).sessionId === sessionId)?.artifact;
  if (first !== undefined) keep(chain, firstKind, nameAt(seq), first, bytesPerFinding);
  return first;
}

const firstKind = 'first of session';

const foundIn = <Value>(chain: ReadChain, artifact: ArtifactNo, kind: string, find: (bytes: Uint8Array) => Value): Value =>
  kept(chain, kind, String(artifact), '', () => find(chain.artifacts.read(artifact)), bytesPerFinding);

/** The number of bytes that settings and sums take in memory, about. */
const bytesPerFinding = 300;

function* earlierThan<Value>(chain: ReadChain, row: Placed, read: (artifact: ArtifactNo) => Value): Generator<Value> {
  const seen = new Set<ArtifactNo>();
  const corrections = String(correctionsOf(chain));
  for (let { seq, parent, sessionId } = row; parent !== null; ) {
    // The lines of a turn that was taken back lie between a commit and its parent.
    const between = chain.db.column<ArtifactNo>(
      'SELECT artifact FROM commits WHERE seq < ? AND seq >= ? AND (+sessionId = ? OR seq = ?) ORDER BY seq DESC',
      [seq, parent, sessionId, parent],
    );
    for (const artifact of between) {
      if (seen.has(artifact)) continue;
      seen.add(artifact);
      yield read(artifact);
    }
    ({ seq, parent, sessionId } = placeOf(chain, parent, corrections));
  }
}

/** The place of a commit, which only a repair changes. An import looks back over the same commits for each one that it adds. */
const placeOf = (chain: ReadChain, at: CommitSeq, corrections: string): Placed =>
  kept(chain, 'place of commit', String(at), corrections, () => picked(commitAt(chain, at), 'seq', 'parent', 'sessionId'), bytesPerFinding);

/** A delta that is read and parsed on first use. */
export function openDelta(chain: ReadChain, { id, type, format, artifact }: Pick<Step, 'id' | 'type' | 'format' | 'artifact'>, end?: number): Delta {
  const bytes = once(() => chain.artifacts.read(artifact));
  const entries = once(() => readParsed(chain, { artifact, format }).entries);
  return {
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
