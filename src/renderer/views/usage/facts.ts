import type { AnalysisSums, AnalysisTools } from '../../../core/contract/index.js';
import { api } from '../../client';
import { AnswerMemory, type Query, useKeptQuery, useProjectQuery } from '../../state';
import { callSlices, type Slices } from './slices';

export interface SessionFact {
  readonly title: string;
  readonly repository: string;
  readonly person: string;
  readonly agent: string;
  readonly tip: string | undefined;
  readonly parent: string | undefined;
  /** The branch of git that was checked out last. */
  readonly branch: string;
}

/** The facts from which the place computes all of its sums. Facets, groups and sorts ask the engine nothing. */
export interface UsageFacts {
  readonly sessions: ReadonlyMap<string, SessionFact>;
  readonly slices: Slices;
  readonly events: Events;
}

/** The sessions by id, from an answer of `analysis.sums`. */
export function sessionsIn({ names, sessions: { ids, titles, tips, places } }: Pick<AnalysisSums, 'names' | 'sessions'>): UsageFacts['sessions'] {
  const name = (number: number | undefined): string => names[number ?? -1] ?? '';
  return new Map(
    ids.map((session, at) => {
      const id = name(session);
      const [repository = '', person = '', agent = '', parent = '', branch = ''] = places.map((column) => name(column[at]));
      return [id, { title: titles[at] || id, repository, person, agent, branch, tip: tips[at] || undefined, parent: parent || undefined }] as const;
    }),
  );
}

/** A commit of a kind of its own: a turn of a fork that was made in Stemma, or a compaction. */
export interface Event {
  readonly session: string;
  readonly day: string;
  readonly commit: string;
  readonly calls: number;
  /** Null if no call has a price. */
  readonly cost: number | null;
}

export interface Events {
  readonly forks: readonly Event[];
  readonly compactions: readonly Event[];
}

/** The facts in an answer of `analysis.sums`. */
export function factsIn(sums: AnalysisSums): UsageFacts {
  const sessions = sessionsIn(sums);
  return { sessions, slices: callSlices(sums, sessions), events: eventsIn(sums) };
}

const eventsIn = ({ forks, compactions }: Pick<AnalysisSums, 'forks' | 'compactions'>): Events => ({
  forks: forks.map(([day, session, commit, calls, cost]) => ({ day, session: session ?? '', commit, calls, cost })),
  compactions: compactions.map(([day, session, commit]) => ({ day, session: session ?? '', commit, calls: 0, cost: null })),
});

/** The sums of calls, and the number of commits that they lack. */
export interface CountedSums extends AnalysisSums {
  readonly left: number;
}

const sums = new AnswerMemory<CountedSums>(2);
const tools = new AnswerMemory<AnalysisTools>(2);

/** The sums of the calls of a project, kept until it changes. */
export const useSums = (project: string): Query<CountedSums> => useKeptQuery(project, project, askSums, sums);

async function askSums(signal: AbortSignal): Promise<CountedSums> {
  const { packed, left } = await api.analysis.sums({}, { signal });
  return { ...(JSON.parse(packed) as AnalysisSums), left };
}

/** The sums of its tool calls by tool. They are asked for once the place is shown, because there are several times as many as sums of calls. */
export const useTools = (project: string): Query<AnalysisTools> =>
  useKeptQuery(project, project, async (signal) => JSON.parse((await api.analysis.tools({}, { signal })).packed) as AnalysisTools, tools);

/** The date of the prices, the budgets of this machine, and the days that cost more. Days are in UTC, as all sums of this place. */
export const useBudgets = (project: string) => useProjectQuery(project, project, (signal) => api.usage.sessions({ groupBy: null }, { signal })).data;
