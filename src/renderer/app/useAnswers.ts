import { useEffect } from 'react';
import type { Commit } from '../../core/contract/index.js';
import { api } from '../client';
import { agentOf, agents, say } from '../parts';
import { notify, useLive } from '../state';
import { compareWithOriginal } from '../views/original';

/** More commits than this arrive from an import, not from an agent that answers. */
const most = 20;

/** Announces each answer of an agent to a fork that was continued in it, with the comparison one click away. */
export function useAnswers(): void {
  const arrived = useLive((live) => live.arrived);
  useEffect(() => {
    if (arrived.length > most) return;
    for (const commit of arrived) void announce(commit).catch(() => {});
  }, [arrived]);
}

async function announce({ id, parent, checkpoint, format, type }: Commit): Promise<void> {
  // Stemma's own commits are explicit: the person sees them where they are made.
  if (parent === null || checkpoint === 'explicit' || type !== 'delta') return;
  const { fork, answer } = await api.turn.original({ id });
  if (fork === null || fork === id || answer !== id) return;
  const { summary } = await api.context.show({ id: fork });
  const title = say.firstLine(summary ?? '', 60);
  notify(`${agents[agentOf(format)].name} answered ${title ? `“${title}”` : 'the fork'}`, {
    name: 'Compare',
    act: () => void compareWithOriginal(id).catch(() => {}),
  });
}
