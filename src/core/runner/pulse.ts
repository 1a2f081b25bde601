import { StemmaError } from '../base/index.js';
import type { ReadChain } from '../chain/index.js';
import { defaultParallel, type PolicyRule, type RunPolicy, type Work } from '../contract/index.js';
import { endDueBatches } from '../handover/index.js';
import { isDue, tick } from '../timeline/index.js';
import { interruptDeadJobs, isHeld, lastOfWork, renewExpired, runningBy } from './jobs.js';
import { allKinds, covers, kindOf, rightsFor } from './kinds.js';
import { startJob } from './live.js';
import type { RunnerParts, StartInput } from './parts.js';

/** Carries out due work once, in any process: waits, plans, batch deadlines, then turns, runs and starts that the policy allows. */
export function pulse(parts: RunnerParts, policy: RunPolicy): void {
  endDue(parts);
  startWork(parts, policy);
}

/** Milliseconds after which work that could not be started is tried again, although nothing has changed. */
const againMs = 30_000;

/** The pulses of one project, called every second while the app is open. Without a change, a pulse costs the same whatever the project holds. */
export function openPulse(): typeof pulse {
  let done = '';
  let at = 0;
  return (parts, policy) => {
    const { chain } = parts;
    endDue(parts);
    const state = `${workState(chain)} ${JSON.stringify(policy)}`;
    if (state === done && chain.clock() - at < againMs) return;
    startWork(parts, policy);
    done = state;
    at = chain.clock();
  };
}

/** Ends what is due by its time. What is due is found by indexes. */
function endDue({ chain, live }: RunnerParts): void {
  // After a sleep of the machine, the jobs of this process have not died.
  renewExpired(chain, live.jobs.keys());
  interruptDeadJobs(chain);
  if (isDue(chain)) tick(chain);
  endDueBatches(chain);
}

/** A text that changes with everything on which it depends what a policy starts. */
const workState = ({ db, project }: ReadChain): string =>
  db
    .all<{ area: string; changes: number }>(
      "SELECT area, changes FROM areaCount WHERE project = ? AND area IN ('turns', 'jobs', 'tickets', 'messages', 'work')",
      project,
    )
    .map(({ area, changes }) => `${area} ${changes}`)
    .join(' ');

function startWork(parts: RunnerParts, policy: RunPolicy): void {
  const { chain } = parts;
  for (const rule of policy.rules) {
    const key = JSON.stringify([rule.for, rule.who ?? null]);
    for (const what of allKinds.flatMap((kind) => kind.open(chain, rule))) {
      const most = { all: policy.parallel ?? defaultParallel, rule: rule.parallel ?? defaultParallel };
      if (runningBy(chain, null) >= most.all) return;
      if (runningBy(chain, key) >= most.rule) break;
      startAllowed(parts, what, rule, { limits: { ...policy.limits, ...rule.limits }, rule: key, most });
    }
  }
}

/** Starts work that the policy allows, unless it is taken or an earlier job has completed it. */
function startAllowed(parts: RunnerParts, what: Work, rule: PolicyRule, how: Pick<StartInput, 'limits' | 'rule' | 'most'>): void {
  const { who } = rule;
  try {
    if (!covers(parts.chain, rule, what)) return;
    const target = kindOf(what).target(parts.chain, what, who);
    const last = lastOfWork(parts.chain, target.work);
    // Failed or stopped work waits for a person. Only the job of a dead process is started again automatically.
    if ((last && last !== 'interrupted') || isHeld(parts.chain, target.holds)) return;
    const { performer, tools, otherTools } = rightsFor(parts.chain, rule, what);
    startJob(parts, { what, performer, tools: tools && [...tools], otherTools, who, ...how });
  } catch (error) {
    // Another process took the work, or the agent is not on this machine. The next pulse tries again.
    if (!(error instanceof StemmaError)) throw error;
  }
}
