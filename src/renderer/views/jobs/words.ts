import type { Job, Performer, RunLimits } from '../../../core/contract/index.js';
import { agents, say } from '../../parts';

const defaultLimits = { calls: 50, minutes: 30 };

/** The performer of a job in words. */
export const performerName = (performer: Performer): string =>
  'agent' in performer
    ? agents[performer.agent].name
    : performer.model === undefined
      ? performer.provider
      : `${performer.provider} · ${performer.model}`;

const taskWords: Readonly<Record<string, string>> = {
  work: 'Work',
  review: 'Review',
  'address findings': 'Address the findings',
  decide: 'Decide',
  answer: 'Answer',
  'verify resolution': 'Verify the resolution',
};

/** The work of a job and the agent or person it is for, in words. The engine names work without a text by its id, which is not shown. */
export function jobTitle({ what, title, whoName }: Pick<Job, 'what' | 'title' | 'whoName'>): string {
  const [, attempt = '', named = ''] = /^(Try \d+: )?(.*)$/s.exec(title) ?? [];
  const text = Object.values(what).includes(named) ? '' : say.firstLine(named, 140);
  const about = text && `: ${text}`;
  const who = whoName ?? 'an agent';
  if ('commit' in what) return `${attempt}${text ? `Answer to: ${text}` : 'Answer to a context without a title'}`;
  if ('caseId' in what) return `${attempt}Experiment case${about}`;
  if ('turnId' in what) return `${attempt}Turn of ${who}${about}`;
  if ('runId' in what) return `${attempt}Run of ${who}${about}`;
  const [task = '', ...ticket] = text.split(': ');
  return `${attempt}${taskWords[task] ?? task}${whoName === null ? '' : ` for ${whoName}`}: ${ticket.join(': ')}`;
}

/** The group of the jobs that no longer run. */
export const endedGroup = 'Ended';

/** The groups of the list, in their order. */
export function groupJobs(jobs: readonly Job[]): readonly { readonly name: string; readonly jobs: readonly Job[] }[] {
  const asks = (job: Job): boolean => job.status === 'running' && job.questions.length > 0;
  return [
    { name: 'Needs an answer', jobs: jobs.filter(asks) },
    { name: 'Running', jobs: jobs.filter((job) => job.status === 'running' && !asks(job)) },
    { name: endedGroup, jobs: jobs.filter((job) => job.status !== 'running') },
  ].filter((group) => group.jobs.length > 0);
}

/** The milliseconds that a job has run. */
export const runTime = ({ startedAt, endedAt }: Pick<Job, 'startedAt' | 'endedAt'>, now: number): number =>
  Math.max(0, (endedAt === null ? now : Date.parse(endedAt)) - Date.parse(startedAt));

const dollars = (amount: number): string => say.money({ amount, currency: 'USD' });

/** The usage of a job in one line. */
export const usedText = ({ used }: Pick<Job, 'used'>): string =>
  [
    say.plural(used.calls, 'call'),
    used.tokens === null ? undefined : `${say.exact(used.tokens)} tokens`,
    used.cost === null ? undefined : dollars(used.cost),
  ]
    .filter((part) => part !== undefined)
    .join(' · ');

export interface LimitRow {
  readonly name: string;
  readonly value: string;
  readonly limit: string | undefined;
  /** From 0 to 1; undefined without a limit or a count. */
  readonly share: number | undefined;
}

/** The used share of each limit of a job. */
export function limitRows(job: Pick<Job, 'used' | 'limits' | 'startedAt' | 'endedAt'>, now: number): readonly LimitRow[] {
  const { used } = job;
  const limits: RunLimits = { ...defaultLimits, ...job.limits };
  const row = (name: string, value: number | null, limit: number | undefined, text: (value: number) => string): LimitRow => ({
    name,
    value: value === null ? 'not recorded' : text(value),
    limit: limit === undefined ? undefined : text(limit),
    share: value === null || limit === undefined ? undefined : Math.min(1, value / limit),
  });
  return [
    row('Calls', used.calls, limits.calls, say.exact),
    row('Tokens', used.tokens, limits.tokens, say.exact),
    row('Cost', used.cost, limits.cost, dollars),
    row('Time', runTime(job, now), limits.minutes === undefined ? undefined : limits.minutes * 60_000, say.duration),
  ];
}

/** The arguments of a tool call for a person: the command if there is one, else the JSON. */
export function argumentsText(text: string): string {
  try {
    const given = JSON.parse(text) as unknown;
    if (typeof given === 'object' && given !== null && 'command' in given && typeof given.command === 'string') return given.command;
    return JSON.stringify(given, null, 2);
  } catch {
    return text;
  }
}

/** Arguments of a tool call in one line: a command, or the values without their names. */
export function argumentsLine(text: string): string {
  const shown = argumentsText(text);
  try {
    const given = JSON.parse(shown) as unknown;
    if (typeof given !== 'object' || given === null) return shown;
    return Object.values(given)
      .map((value) => (typeof value === 'string' ? value : JSON.stringify(value)))
      .join(', ');
  } catch {
    return shown;
  }
}
