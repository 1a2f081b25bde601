import { type ArtifactNo, orUndefined } from '../base/index.js';
import type { WriteChain } from '../chain/index.js';
import { inParallel } from './parallel.js';
import type { ReplicaSettings } from './settings.js';
import type { BackingStore } from './store.js';

/** Objects copied at a time, and objects recorded as copied in one transaction. */
const atOnce = 8;
const recordedTogether = 64;

/** The result of one run. `damaged` lists the refs of objects that do not match their hash; these are not copied. */
export interface Copied {
  copied: number;
  bytes: number;
  readonly damaged: string[];
}

/** Copies every object that a replica takes and does not hold yet. @throws UNAVAILABLE if the store does not answer; finished copies stay recorded. */
export async function copyWaiting(
  { artifacts }: Pick<WriteChain, 'artifacts'>,
  name: string,
  { takes }: ReplicaSettings,
  store: BackingStore,
  isClosed: () => boolean,
): Promise<Copied> {
  const result: Copied = { copied: 0, bytes: 0, damaged: [] };
  for (let after: ArtifactNo | 0 = 0; !isClosed(); ) {
    const batch = artifacts.copies.waiting(name, takes, after, recordedTogether);
    const last = batch.at(-1);
    if (!last) break;
    after = last.no;
    const done: ArtifactNo[] = [];
    try {
      await inParallel(batch, atOnce, async ({ no, ref }) => {
        const content = orUndefined(() => artifacts.read(no));
        if (!content) return void result.damaged.push(ref);
        await store.put(ref.slice('blake3:'.length), content);
        done.push(no);
        result.bytes += content.length;
      });
    } finally {
      if (!isClosed()) artifacts.copies.record(name, done);
      result.copied += done.length;
    }
  }
  return result;
}
