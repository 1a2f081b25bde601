import type { Work } from '../contract/index.js';
import { caseWork } from './case-work.js';
import { commitWork } from './commit-work.js';
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
