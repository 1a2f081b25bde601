import { useMemo } from 'react';
import { create } from 'zustand';
import type { ContextId } from '../../core/contract/index.js';
import { api } from '../client';
import { useProjectQuery } from './query';

const actorKey = 'stemma.actor';

/** The person's name in tickets, and a revision that makes ticket lists reload. */
export const useTickets = create<{
  /** The name under which the person writes in tickets. */
  readonly actor: string;
  /** Increases when a ticket changes, here or in another process, so that lists reload. */
  readonly revision: number;
}>(() => ({ actor: localStorage.getItem(actorKey) || 'me', revision: 0 }));

/** Sets and remembers the name under which the person writes in tickets. */
export function setActor(actor: string): void {
  localStorage.setItem(actorKey, actor);
  useTickets.setState({ actor });
}

/** Makes ticket lists reload. */
export const ticketsChanged = (): void => useTickets.setState(({ revision }) => ({ revision: revision + 1 }));

export type TicketAtCommit = Awaited<ReturnType<typeof api.ticket.ofContexts>>[number];

const none: ReadonlyMap<ContextId, readonly TicketAtCommit[]> = new Map();

/** The tickets that were written at, or are discussed in, each of the given commits. The previous answer stays until the next arrives. */
export function useTicketsAtCommits(project: string, ids: readonly ContextId[]): ReadonlyMap<ContextId, readonly TicketAtCommit[]> {
  const revision = useTickets((state) => state.revision);
  const { data: rows } = useProjectQuery(project, `${project} ${revision} ${ids.join()}`, () => api.ticket.ofContexts({ ids: [...ids] }));
  return useMemo(() => (rows ? Map.groupBy(rows, (row) => row.contextId) : none), [rows]);
}
