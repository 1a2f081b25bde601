import type { ReadChain, WriteChain } from '../chain/index.js';
import type { PolicyRule, Received, Work } from '../contract/index.js';
import { caseWork } from './case-work.js';
import { commitWork } from './commit-work.js';
import { lesserOf, type Rights, rightsAt } from './rights.js';
import { runWork } from './run-work.js';
import { startWork } from './start-work.js';
import { turnWork } from './turn-work.js';
import type { WorkKind } from './work-kind.js';

/** Every kind of work, by the field that names it in the contract. */
const kinds = { turnId: turnWork, runId: runWork, eventId: startWork, commit: commitWork, caseId: caseWork };

export const allKinds: readonly WorkKind<Work>[] = Object.values(kinds) as WorkKind<Work>[];

/** The kind of some work. */
export function kindOf(what: Work): WorkKind<Work> {
  const named = Object.entries(kinds).find(([field]) => field in what);
  if (!named) throw new Error('Work names what it is.');
  return named[1] as WorkKind<Work>;
}

/** Records that a person of this machine allows this work. Returns who sent it. @throws NOT_FOUND for an unknown turn */
export function allowWork(chain: WriteChain, what: Work): Received | null {
  const kind = kindOf(what);
  kind.allow(chain, what);
  return kind.received(chain, what);
}

/** Whether a rule may start this work: this machine recorded it, a person here allowed it, or the rule names its sender. */
export function covers(chain: ReadChain, rule: PolicyRule, what: Work): boolean {
  const received = kindOf(what).received(chain, what);
  if (received === null || received.allowedAt !== null) return true;
  const { name, isLink, hub } = received;
  return (rule.from ?? []).some((sender) => sender.name === name && (sender.isLink ?? false) === isLink && (sender.hub ?? hub) === hub);
}

/** The rights of a rule for this work. Work that an agent's job asked for gets no more rights than that job has. */
export function rightsFor(chain: ReadChain, rule: PolicyRule, what: Work): Rights {
  const asked = kindOf(what).source(chain, what);
  const held = asked && rightsAt(chain, asked);
  return held ? lesserOf(rule, held) : rule;
}
