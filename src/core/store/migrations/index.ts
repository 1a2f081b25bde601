// migrations: the schema of a project database, one file per step.
// The format version of a project is the number of steps that were applied to it.
// A released step never changes; a new table or column is a new step.
import { chain } from './001-chain.js';
import { requests } from './002-requests.js';
import { spaces } from './003-spaces.js';
import { cards } from './004-cards.js';
import { tickets } from './005-tickets.js';
import { search } from './006-search.js';
import { storage } from './007-storage.js';
import { tiers } from './008-tiers.js';
import { templates } from './009-templates.js';
import { losses } from './010-losses.js';
import { ticketStarts } from './011-ticket-starts.js';
import { modelRuns } from './012-model-runs.js';
import { captures } from './013-captures.js';
import { experiments } from './014-experiments.js';
import { ticketAnswers } from './015-ticket-answers.js';
import { rowSums } from './016-row-sums.js';
import { principals } from './017-principals.js';
import { searchMemory } from './018-search-memory.js';
import { resultSums } from './019-result-sums.js';
import { replicas } from './020-replicas.js';
import { noTriggers } from './021-no-triggers.js';
import { firstParentRuns } from './022-first-parent-runs.js';
import { searchSums } from './023-search-sums.js';
import { turnInputs } from './024-turn-inputs.js';
import { usage } from './025-usage.js';
import { sessions } from './026-sessions.js';
import { usageFactors } from './027-usage-factors.js';
import { waits } from './028-waits.js';
import { jobs } from './029-jobs.js';
import { runner } from './030-runner.js';
import { resumed } from './031-resumed.js';
import { team } from './032-team.js';
import { followed } from './033-followed.js';
import { blackboard } from './034-blackboard.js';
import { deletedProfiles } from './035-deleted-profiles.js';
import { usageQuarters } from './036-usage-quarters.js';
import { usageFirst } from './037-usage-first.js';
import { usageRecorded } from './038-usage-recorded.js';
import { usageTerms } from './039-usage-terms.js';
import { received } from './040-received.js';
import { rights } from './041-rights.js';
import { usageSteps } from './042-usage-steps.js';
import { areaCounts } from './043-area-counts.js';
import { usageLedger } from './044-usage-ledger.js';
import { openWork } from './045-open-work.js';
import { followedHere } from './046-followed-here.js';
import { pages } from './047-pages.js';
import { derivedApart } from './048-derived-apart.js';
import { sharing } from './049-sharing.js';

/**
 * The steps that create the schema, in order. The number of applied steps is the format version of a project, stored as `user_version`.
 */
export const migrations: readonly string[] = [
  chain,
  requests,
  spaces,
  cards,
  tickets,
  search,
  storage,
  tiers,
  templates,
  losses,
  ticketStarts,
  modelRuns,
  captures,
  experiments,
  ticketAnswers,
  rowSums,
  principals,
  searchMemory,
  resultSums,
  replicas,
  noTriggers,
  firstParentRuns,
  searchSums,
  turnInputs,
  usage,
  sessions,
  usageFactors,
  waits,
  jobs,
  runner,
  resumed,
  team,
  followed,
  blackboard,
  deletedProfiles,
  usageQuarters,
  usageFirst,
  usageRecorded,
  usageTerms,
  received,
  rights,
  usageSteps,
  areaCounts,
  usageLedger,
  openWork,
  followedHere,
  pages,
  derivedApart,
  sharing,
];

export { derivedApart };

/** The format version that this Stemma reads and writes. */
export const formatVersion = migrations.length;
