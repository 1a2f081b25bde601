import { type BigIntStats, type Stats, statSync } from 'node:fs';

/** What distinguishes a file from all others on this machine: its disk and its number there (an inode, or a file id on Windows). */
export interface FileIdentity {
  readonly dev: bigint;
  readonly ino: bigint;
  /** Distinguishes files on disks that give every file the number zero. */
  readonly birthtimeNs: bigint;
}

/** The identity of the file or folder at a path, behind links; undefined if nothing exists there. Numbers on Windows exceed 53 bits. */
export function identityAt(path: string): FileIdentity | undefined {
  return statSync(path, { bigint: true, throwIfNoEntry: false });
}

/** Whether both are the same file. Nothing is the same as nothing. */
export const isSameFile = (one: FileIdentity | undefined, other: FileIdentity | undefined): boolean =>
  one?.dev === other?.dev && one?.ino === other?.ino && (one?.ino !== 0n || one.birthtimeNs === other?.birthtimeNs);

/** As {@link isSameFile}, for facts that were just read from the same path: another file there would have another number or another birth. */
export const isSameStat = (one: Stats, other: Stats): boolean =>
  one.dev === other.dev && one.ino === other.ino && (one.ino !== 0 || one.birthtimeMs === other.birthtimeMs);

/** A file's identity and state as text: two texts are equal only if the file is the same and was not written in between. */
export const stampOf = ({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string => `${dev} ${ino} ${size} ${mtimeNs} ${ctimeNs}`;

/** As {@link stampOf}, for the file at a path; undefined if nothing exists there. */
export function stampAt(path: string): string | undefined {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stat && stampOf(stat);
}
