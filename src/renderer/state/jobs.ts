import type { JobEvent, Performer, RunLimits, Work } from '../../core/contract/index.js';
import { api } from '../client';
import { go } from './navigation';
import { refreshProject } from './project';
import { notify } from './ui';

/** What `runner.start` needs. */
export interface JobInput {
  readonly what: Work;
  readonly performer: Performer;
  readonly limits: RunLimits;
}

/** Starts a job and shows it. The job goes on when the window stops reading. */
export async function startJob(input: JobInput): Promise<void> {
  const stream = await api.runner.start(input);
  const first = await stream.next();
  const jobId = first.done ? first.value.jobId : first.value.jobId;
  void stream.return?.(undefined as never).catch(() => {});
  await refreshProject();
  go({ view: 'jobs', job: jobId });
  notify('The job runs. You can leave this page.');
}

/** A line of a job's stream: pieces of one text are joined. */
export interface JobLine {
  readonly number: number;
  readonly at: string;
  readonly kind: JobEvent['kind'];
  readonly text: string;
  readonly toolName: string | undefined;
  /** The result of a call, where it is known. */
  readonly result: string | undefined;
  readonly requestId: string | undefined;
}

/** The events of a job as lines: a call and its result are one line, and usage is left out. */
export function linesOfJob(events: readonly JobEvent[]): readonly JobLine[] {
  const lines: JobLine[] = [];
  for (const { number, at, kind, text, toolName, requestId } of events) {
    const last = lines.at(-1);
    if (kind === 'usage' || kind === 'began') continue;
    if ((kind === 'text' || kind === 'thinking') && last?.kind === kind && last.number === number) {
      lines[lines.length - 1] = { ...last, text: last.text + text };
      continue;
    }
    const asked =
      kind === 'result'
        ? lines.findLastIndex((line) => line.kind === 'call' && line.result === undefined && (toolName === undefined || line.toolName === toolName))
        : -1;
    const call = lines[asked];
    if (call) lines[asked] = { ...call, result: text };
    else lines.push({ number, at, kind, text, toolName, result: undefined, requestId });
  }
  return lines;
}
