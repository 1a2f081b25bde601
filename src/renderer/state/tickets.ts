import { useMemo } from 'react';
import { create } from 'zustand';
import type { ContextId } from '../../core/contract/index.js';
import { api } from '../client';
import { useProject } from './project';
import { useKept, useQuery } from './query';

const actorKey = 'stemma.actor';

export const useTickets = create<{
  /** As whom the person writes in tickets: what an agent of that name understood is found by it. */
  readonly actor: string;
  /** Goes up whenever a ticket was changed, here or by anybody else, so that lists are read again. */
  readonly revision: number;
}>(() => ({ actor: localStorage.getItem(actorKey) || 'me', revision: 0 }));

export function setActor(actor: string): void {
  localStorage.setItem(actorKey, actor);
  useTickets.setState({ actor });
}

export const ticketsChanged = (): void => useTickets.setState(({ revision }) => ({ revision: revision + 1 }));

export type TicketAtCommit = Awaited<ReturnType<typeof api.ticket.ofContexts>>[number];

const none: ReadonlyMap<ContextId, readonly TicketAtCommit[]> = new Map();

/** Which tickets were written with, or discussed in, which of some commits. What was known of others stays until the answer is there. */
export function useTicketsAtCommits(project: string, ids: readonly ContextId[]): ReadonlyMap<ContextId, readonly TicketAtCommit[]> {
  const commits = useProject((state) => state.revision);
  const tickets = useTickets((state) => state.revision);
  const query = useKept(
    useQuery(`${project} ${commits} ${tickets} ${ids.join()}`, () => api.ticket.ofContexts({ ids: [...ids] })),
    project,
  );
  const rows = query.status === 'done' ? query.data : undefined;
  return useMemo(() => (rows ? Map.groupBy(rows, (row) => row.contextId) : none), [rows]);
}
