import { useMemo } from 'react';
import type { CommitPlace, ContextId } from '../../core/contract/index.js';
import { api } from '../client';
import { AnswerMemory } from './memory';
import { useNavigation } from './navigation';
import { type Query, useKeptQuery } from './query';

const places = new AnswerMemory<CommitPlace>(30);

/** The session, branch and turn of a commit within the chosen session. The place of the previous commit stays until the new one arrives. */
export function usePlace(project: string | undefined, commit: ContextId | undefined): Query<CommitPlace> {
  const session = useNavigation(({ route }) => route.session);
  return useKeptQuery(
    project,
    project && commit ? `${project} ${commit} ${session}` : null,
    (signal) => api.session.place({ id: commit as ContextId, session }, { signal }),
    places,
  );
}

/** The turn numbers on a commit's branch, as the breadcrumb shows them, and their count. */
export interface TurnCount {
  readonly of: number;
  readonly numbers: ReadonlyMap<ContextId, number>;
}

const unknown: TurnCount = { of: 0, numbers: new Map() };

/** The number of each commit of a turn. A prompt that was edited here and its answer have one number. */
const numbersOf = (turns: CommitPlace['turns']): ReadonlyMap<ContextId, number> =>
  new Map(turns.flatMap(({ commit, number, parts = [] }) => [...parts, commit].map((id) => [id, number] as const)));

type Turns = CommitPlace['turns'];

const turnLists = new AnswerMemory<Turns>(4);

async function turnsOf(tip: ContextId, session: string | undefined, signal: AbortSignal): Promise<Turns> {
  const all: Turns = [];
  for (;;) {
    const { turns, turnCount } = await api.session.place({ id: tip, session, turns: { offset: all.length, limit: turnsInPage } }, { signal });
    all.push(...turns);
    if (turns.length === 0 || all.length >= turnCount) return all;
  }
}

const turnsInPage = 2_000;

/** The turn numbers of the commits before and after a commit; empty while they load. Those of a long branch come later than those near the commit. */
export function useTurnNumbers(project: string | undefined, commit: ContextId | undefined): TurnCount {
  const session = useNavigation(({ route }) => route.session);
  const place = usePlace(project, commit);
  const near = place.status === 'done' ? place.data : undefined;
  const tip = near && near.turns.length < near.turnCount ? near.branch.tip : undefined;
  const whole = useKeptQuery(
    `${project} ${tip} ${session}`,
    tip ? `${project} ${tip} ${session}` : null,
    (signal) => turnsOf(tip as ContextId, session, signal),
    turnLists,
  );
  const turns = tip && whole.status === 'done' ? whole.data : near?.turns;
  const of = near?.turnCount ?? 0;
  return useMemo(() => (turns ? { of, numbers: numbersOf(turns) } : unknown), [turns, of]);
}
