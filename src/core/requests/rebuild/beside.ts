// What calls send beside the entries of the conversation, from the deltas that state it.
import type { CommitSeq } from '../../base/index.js';
import { type ContextRow, commitAt, keep, type ReadChain, readOutline, recalled } from '../../chain/index.js';
import { openDelta } from '../runtimes/before.js';
import type { Stated } from '../runtimes/runtime.js';
import { findReader } from '../runtimes/runtimes.js';
import { type CauseSums, causesOfStated, noCauses } from '../shared/causes.js';

/** The number of bytes that a number takes in memory, about. */
const bytesPerNumber = 100;

/** The number of messages before the first entry, by commit, from the nearest delta that states it. */
export function leadingMessages(chain: ReadChain, row: ContextRow): number {
  const { leading } = findReader(row.format);
  if (!leading) return 0;
  const passed: CommitSeq[] = [];
  let found: number | undefined;
  for (let at: ContextRow | undefined = row; at && found === undefined; at = before(chain, at)) {
    found = recalled<number>(chain, 'leading', String(at.seq)) ?? (at.format === row.format ? leading(openDelta(chain, at), at.parent === null) : 0);
    passed.push(at.seq);
  }
  for (const seq of passed) keep(chain, 'leading', String(seq), found ?? 0, bytesPerNumber);
  return found ?? 0;
}

/** The commit before another one; undefined at the beginning, and for a damaged row whose parent is not less deep. */
function before(chain: ReadChain, { depth, parent }: ContextRow): ContextRow | undefined {
  const row = parent === null ? undefined : commitAt(chain, parent);
  return row && row.depth < depth ? row : undefined;
}

/** The content that calls send in addition to entries, by commit: base instructions and tools, if the deltas up to it state them. */
export function causesBesidePrompt(chain: ReadChain): (row: ContextRow) => CauseSums {
  const known = new Map<CommitSeq, { readonly stated: Stated | undefined; readonly causes: CauseSums }>();
  const nothingStated = { stated: undefined, causes: noCauses() };
  const statesSystem = (row: ContextRow): boolean => readOutline(chain, row).entries.some(({ role }) => role === 'system');
  return (row) => {
    if (!findReader(row.format).besides) return noCauses();
    const passed: ContextRow[] = [];
    for (let at: ContextRow | undefined = row; at && !known.has(at.seq); at = before(chain, at)) passed.push(at);
    for (const at of passed.toReversed()) {
      const earlier = known.get(at.parent ?? at.seq) ?? nothingStated;
      const { besides } = findReader(at.format);
      const stated = besides && statesSystem(at) ? besides(openDelta(chain, at), earlier.stated) : earlier.stated;
      known.set(at.seq, stated === earlier.stated ? earlier : { stated, causes: causesOfStated(stated) });
    }
    return known.get(row.seq)?.causes ?? noCauses();
  };
}
