// migrations: the schema of a project database, one file per step.
// The format version of a project is the number of steps that were applied to it.
// A released step never changes; a new table or column is a new step.
import { chain } from './001-chain.js';
import { requests } from './002-requests.js';
import { spaces } from './003-spaces.js';
import { cards } from './004-cards.js';
import { tickets } from './005-tickets.js';
import { storage } from './007-storage.js';
import { tiers } from './008-tiers.js';
import { templates } from './009-templates.js';
import { losses } from './010-losses.js';
import { ticketStarts } from './011-ticket-starts.js';
import { modelRuns } from './012-model-runs.js';
import { captures } from './013-captures.js';
import { experiments } from './014-experiments.js';
import { ticketAnswers } from './015-ticket-answers.js';
import { principals } from './017-principals.js';
import { replicas } from './020-replicas.js';
import { firstParentRuns } from './022-first-parent-runs.js';
import { turnInputs } from './024-turn-inputs.js';
import { replyRecords } from './025-reply-records.js';
import { sessions } from './026-sessions.js';
import { waits } from './028-waits.js';
import { jobs } from './029-jobs.js';
import { runner } from './030-runner.js';
import { resumed } from './031-resumed.js';
import { team } from './032-team.js';
import { followed } from './033-followed.js';
import { blackboard } from './034-blackboard.js';
import { deletedProfiles } from './035-deleted-profiles.js';
import { received } from './040-received.js';
import { rights } from './041-rights.js';
import { areaCounts } from './043-area-counts.js';
import { openWork } from './045-open-work.js';
import { followedHere } from './046-followed-here.js';
import { forks } from './047-forks.js';
import { derivedApart } from './048-derived-apart.js';
import { sharing } from './049-sharing.js';
import { commits } from './050-commits.js';

/** Steps that changed tables which can be made again. Step 48 drops those that earlier versions of Stemma made here. */
const derived = '-- see derived/tables.ts';
/** From such a step on, rows of more tables carry a checksum. */
const sums = '-- see sums.ts';
/** From this step on, a database contains no triggers: each connection makes its own. */
const unwatched = '-- see migrate.ts';

/**
 * The steps that create the schema, in order. The number of applied steps is the format version of a project, stored as `user_version`.
 */
export const migrations: readonly string[] = [
  chain,
  requests,
  spaces,
  cards,
  tickets,
  derived,
  storage,
  tiers,
  templates,
  losses,
  ticketStarts,
  modelRuns,
  captures,
  experiments,
  ticketAnswers,
  sums,
  principals,
  derived,
  sums,
  replicas,
  unwatched,
  firstParentRuns,
  sums,
  turnInputs,
  replyRecords,
  sessions,
  derived,
  waits,
  jobs,
  runner,
  resumed,
  team,
  followed,
  blackboard,
  deletedProfiles,
  derived,
  derived,
  derived,
  derived,
  received,
  rights,
  derived,
  areaCounts,
  derived,
  openWork,
  followedHere,
  forks,
  derivedApart,
  sharing,
  commits,
];

export { derivedApart };

/** The format version that this Stemma reads and writes. */
export const formatVersion = migrations.length;
