// migrations: the schema of a project database, one file per step. A step of one statement is in the list itself.
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
import { ticketStarts } from './011-ticket-starts.js';
import { modelRuns } from './012-model-runs.js';
import { captures } from './013-captures.js';
import { experiments } from './014-experiments.js';
import { ticketAnswers } from './015-ticket-answers.js';
import { replicas } from './020-replicas.js';
import { firstParentRuns } from './022-first-parent-runs.js';
import { turnInputs } from './024-turn-inputs.js';
import { sessions } from './026-sessions.js';
import { waits } from './028-waits.js';
import { jobs } from './029-jobs.js';
import { runner } from './030-runner.js';
import { resumed } from './031-resumed.js';
import { team } from './032-team.js';
import { followed } from './033-followed.js';
import { blackboard } from './034-blackboard.js';
import { received } from './040-received.js';
import { rights } from './041-rights.js';
import { areaCounts } from './043-area-counts.js';
import { openWork } from './045-open-work.js';
import { derivedApart } from './048-derived-apart.js';

/** Steps that changed tables which can be made again. Step 48 drops those that earlier versions of Stemma made here. */
const derived = '-- see derived/tables.ts';
/** From such a step on, rows of more tables carry a checksum. */
const sums = '-- see sums.ts';
/** From this step on, a database contains no triggers: each connection makes its own. */
const unwatched = '-- see migrate.ts';

/** The steps that create the schema, in order. The number of applied steps is the format version of a project, stored as `user_version`. */
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
  // What a translation could not carry over; null in rows from before this step.
  'ALTER TABLE materialized ADD COLUMN losses TEXT;',
  ticketStarts,
  modelRuns,
  captures,
  experiments,
  ticketAnswers,
  sums,
  // Drops the index by principal, which cost every commit a page of the log. What replaced it is derived (chain/principals.ts).
  'DROP INDEX contextPrincipal;',
  derived,
  sums,
  replicas,
  unwatched,
  firstParentRuns,
  sums,
  turnInputs,
  // Finds the request of a reply.
  'CREATE INDEX requestReplyRecord ON request(project, replyRecord) WHERE replyRecord IS NOT NULL;',
  sessions,
  derived,
  waits,
  jobs,
  runner,
  resumed,
  team,
  followed,
  blackboard,
  // Profiles that were deleted, and can be brought back.
  'ALTER TABLE profile ADD COLUMN deletedAt INTEGER;',
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
  // Recordings name places on the disk. The seal of this machine over them; rows of others, and those of earlier versions with null, are not read.
  'ALTER TABLE followed ADD COLUMN recorded TEXT;',
  // Finds forks, which are few.
  'CREATE INDEX contextForked ON context(project) WHERE forked = 1;',
  derivedApart,
  // Whether the calls of a job get the shared context, as a preview shows them: 1 or 0; null if the profile or the project decides.
  'ALTER TABLE job ADD COLUMN sharing INTEGER;',
  // A row is a commit; the name of the table said what it holds with its ancestors. Its indexes keep their names: making them again costs a scan each.
  'ALTER TABLE context RENAME TO commits;',
  // The session of an interrupted job is removed from the disk. The seal of this machine over it; rows with another one or none name no file.
  'ALTER TABLE jobSession ADD COLUMN begun TEXT;',
];

export { derivedApart };

/** The format version that this Stemma reads and writes. */
export const formatVersion = migrations.length;
