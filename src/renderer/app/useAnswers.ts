import { useEffect, useRef } from 'react';
import type { Commit } from '../../core/contract/index.js';
import { api } from '../client';
import { agents, findAgent, say } from '../parts';
import { notify, useLive } from '../state';
import { compareWithOriginal } from '../views/original';

/** More commits than this arrive from an import, not from an agent that answers. */
const most = 20;

/** Commits that arrive within this many milliseconds of each other arrived together. The engine looks for changes every 300 ms. */
const togetherMs = 500;

/** Announces each answer of an agent to a fork that was continued in it, with the comparison one click away. */
export function useAnswers(): void {
  const arrived = useLive((live) => live.arrived);
  const together = useRef<readonly Commit[]>([]);
  useEffect(() => {
    // Another project has no commits yet.
    together.current = arrived.length === 0 ? [] : [...together.current, ...arrived].slice(0, most + 1);
    const timer = setTimeout(() => {
      const commits = together.current;
      together.current = [];
      if (commits.length <= most) for (const commit of commits) void announce(commit).catch(() => {});
    }, togetherMs);
    return () => clearTimeout(timer);
  }, [arrived]);
}

async function announce({ id, parent, checkpoint, format, type }: Commit): Promise<void> {
  // Stemma's own commits are explicit: the person sees them where they are made.
  if (parent === null || checkpoint === 'explicit' || type !== 'delta') return;
  const { fork, answer } = await api.turn.original({ id });
  if (fork === null || fork === id || answer !== id) return;
  const { summary } = await api.context.show({ id: fork });
  const title = say.firstLine(summary ?? '', 60);
  notify(`${agents[findAgent(format)].name} answered ${title ? `“${title}”` : 'the fork'}`, {
    name: 'Compare',
    act: () => void compareWithOriginal(id).catch(() => {}),
  });
}
