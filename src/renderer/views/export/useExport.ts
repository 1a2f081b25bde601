import { useState } from 'react';
import type { ContextId, ExportFormat, Stop } from '../../../core/contract/index.js';
import { api } from '../../client';
import { type Query, type TaskState, useQuery, useTask } from '../../state';

/** The format in which a collector receives a context. */
export const spanFormat = 'otlp-v1';

/** The result of `export.context`, or the destination of `export.spans`. */
export type ExportResult = Awaited<ReturnType<typeof api.export.context>> & { readonly sentTo?: string };

export interface Choice {
  readonly stop: 'compaction' | 'root';
  readonly format: string | undefined;
  readonly redact: boolean;
  readonly redactIps: boolean;
}

/** The state and the actions of the export sheet for one commit. */
export function useExport(commit: ContextId, given: Stop) {
  const [choice, setChoice] = useState<Choice>({
    stop: given === 'root' ? 'root' : 'compaction',
    format: undefined,
    redact: false,
    redactIps: false,
  });
  const [state, run, forget] = useTask<ExportResult>();
  const { stop } = choice;
  const formats = useQuery(`${commit} ${stop}`, () => api.export.formats({ id: commit, stop }));
  const format = formats.status === 'done' ? formats.data.find((one) => one.format === (choice.format ?? firstChoice(formats.data))) : undefined;
  const redact = choice.redact && format?.redacts === true;
  const ask = (more: { path?: string; dryRun?: boolean } = {}) => {
    if (!format) throw new Error('no format is chosen yet');
    return api.export.context({ id: commit, stop, format: format.format, ...(redact && { redact, redactIps: choice.redactIps }), ...more });
  };
  const found = useQuery(
    redact && format ? `${commit} ${stop} ${format.format} ${choice.redactIps}` : null,
    async () => (await ask({ dryRun: true })).redactions ?? [],
  );
  return {
    choice,
    choose: (next: Partial<Choice>) => {
      setChoice({ ...choice, ...next });
      forget();
    },
    formats,
    format,
    redact,
    found,
    state,
    blocked: reasonToWait(formats, found, state),
    writeFile: (path: string) => run(() => ask({ path })),
    /** Sends the context as spans to a collector. */
    send: (address: string) =>
      run(async () => {
        const sent = await api.export.spans({ id: commit, stop, address, ...(redact && { redact, redactIps: choice.redactIps }) });
        return { ...sent, format: spanFormat, sentTo: address };
      }),
    /** Exports and hands the result to `use`. */
    take: (use: (written: ExportResult) => void | Promise<void>) =>
      run(async () => {
        const written = await ask();
        await use(written);
        return written;
      }),
  };
}

/** The format that loses nothing, otherwise the first of the list. */
const firstChoice = (formats: readonly ExportFormat[]): string | undefined => (formats.find(({ tier }) => tier === 'native') ?? formats[0])?.format;

/** Why an export cannot start yet: the replacements of a redaction must be shown before anything is written. */
function reasonToWait(formats: Query<unknown>, found: Query<unknown>, { state }: TaskState<unknown>): string | undefined {
  if (state === 'running') return 'Writing…';
  if (formats.status === 'failed') return 'The formats could not be listed';
  if (formats.status !== 'done') return 'Checking what each format can hold…';
  if (found.status === 'loading') return 'Searching for secrets…';
  if (found.status === 'failed') return 'The search for secrets failed';
  return found.status === 'canceled' ? 'The search for secrets was stopped' : undefined;
}
