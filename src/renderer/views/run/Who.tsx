import { Settings } from 'lucide-react';
import type { ReactNode } from 'react';
import type { Wire } from '../../../core/contract/index.js';
import { api } from '../../client';
import { IconButton } from '../../parts';
import { type Query, show, useKept, useQuery, useUi } from '../../state';

export interface Provider {
  readonly id: string;
  readonly title: string;
  readonly wire?: Wire | undefined;
  readonly models: readonly string[];
  readonly problem?: string | undefined;
}

/** Who can be asked, asked for anew each time that the sheet with the providers opens or closes. */
export function useProviders(): Query<readonly Provider[]> {
  const isSheetOpen = useUi(({ sheet }) => sheet?.kind === 'providers');
  return useKept(useQuery(`providers ${isSheetOpen}`, (signal) => api.turn.providers({}, { signal })));
}

const remembered = 'stemma.run.provider';

/** The provider that was asked last, where it can be asked now. */
export function lastProvider(providers: readonly Provider[]): string {
  const last = localStorage.getItem(remembered);
  return providers.find((each) => each.id === last && !each.problem)?.id ?? 'recorded';
}
export const rememberProvider = (id: string): void => localStorage.setItem(remembered, id);

export type Unanswered = 'stop' | 'ask';

interface WhoProps {
  readonly providers: readonly Provider[];
  readonly provider: string;
  readonly onProvider: (id: string) => void;
  readonly model: string;
  readonly onModel: (name: string) => void;
  /** The model that is asked where none is named. */
  readonly usual: string | null;
  readonly unanswered: Unanswered;
  readonly onUnanswered: (how: Unanswered) => void;
  readonly children?: ReactNode;
}

/** Who is asked, and what happens at a call of a tool that nobody answered before. */
export function Who({ providers, provider, onProvider, model, onModel, usual, unanswered, onUnanswered, children }: WhoProps) {
  const isRecorded = provider === 'recorded';
  const chosen = providers.find((each) => each.id === provider);
  return (
    <section className="ask-who" aria-label="Who is asked">
      <label>
        <span className="muted">Asked of</span>
        <select className="field" aria-label="Provider" value={provider} onChange={(event) => onProvider(event.target.value)}>
          {providers.map((each) => (
            <option key={each.id} value={each.id} disabled={each.problem !== undefined}>
              {each.title}
              {each.problem !== undefined && ' (not there)'}
            </option>
          ))}
        </select>
      </label>
      <IconButton icon={Settings} label="Providers and keys" onClick={() => show({ kind: 'providers' })} />
      {!isRecorded && (
        <label>
          <span className="muted">Model</span>
          <input
            className="field"
            aria-label="Model"
            list="run-models"
            placeholder={usual ?? chosen?.models[0] ?? 'name of a model'}
            value={model}
            onChange={(event) => onModel(event.target.value)}
          />
          <datalist id="run-models">
            {chosen?.models.map((name) => (
              <option key={name} value={name} />
            ))}
          </datalist>
        </label>
      )}
      {children}
      {!isRecorded && (
        <label title="Tools are never run: a call is answered from the recording where it is the same">
          <span className="muted">Other tool calls</span>
          <select
            className="field"
            aria-label="Tool calls that the recording has no answer to"
            value={unanswered}
            onChange={(event) => onUnanswered(event.target.value === 'stop' ? 'stop' : 'ask')}
          >
            <option value="ask">ask me</option>
            <option value="stop">stop there</option>
          </select>
        </label>
      )}
    </section>
  );
}
