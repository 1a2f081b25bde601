import { type ContextId, openMailbox, StemmaError } from '../base/index.js';
import { readProjectId } from '../cards/index.js';
import { contextEntries, findCommit, hiddenCommits, show, update } from '../chain/index.js';
import { defaultParallel, type InputOf, type JobEvent, type JobStatus, type Try } from '../contract/index.js';
import { allJobs, jobNamed } from './jobs.js';
import { followJob, startJob } from './live.js';
import { isAgent, type RunnerParts, type StartInput } from './parts.js';
import { performerOf } from './perform.js';
import type { Workshop } from './programs.js';

/** `check` is a command that a person typed. It does not come from a transcript (U3). */
export type RepeatInput = InputOf<'runner.repeat'>;

/**
 * Lets a performer answer a context several times, at most `parallel` tries at once. Each try is a job and a branch. A command-line agent works in a
 * separate folder for each try. The check gives each successful try a score, which becomes a tag of its branch. @throws the errors of `startJob`;
 * UNAVAILABLE if this process cannot make folders or run commands
 */
export async function* repeatWork(parts: RunnerParts, input: RepeatInput, signal?: AbortSignal): AsyncGenerator<JobEvent, { tries: Try[] }> {
  const { times, parallel = defaultParallel } = input;
  findCommit(parts.chain, input.commit, 'commit');
  performerOf(parts, { commit: input.commit }, input.performer);
  if (isAgent(input.performer) || input.check !== undefined) workshopOf(parts);
  await removeLeftTries(parts);
  const events = openMailbox<JobEvent>();
  const tries: Try[] = [];
  let next = 1;
  const work = async (): Promise<void> => {
    for (let number = next++; number <= times && !signal?.aborted; number = next++)
      tries[number - 1] = await attempt(parts, input, number, events.put);
  };
  const all = Promise.allSettled(Array.from({ length: Math.min(parallel, times) }, work)).finally(events.close);
  yield* events.read();
  const failed = (await all).find((end) => end.status === 'rejected');
  if (failed) throw failed.reason;
  return { tries: tries.filter((each) => each !== undefined) };
}

function workshopOf({ workshop }: RunnerParts): Workshop {
  if (!workshop) throw new StemmaError('UNAVAILABLE', 'This process cannot make folders for tries, and runs no commands.');
  return workshop;
}

async function attempt(parts: RunnerParts, input: RepeatInput, number: number, tell: (event: JobEvent) => void): Promise<Try> {
  const { chain } = parts;
  const { commit, limits, tools, otherTools, check } = input;
  // The names of a project's try folders begin with its id.
  const own = isAgent(input.performer) ? await workshopOf(parts).make(input.performer.folder, `${readProjectId(chain)}-${chain.newId()}`) : undefined;
  const performer = own === undefined ? input.performer : { ...input.performer, folder: own };
  const jobId = await started(parts, { what: { commit }, performer, limits, tools, otherTools, try: number }, own);
  for await (const event of followJob(parts, jobId)) tell(event);
  const { status, commits } = jobNamed(chain, jobId);
  const tip = commits.at(-1) ?? null;
  // A try without a commit has no branch whose deletion would remove the folder.
  if (own !== undefined && tip === null) await workshopOf(parts).remove(own);
  const tried = { number, jobId, status, commit: tip, folder: tip === null ? null : (own ?? null) };
  if (check === undefined || tip === null || status !== 'success') return { ...tried, score: null, output: null };
  return { ...tried, ...(await scoreOf(parts, tip, check, own)) };
}

/** Starts the job of a try. If it cannot start, its folder is removed. */
async function started(parts: RunnerParts, input: StartInput, folder: string | undefined): Promise<string> {
  try {
    return startJob(parts, input).jobId;
  } catch (error) {
    if (folder !== undefined) await workshopOf(parts).remove(folder);
    throw error;
  }
}

/** Runs the check of a person on a try, and tags its branch with the score. */
async function scoreOf(parts: RunnerParts, tip: ContextId, check: string, folder: string | undefined): Promise<{ score: 0 | 1; output: string }> {
  const { chain } = parts;
  const said = contextEntries(chain, { id: tip }).findLast(({ entry }) => entry.role === 'assistant' && entry.kind === 'text')?.entry.text ?? '';
  const { passed, output } = await workshopOf(parts).check(check, folder, said, parts.environment);
  const score = passed ? 1 : 0;
  update(chain, tip, { tags: [...show(chain, tip).tags, `score:${score}`] });
  return { score, output };
}

/** Removes the folders of tries whose branch was deleted. */
export async function removeDiscarded({ chain, workshop }: Pick<RunnerParts, 'chain' | 'workshop'>): Promise<void> {
  if (!workshop) return;
  const hidden = hiddenCommits(chain, { archived: true });
  for (const { status, performer, commits } of allJobs(chain)) {
    const tip = commits.at(-1);
    if (status !== 'running' && 'agent' in performer && tip && hidden.has(findCommit(chain, tip).seq)) await workshop.remove(performer.folder);
  }
}

/** Removes the folders of tries that ended, or whose process died, before they made a commit, because no branch leads to these folders. */
export async function removeLeftTries({ chain, workshop }: Pick<RunnerParts, 'chain' | 'workshop'>): Promise<void> {
  for (const { folder, isHeld } of (await workshop?.made(readProjectId(chain))) ?? []) {
    const job = chain.db.one<{ status: JobStatus; commits: string }>(
      "SELECT status, commits FROM job WHERE project = ? AND performer ->> 'folder' = ? ORDER BY no DESC LIMIT 1",
      [chain.project, folder],
    );
    const isLeft = job === undefined ? !isHeld : job.status !== 'running' && job.commits === '[]';
    if (isLeft) await workshop?.remove(folder);
  }
}
