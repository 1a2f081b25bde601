import type { ContextId } from '../base/index.js';
import { type Chain, commitOf } from '../chain/index.js';
import { getRequest, listRequests } from '../requests/index.js';

export interface Reproduced {
  readonly identical: boolean;
  readonly requestHash: string | null;
  readonly recordedHash: string | null;
  readonly differences: { requestId: string; path?: string; reason: string }[];
  /** Parts of the calls that nobody recorded. */
  readonly missing: string[];
  readonly calls: number;
}

/**
 * Rebuilds every call of a turn and holds its digest against the recorded one. Identical is only what was proved here;
 * a turn without recorded calls has nothing to be held against and is not called identical.
 */
export function reproduceTurn(chain: Chain, turnId: ContextId): Reproduced {
  const calls = listRequests(chain, { turnId: commitOf(chain, turnId, 'turnId').id })
    .filter((row) => row.proof !== 'rebuilt')
    .map((row) => getRequest(chain, row.requestId));
  const last = calls.at(-1);
  const differences = calls
    .filter((call) => call.proof !== 'digest')
    .map((call) => ({
      requestId: call.requestId,
      reason: call.problem ?? (call.recordedDigest === null ? 'the runtime recorded no digest of this call' : 'the digests differ'),
    }));
  return {
    identical: calls.length > 0 && differences.length === 0,
    requestHash: last?.digest ?? null,
    recordedHash: last?.recordedDigest ?? null,
    differences,
    missing: [...new Set(calls.flatMap((call) => call.missing))],
    calls: calls.length,
  };
}
