import type { AnalysisSums } from '../../../core/contract/index.js';
import { api } from '../../client';
import { AnswerMemory, type Query, useKept, useProject, useQuery } from '../../state';
import { type Slices, slicesIn } from './slices';

/** A session as the table and the panel name it. */
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

type Rows = readonly (readonly unknown[])[];

/** The facts from which the place computes all of its sums. Facets, groups and sorts ask the engine nothing. */
export interface UsageFacts {
  readonly sessions: ReadonlyMap<string, SessionFact>;
  /** The sums of calls and of tool calls. */
  readonly slices: Slices;
  readonly events: Events;
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

/** The sessions by id, from the rows of `analysis.sums`. */
export const sessionsIn = (rows: Rows): ReadonlyMap<string, SessionFact> =>
  new Map(
    rows.map(([id, title, repository, person, agent, tip, parent, branch]) => [
      text(id),
      {
        title: text(title) || text(id),
        repository: text(repository),
        person: text(person),
        agent: text(agent),
        tip: text(tip) || undefined,
        parent: text(parent) || undefined,
        branch: text(branch),
      },
    ]),
  );

/** A commit of a kind of its own: a turn of a fork that was made in Stemma, or a compaction. */
export interface Event {
  readonly session: string;
  readonly day: string;
  readonly commit: string;
  readonly calls: number;
  readonly cost: number;
}

/** The turns of forks, and the compactions. */
export interface Events {
  readonly forks: readonly Event[];
  readonly compactions: readonly Event[];
}

const eventsIn = ({ forks, compactions }: Pick<AnalysisSums, 'forks' | 'compactions'>): Events => ({
  forks: forks.map(([day, session, commit, calls, cost]) => ({ day, session: session ?? '', commit, calls, cost })),
  compactions: compactions.map(([day, session, commit]) => ({ day, session: session ?? '', commit, calls: 0, cost: 0 })),
});

const facts = new AnswerMemory<UsageFacts>(2);

/** The facts of a project, kept until it changes. */
export const useFacts = (project: string): Query<UsageFacts> =>
  useKept(
    useQuery(
      project,
      async (signal) => {
        const sums = JSON.parse((await api.analysis.sums({}, { signal })).packed) as AnalysisSums;
        const known = sessionsIn(sums.sessions);
        return { sessions: known, slices: slicesIn(sums, known), events: eventsIn(sums) };
      },
      facts,
    ),
    project,
  );

/** The date of the prices, the budgets of this machine, and the days that cost more. Days are in UTC, as all sums of this place. */
export function useBudgets(project: string) {
  const revision = useProject((state) => state.revision);
  const query = useQuery(`${project} ${revision}`, (signal) => api.usage.sessions({ groupBy: null }, { signal }));
  const kept = useKept(query, project);
  return kept.status === 'done' ? kept.data : undefined;
}
