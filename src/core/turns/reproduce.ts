import type { ContextId } from '../base/index.js';
import { deltaEntries, type ReadChain } from '../chain/index.js';
import type { Reproduced, RequestRow } from '../contract/index.js';
import { getRequest, listRequests } from '../requests/index.js';
import { commitOfTurn } from './turns.js';

const worstFirst = ['rebuilt', 'recorded', 'digest'] as const;

/**
 * Rebuilds every call of a turn and compares it with its record (R6). `identical` is true if every call matches its record, false if a call differs,
 * and null if a call has no record. `proof` is the weakest proof of all calls.
 */
export function reproduceTurn(chain: ReadChain, turnId: ContextId | string): Reproduced {
  const row = commitOfTurn(chain, turnId);
  const rows = listRequests(chain, { turnId: row.id });
  if (!rows.length) {
    // A reply without any known call, such as a reply that a person wrote into a branch.
    const isReplied = deltaEntries(chain, row).some(({ role }) => role === 'assistant');
    return { ...nothingKnown, calls: isReplied ? 1 : 0 };
  }
  const recorded = rows.filter((each) => each.proof !== 'rebuilt').map((each) => ({ row: each, call: getRequest(chain, each.requestId) }));
  const last = recorded.at(-1)?.call;
  const differences = recorded.flatMap(({ row: each, call }) =>
    call.recordedDigest === null || call.digest === call.recordedDigest
      ? []
      : [{ requestId: each.requestId, reason: call.problem ?? 'the digests differ' }],
  );
  return {
    proof: worstFirst.find((proof) => rows.some((each) => each.proof === proof)) ?? 'rebuilt',
    identical: differences.length ? false : recorded.length === rows.length ? true : null,
    requestHash: last?.digest ?? null,
    recordedHash: last?.recordedDigest ?? null,
    differences,
    missing: [...new Set([...recorded.flatMap(({ call }) => call.missing), ...unrecorded(chain, rows)])],
    calls: rows.length,
  };
}

const nothingKnown: Reproduced = {
  proof: 'rebuilt',
  identical: null,
  requestHash: null,
  recordedHash: null,
  differences: [],
  missing: ['system', 'tools', 'parameters'],
  calls: 0,
};

/** The missing parts of unrecorded calls. The calls of one turn miss the same parts, so only one call is checked. */
function unrecorded(chain: ReadChain, rows: readonly RequestRow[]): readonly string[] {
  const rebuilt = rows.find((each) => each.proof === 'rebuilt');
  return rebuilt ? getRequest(chain, rebuilt.requestId).missing : [];
}
