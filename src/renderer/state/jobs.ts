import type { JobEvent } from '../../core/contract/index.js';
import { api } from '../client';
import { refreshProject, reloadAndOpen } from './project';
import { notify } from './ui';

/** Starts a job and shows it. The job continues if the window stops reading its events. */
export async function startJob(input: Parameters<typeof api.runner.start>[0]): Promise<void> {
  const stream = await api.runner.start(input);
  const first = await stream.next();
  void stream.return?.(undefined as never).catch(() => {});
  await reloadAndOpen({ view: 'jobs', job: first.value.jobId }, 'The job runs. You can leave this page.');
}

/** Starts the tries of a context, and shows the first try. A notice reports the scores after all tries have ended. */
export async function repeatJob(input: Parameters<typeof api.runner.repeat>[0]): Promise<void> {
  const stream = await api.runner.repeat(input);
  const first = await stream.next();
  if (first.done) return;
  void (async () => {
    let step = await stream.next();
    while (!step.done) step = await stream.next();
    const { tries } = step.value;
    const scored = tries.filter(({ score }) => score !== null);
    const ended = `${tries.filter(({ status }) => status === 'success').length} of ${tries.length} tries ended with a reply.`;
    notify(scored.length === 0 ? ended : `${ended} ${scored.filter(({ score }) => score === 1).length} of ${scored.length} passed the check.`);
    await refreshProject();
  })().catch(() => notify('The tries were stopped. See Jobs.'));
  await reloadAndOpen({ view: 'jobs', job: first.value.jobId }, 'The tries run. You can leave this page.');
}

/** A line of a job's stream: pieces of one text are joined. */
export interface JobLine {
  readonly number: number;
  readonly at: string;
  readonly kind: JobEvent['kind'];
  readonly text: string;
  readonly toolName: string | undefined;
  /** The result of a tool call, if it has arrived. */
  readonly result: string | undefined;
  readonly requestId: string | undefined;
}

/** The events of a job as lines. A call and its result share one line, and usage events are omitted. */
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
