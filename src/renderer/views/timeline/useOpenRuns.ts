import { useEffect } from 'react';
import type { Run, Space } from '../../../core/contract/index.js';
import { api } from '../../client';
import type { SpaceData } from './space';

/** Milliseconds between two checks of the open runs of a space. */
const every = 2_000;

const writeState = (lastMessage: string | undefined, runs: readonly Run[]): string =>
  JSON.stringify([lastMessage, runs.map(({ runId, status }) => `${runId} ${status}`).sort()]);

/** Reloads a space when an open run has changed something. Polls, because the engine does not report the changes of jobs to the window. */
export function useOpenRuns({ spaceId, members }: Space, data: SpaceData | undefined, onChange: () => void): void {
  const open = data?.runs.filter(({ endedAt }) => endedAt === null) ?? [];
  const shown = writeState(data?.messages.at(-1)?.id, open);
  const isOpen = open.length > 0;
  useEffect(() => {
    if (!isOpen) return;
    const ids = new Set(members.map(({ entityId }) => entityId));
    const look = async (): Promise<void> => {
      const [{ messages }, running, waiting] = await Promise.all([
        api.space.messages({ spaceId, limit: 1 }),
        api.run.list({ status: 'running' }),
        api.run.list({ status: 'waiting_reply' }),
      ]);
      const now = [...running, ...waiting].filter(({ entityId }) => ids.has(entityId));
      if (writeState(messages.at(-1)?.messageId, now) !== shown) onChange();
    };
    const timer = setInterval(() => void look().catch(() => {}), every);
    return () => clearInterval(timer);
  }, [spaceId, members, isOpen, shown, onChange]);
}
