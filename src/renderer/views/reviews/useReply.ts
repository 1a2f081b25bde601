import { useEffect, useState } from 'react';
import type { ReplyPart } from '../../../core/contract/index.js';
import { api } from '../../client';
import { describeProblem } from '../../parts';
import { readStream, refreshProject, ticketsChanged } from '../../state';

/** A provider's answer to the last message of a thread, as it arrives. */
export interface ThreadReply {
  readonly parts: readonly ReplyPart[];
  readonly running: boolean;
  readonly problem: string | undefined;
  readonly answer: (provider: string, model: string | undefined) => Promise<void>;
  readonly stop: () => void;
  readonly clear: () => void;
}

/** Lets a provider answer the last message of a ticket's thread. The parts stay until the thread itself contains the reply. */
export function useReply(ticketId: string): ThreadReply {
  const [parts, setParts] = useState<readonly ReplyPart[]>([]);
  const [running, setRunning] = useState<AbortController>();
  const [problem, setProblem] = useState<string>();
  useEffect(() => () => running?.abort(), [running]);
  return {
    parts,
    running: running !== undefined,
    problem,
    stop: () => running?.abort(),
    clear: () => {
      setParts([]);
      setProblem(undefined);
    },
    answer: async (provider, model) => {
      const controller = new AbortController();
      setParts([]);
      setProblem(undefined);
      setRunning(controller);
      try {
        const received: ReplyPart[] = [];
        await readStream(
          (signal) => api.ticket.answer({ ticketId, provider, ...(model && { model }) }, { signal }),
          controller.signal,
          (part) => {
            received.push(part);
            setParts([...received]);
          },
        );
        // The thread now contains the reply, but not the notices about it.
        setParts(controller.signal.aborted ? [] : received.filter((part) => part.kind === 'notice'));
      } catch (error) {
        setProblem(describeProblem(error).message);
        setParts([]);
      }
      setRunning(undefined);
      await refreshProject();
      ticketsChanged();
    },
  };
}
