import type { ReadChain } from '../../src/core/chain/index.js';
import { openCaches } from '../../src/core/project/chains.js';

/** What a chain has read from its database and its objects. */
export interface Reads {
  statements: number;
  rows: number;
  /** Objects, and their bytes. */
  objects: number;
  bytes: number;
}

/** A chain that reads the same project with caches that are still empty, and counts what it reads. */
export function countingReads<Chain extends ReadChain>(chain: Chain): { readonly chain: Chain; readonly reads: Reads } {
  const reads: Reads = { statements: 0, rows: 0, objects: 0, bytes: 0 };
  const counted = <Result>(result: Result, rows: number): Result => {
    reads.statements += 1;
    reads.rows += rows;
    return result;
  };
  const db = new Proxy(chain.db, {
    get(of, name) {
      const member = Reflect.get(of, name) as unknown;
      if (typeof member !== 'function') return member;
      const call = (...given: unknown[]): unknown => Reflect.apply(member, of, given);
      if (name === 'one')
        return (...given: unknown[]) => {
          const row = call(...given);
          return counted(row, row === undefined ? 0 : 1);
        };
      if (name === 'all')
        return (...given: unknown[]) => {
          const rows = call(...given) as unknown[];
          return counted(rows, rows.length);
        };
      return call;
    },
  });
  const artifacts = new Proxy(chain.artifacts, {
    get(of, name) {
      const member = Reflect.get(of, name) as unknown;
      if (typeof member !== 'function') return member;
      const call = (...given: unknown[]): unknown => Reflect.apply(member, of, given);
      if (name !== 'read') return call;
      return (...given: unknown[]) => {
        const bytes = call(...given) as Uint8Array;
        reads.objects += 1;
        reads.bytes += bytes.length;
        return bytes;
      };
    },
  });
  const caches = openCaches();
  return { chain: { ...chain, db, artifacts, ...caches }, reads };
}
