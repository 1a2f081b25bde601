import { useMemo } from 'react';
import type { AnalysisAnswer, AnalysisSums } from '../../../core/contract/index.js';
import { api } from '../../client';
import { AnswerMemory, type Query, useKept, useProject, useQuery } from '../../state';
import { compactionsSql, forksSql } from './statements';
import type { Slice } from './sums';

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
  readonly slices: readonly Slice[];
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const number = (value: unknown): number => (typeof value === 'number' ? value : 0);

const nothing = {
  ...{ calls: 0, input: 0, cacheRead: 0, cacheWrite: 0, output: 0, cost: 0, unpriced: 0, uncountedInputs: 0, uncountedOutputs: 0 },
  ...{ misses: 0, loss: 0, waitMs: 0, toolCalls: 0, results: 0, errors: 0, toolMs: 0 },
};

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

const placeIn = (sessions: ReadonlyMap<string, SessionFact>, session: string) => {
  const found = sessions.get(session);
  return { session, repository: found?.repository ?? '', person: found?.person ?? '', branch: found?.branch ?? '' };
};

type Numbers = readonly (readonly number[])[];

/** Sums of calls, from the rows of `analysis.sums`. */
export const slicesIn = (rows: Numbers, names: readonly string[], sessions: ReadonlyMap<string, SessionFact>): readonly Slice[] =>
  rows.map(([day = 0, session = 0, agent = 0, model = 0, ...counts]) => {
    const [calls, input, cacheRead, cacheWrite, output, cost, unpriced, uncountedInputs, uncountedOutputs, misses, loss, waitMs] = counts;
    return {
      ...nothing,
      ...placeIn(sessions, names[session] ?? ''),
      day: names[day] ?? '',
      agent: names[agent] ?? '',
      model: names[model] ?? '',
      ...({ calls, input, cacheRead, cacheWrite, output, cost, unpriced, uncountedInputs, uncountedOutputs, misses, loss, waitMs } as Partial<Slice>),
    };
  });

/** Sums of tool calls, from the rows of `analysis.sums`. */
export const toolSlicesIn = (rows: Numbers, names: readonly string[], sessions: ReadonlyMap<string, SessionFact>): readonly Slice[] =>
  rows.map(([day = 0, session = 0, agent = 0, model = 0, tool = 0, toolCalls = 0, results = 0, errors = 0, toolMs = 0]) => ({
    ...nothing,
    ...placeIn(sessions, names[session] ?? ''),
    ...{ day: names[day] ?? '', agent: names[agent] ?? '', model: names[model] ?? '', tool: names[tool] ?? '' },
    ...{ toolCalls, results, errors, toolMs },
  }));

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

const eventsIn = (forks: Rows, compactions: Rows): Events => ({
  forks: forks.map(([session, day, calls, cost, turn]) => ({
    ...{ session: text(session), day: text(day), calls: number(calls), cost: number(cost), commit: text(turn) },
  })),
  compactions: compactions.map(([session, day, commit]) => ({ session: text(session), day: text(day), calls: 0, cost: 0, commit: text(commit) })),
});

/** The engine's largest answer. */
const limit = 100_000;
const answers = new AnswerMemory<AnalysisAnswer>(12);

/** The answer to a statement, kept until the project changes. */
const useSql = (project: string, sql: string | null): Query<AnalysisAnswer> =>
  useKept(
    useQuery(sql === null ? null : `${project} ${sql}`, (signal) => api.analysis.sql({ sql: sql ?? '', limit }, { signal }), answers),
    project,
  );

const facts = new AnswerMemory<UsageFacts>(2);

/** The facts of a project, kept until it changes. */
export const useFacts = (project: string): Query<UsageFacts> =>
  useKept(
    useQuery(
      project,
      async (signal) => {
        const { names, sessions, calls, tools } = JSON.parse((await api.analysis.sums({}, { signal })).packed) as AnalysisSums;
        const known = sessionsIn(sessions);
        return { sessions: known, slices: [...slicesIn(calls, names, known), ...toolSlicesIn(tools, names, known)] };
      },
      facts,
    ),
    project,
  );

/** Forks and compactions; undefined until they are known. */
export function useEvents(project: string): Events | undefined {
  const forks = useSql(project, forksSql);
  const compactions = useSql(project, compactionsSql);
  return useMemo(
    () => (forks.status === 'done' && compactions.status === 'done' ? eventsIn(forks.data.rows, compactions.data.rows) : undefined),
    [forks, compactions],
  );
}

/** The date of the prices, the budgets of this machine, and the days that cost more. Days are in UTC, as all sums of this place. */
export function useBudgets(project: string) {
  const revision = useProject((state) => state.revision);
  const query = useQuery(`${project} ${revision}`, (signal) => api.usage.sessions({ groupBy: null }, { signal }));
  const kept = useKept(query, project);
  return kept.status === 'done' ? kept.data : undefined;
}
