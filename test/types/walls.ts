/**
 * Types that must not be confused: each marked line must be a compile error, otherwise the compiler reports an unused mark. This code
 * never runs.
 */
import type { ArtifactNo, ArtifactRef, CommitSeq, ContextId, EntryKey, Timestamp } from '../../src/core/base/index.js';
import { unreachable } from '../../src/core/base/index.js';
import { commitAt, findCommit, type WriteChain } from '../../src/core/chain/index.js';
import type { CommitType } from '../../src/core/contract/index.js';
import type { ReadableDb, WritableDb } from '../../src/core/store/index.js';

declare const id: ContextId;
declare const ref: ArtifactRef;
declare const key: EntryKey;
declare const at: Timestamp;
declare const seq: CommitSeq;
declare const no: ArtifactNo;
declare const chain: WriteChain;
declare const readable: ReadableDb;
declare const type: CommitType;

export const ids: readonly ContextId[] = [
  id,
  // @ts-expect-error an artifact ref is not the id of a commit
  ref,
  // @ts-expect-error an entry key is not the id of a commit
  key,
  // @ts-expect-error a timestamp is not an id
  at,
  // @ts-expect-error a plain text is not an id: only a schema or the code that makes ids returns one
  'ctx-00000000',
];

findCommit(chain, id);
// @ts-expect-error a sequence number is not a commit id
findCommit(chain, seq);
commitAt(chain, seq);
// @ts-expect-error an artifact number is not a sequence number of a commit
commitAt(chain, no);
chain.artifacts.read(no);
// @ts-expect-error a sequence number of a commit is not an artifact number
chain.artifacts.read(seq);

readable.one('SELECT 1');
// @ts-expect-error a readable database cannot write
readable.run('DELETE FROM commits');
// @ts-expect-error a readable database cannot be used as a writable one
export const writable: WritableDb = readable;

/** A closed union: without one of the cases, the last line does not compile. */
export function inWords(): string {
  switch (type) {
    case 'delta':
      return 'new entries';
    case 'compaction':
      return 'a summary';
    case 'snapshot':
      return 'all of it';
    default:
      return unreachable(type);
  }
}

export function forgetful(): string {
  switch (type) {
    case 'delta':
      return 'new entries';
    case 'compaction':
      return 'a summary';
    default:
      // @ts-expect-error snapshots have no answer here
      return unreachable(type);
  }
}
