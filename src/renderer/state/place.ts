import { useMemo } from 'react';
import type { CommitPlace, ContextId } from '../../core/contract/index.js';
import { api } from '../client';
import { Memory } from './memory';
import { useNavigation } from './navigation';
import { type Query, useKeptQuery } from './query';

const places = new Memory<CommitPlace>(30);

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

/** The turn numbers of the commits before and after a commit; empty while they load. */
export function useTurnNumbers(project: string | undefined, commit: ContextId | undefined): TurnCount {
  const place = usePlace(project, commit);
  const turns = place.status === 'done' ? place.data.turns : undefined;
  return useMemo(() => (turns ? { of: turns.length, numbers: numbersOf(turns) } : unknown), [turns]);
}
