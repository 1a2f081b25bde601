import type { ReadChain, WriteChain } from '../chain/index.js';
import type { PolicyRule, Received, Work } from '../contract/index.js';
import { kindOf } from './kinds.js';
import { lesserOf, type Rights, rightsAt } from './rights.js';

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
