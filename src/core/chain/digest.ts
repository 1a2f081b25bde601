import { refOfHash, sha256Of } from '../artifacts/index.js';
import { type ArtifactRef, type ContextId, toTimestamp } from '../base/index.js';

/** C1: the digest that identifies a commit across projects. */
export const digestCommit = (commit: { parent: ContextId | null; ref: ArtifactRef; createdAt: number; template: string }): Buffer =>
  sha256Of([commit.parent ?? '', commit.ref, toTimestamp(commit.createdAt), commit.template].join('\0'));

/** The columns that a commit's digest covers, as a row of the database has them. A damaged row may have values of any type. */
export interface Covered {
  readonly hash: Buffer | null;
  readonly createdAt: number;
  readonly template: string;
}

/** The last time that a date can hold, in milliseconds since 1970. */
const latestTime = 8.64e15;

/** The digest of a row that may be damaged; undefined if no commit can have its values. */
export const digestOfRow = ({ hash, createdAt, template }: Covered, parent: ContextId | null): Buffer | undefined =>
  Buffer.isBuffer(hash) && typeof template === 'string' && Number.isSafeInteger(createdAt) && Math.abs(createdAt) < latestTime
    ? digestCommit({ parent, ref: refOfHash(hash), createdAt, template })
    : undefined;

/** Whether the stored digest of a row matches its values. */
export const isDigestOfRow = (row: Covered & { readonly digest: Buffer }, parent: ContextId | null): boolean =>
  Buffer.isBuffer(row.digest) && digestOfRow(row, parent)?.equals(row.digest) === true;

/** Whether a commit's id is `ctx-` and the first digits of its digest. */
export const isIdOf = (id: string, digest: Buffer): boolean =>
  typeof id === 'string' && id === `ctx-${digest.toString('hex').slice(0, id.length - 'ctx-'.length)}`;
