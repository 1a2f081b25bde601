/**
 * What must not be mixed does not compile: each line below that is marked must be an error, or the compiler says that
 * the mark is not needed. Nothing here ever runs.
 */
import type { ArtifactNo, ArtifactRef, CommitSeq, ContextId, EntryKey, Timestamp } from '../../src/core/base/index.js';
import { unreachable } from '../../src/core/base/index.js';
import { type Chain, commitAt, commitOf } from '../../src/core/chain/index.js';
import type { CommitType } from '../../src/core/contract/index.js';
import type { ReadableDb, WritableDb } from '../../src/core/store/index.js';

declare const id: ContextId;
declare const ref: ArtifactRef;
declare const key: EntryKey;
declare const at: Timestamp;
declare const seq: CommitSeq;
declare const no: ArtifactNo;
declare const chain: Chain;
declare const readable: ReadableDb;
declare const type: CommitType;

export const ids: readonly ContextId[] = [
  id,
  // @ts-expect-error a ref names bytes, not a commit
  ref,
  // @ts-expect-error an entry's key is no commit's id
  key,
  // @ts-expect-error a time is no id
  at,
  // @ts-expect-error any text is no id: only what made one, or a schema, says that it is
  'ctx-00000000',
];

commitOf(chain, id);
// @ts-expect-error a row's number is not what a person names a commit by
commitOf(chain, seq);
commitAt(chain, seq);
// @ts-expect-error the numbers of artifacts and commits count different things
commitAt(chain, no);
chain.artifacts.read(no);
// @ts-expect-error the numbers of commits and artifacts count different things
chain.artifacts.read(seq);

readable.one('SELECT 1');
// @ts-expect-error what may only read has no way to write
readable.run('DELETE FROM context');
// @ts-expect-error what may only read cannot be handed to what writes
export const writable: WritableDb = readable;

/** A closed union: with a case left out, the last line does not compile. */
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
