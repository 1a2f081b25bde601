import { useMemo } from 'react';
import type { CommitPlace, ContextId } from '../../core/contract/index.js';
import { api } from '../client';
import { Memory } from './memory';
import { useNavigation } from './navigation';
import { type Query, useKept, useQuery } from './query';

const places = new Memory<CommitPlace>(30);

/** Where a commit is in the session that was chosen: its session, its branch and its turn. The place of the commit before is kept until it arrives. */
export function usePlace(project: string | undefined, commit: ContextId | undefined): Query<CommitPlace> {
  const session = useNavigation(({ route }) => route.session);
  return useKept(
    useQuery(
      project && commit ? `${project} ${commit} ${session}` : null,
      (signal) => api.session.place({ id: commit as ContextId, session }, { signal }),
      places,
    ),
    project,
  );
}

/** The numbers of the turns on a commit's branch, as the breadcrumb shows them, and how many there are. */
export interface TurnCount {
  readonly of: number;
  readonly numbers: ReadonlyMap<ContextId, number>;
}

const unknown: TurnCount = { of: 0, numbers: new Map() };

/** The turn numbers of the commits before and after a commit; none while they load. */
export function useTurnNumbers(project: string | undefined, commit: ContextId | undefined): TurnCount {
  const place = usePlace(project, commit);
  const turns = place.status === 'done' ? place.data.turns : undefined;
  return useMemo(() => (turns ? { of: turns.length, numbers: new Map(turns.map((turn) => [turn.commit, turn.number] as const)) } : unknown), [turns]);
}
