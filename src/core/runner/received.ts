import { allowReceived, type ReadChain, receivedAt, type StartKind, type WriteChain } from '../chain/index.js';
import type { PolicyRule, Received, Work } from '../contract/index.js';
import { turnNamed } from '../handover/index.js';
import { allowStart, receivedStart } from '../tickets/index.js';

/** The row that makes a work one of another machine, if one did; undefined for work that is never sent. */
function receivedRow(chain: ReadChain, what: Work): { readonly kind: StartKind; readonly no: number } | undefined {
  if ('turnId' in what) return { kind: 'agentTurn', no: turnNamed(chain, what.turnId).no };
  if (!('caseId' in what)) return undefined;
  const newest = chain.db.one<{ no: number | null }>(
    'SELECT MAX(v.no) AS no FROM experimentVersion v JOIN experiment e ON e.no = v.experiment WHERE e.project = ? AND e.experimentId = ?',
    chain.project,
    what.experimentId,
  );
  return newest?.no == null ? undefined : { kind: 'experimentVersion', no: newest.no };
}

/** Who sent this work from another machine; null if this machine recorded it. @throws NOT_FOUND for an unknown turn */
export function receivedWork(chain: ReadChain, what: Work): Received | null {
  if ('eventId' in what) return receivedStart(chain, what.eventId);
  const row = receivedRow(chain, what);
  return row ? receivedAt(chain, row.kind, row.no) : null;
}

/** Records that a person of this machine allows this work. Returns who sent it. @throws NOT_FOUND for an unknown turn */
export function allowWork(chain: WriteChain, what: Work): Received | null {
  if ('eventId' in what) {
    allowStart(chain, what.eventId);
    return receivedStart(chain, what.eventId);
  }
  const row = receivedRow(chain, what);
  if (!row) return null;
  allowReceived(chain, row.kind, row.no);
  const { turnId } = what as { turnId?: string };
  const batch = turnId === undefined ? null : turnNamed(chain, turnId).batch;
  if (batch !== null) allowReceived(chain, 'batch', batch);
  return receivedAt(chain, row.kind, row.no);
}

/** Whether a rule may start this work: this machine recorded it, a person here allowed it, or the rule names its sender. */
export function covers(chain: ReadChain, rule: PolicyRule, what: Work): boolean {
  const received = receivedWork(chain, what);
  if (received === null || received.allowedAt !== null) return true;
  const { name, isLink, hub } = received;
  return (rule.from ?? []).some((sender) => sender.name === name && (sender.isLink ?? false) === isLink && (sender.hub ?? hub) === hub);
}
