import { refOf } from '../artifacts/index.js';
import { type ArtifactNo, orUndefined } from '../base/index.js';
import type { ReadChain, WriteChain } from '../chain/index.js';
import { openDatabase } from '../store/index.js';
import type { DamagedArtifact } from './check.js';

/** Restores damaged objects from backups, and from a project that imported the same files. Accepts content only if its hash matches. */
export function* restoreObjects(chain: WriteChain, damaged: readonly DamagedArtifact[], backups: readonly string[], again: ReadChain) {
  const restored = new Set<ArtifactNo>();
  for (const { no, ref } of damaged) {
    const content = orUndefined(() => again.artifacts.read(again.artifacts.find(ref))) ?? contentIn(backups, ref);
    if (content && refOf(content) === ref) {
      chain.artifacts.restore(no, content);
      restored.add(no);
    }
    yield;
  }
  return restored;
}

/** Restores lost rows of objects under the numbers that other rows refer to. An index still has the beginning of each hash. */
export function* restoreObjectRows(chain: WriteChain, lost: ReadonlyMap<number, number>, again: ReadChain): Generator<undefined, void> {
  const numbers = new Map([...lost].map(([no, key]) => [key, no]));
  const rows = again.db.all<{ no: ArtifactNo; key: number; hash: Buffer; contentType: string; createdAt: number }>(
    'SELECT no, key, hash, contentType, createdAt FROM artifact WHERE key >= 0',
  );
  for (const { no, key, hash, contentType, createdAt } of rows) {
    const wanted = numbers.get(key);
    const content = wanted === undefined ? undefined : orUndefined(() => again.artifacts.read(no));
    if (wanted === undefined || !content) continue;
    if (chain.db.one('SELECT 1 FROM artifact WHERE no = ?', wanted)) continue;
    const row = { no: wanted, project: chain.project, key, hash, size: content.length, storedSize: 0, encoding: 0, contentType, createdAt };
    chain.db.insert('artifact', { ...row, policy: 'default', gone: 'lost' });
    chain.artifacts.restore(wanted as ArtifactNo, content);
    yield;
  }
}

/** Reads a small object from the first backup that has it. Large objects are in packs, which backups do not contain. */
function contentIn(backups: readonly string[], ref: string): Uint8Array | undefined {
  const hash = Buffer.from(ref.slice('blake3:'.length), 'hex');
  const select = 'SELECT data FROM artifact WHERE key = ? AND hash = ? AND data IS NOT NULL';
  const read = (path: string): Buffer | undefined => {
    const backup = openDatabase(path, { readonly: true });
    try {
      return backup.value<Buffer>(select, hash.readUIntBE(0, 6), hash);
    } finally {
      backup.close();
    }
  };
  for (const path of backups) {
    // The backup may be damaged or have another format version.
    const data = orUndefined(() => read(path));
    if (data && refOf(data) === ref) return data;
  }
  return undefined;
}
