import { useMemo } from 'react';
import { create } from 'zustand';
import type { ContextId } from '../../core/contract/index.js';
import { api } from '../client';
import { useProject } from './project';
import { useQuery } from './query';

const actorKey = 'stemma.actor';

export const useTickets = create<{
  /** As whom the person writes in tickets: what an agent of that name understood is found by it. */
  readonly actor: string;
  /** Goes up whenever a ticket was changed in this window, so that lists are read again. */
  readonly revision: number;
}>(() => ({ actor: localStorage.getItem(actorKey) || 'me', revision: 0 }));

export function setActor(actor: string): void {
  localStorage.setItem(actorKey, actor);
  useTickets.setState({ actor });
}

export const ticketsChanged = (): void => useTickets.setState(({ revision }) => ({ revision: revision + 1 }));

export type TicketAtCommit = Awaited<ReturnType<typeof api.ticket.ofContexts>>[number];

const none: ReadonlyMap<ContextId, readonly TicketAtCommit[]> = new Map();

/** Which tickets were written with, or discussed in, which commits of the project. */
export function useTicketsAtCommits(project: string): ReadonlyMap<ContextId, readonly TicketAtCommit[]> {
  const commits = useProject((state) => state.revision);
  const tickets = useTickets((state) => state.revision);
  const query = useQuery(`${project} ${commits} ${tickets}`, () => api.ticket.ofContexts({}));
  const rows = query.status === 'done' ? query.data : undefined;
  return useMemo(() => (rows ? Map.groupBy(rows, (row) => row.contextId) : none), [rows]);
}
