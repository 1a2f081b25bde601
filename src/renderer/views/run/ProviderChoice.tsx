import { Settings } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import type { Wire } from '../../../core/contract/index.js';
import { api } from '../../client';
import { IconButton, Input, Select } from '../../parts';
import { AnswerMemory, type Query, show, useKeptQuery, useUi } from '../../state';

/** What happens at a tool call that has no recorded result: the run stops, or the person enters one. */
type Unanswered = 'stop' | 'ask';

interface ProviderChoiceProps extends ReturnType<typeof useChoice> {
  readonly providers: readonly ReplySource[];
  /** The model that runs if the field is empty. */
  readonly defaultModel: string | null;
  readonly children?: ReactNode;
}

/** The choices for a run: the provider, which is that of the last run if it is available, its model, and what a tool call without a result does. */
export function useChoice(providers: readonly ReplySource[]) {
  const [provider, onProvider] = useState(() => lastProvider(providers));
  const [model, onModel] = useState('');
  const [unanswered, onUnanswered] = useState<Unanswered>('ask');
  return { provider, onProvider, model, onModel, unanswered, onUnanswered };
}

/** Whether a provider has a model. One that lists no models may have any. */
const offers = ({ models }: ReplySource, model: string | null): boolean => models.length === 0 || (model !== null && models.includes(model));

/** The provider and model of a run, and what happens at a tool call without a recorded result. */
export function ProviderChoice(props: ProviderChoiceProps) {
  const { providers, provider, onProvider, model, onModel, defaultModel, unanswered, onUnanswered, children } = props;
  const isRecorded = provider === 'recorded';
  const chosen = providers.find((each) => each.id === provider);
  return (
    <section className="ask-who wrap" aria-label="Provider and model">
      <Select
        before="Provider"
        label="Provider"
        value={provider}
        options={providers.map(({ id, title, problem }) => [id, problem === undefined ? title : `${title} (unavailable)`, problem !== undefined])}
        onChange={(id) => {
          const next = providers.find((each) => each.id === id);
          onProvider(id);
          // The recorded model may not exist at another provider: then its first model is chosen.
          onModel(next && !offers(next, defaultModel) ? (next.models[0] ?? '') : '');
        }}
      />
      <IconButton icon={Settings} label="Providers and keys" onClick={() => show({ kind: 'providers' })} />
      {!isRecorded && (
        <Input
          before="Model"
          label="Model"
          suggestions={chosen?.models ?? []}
          placeholder={(chosen && !offers(chosen, defaultModel) ? chosen.models[0] : defaultModel) ?? 'Model name'}
          value={model}
          onChange={onModel}
        />
      )}
      {children}
      {!isRecorded && (
        <label title="Stemma never runs tools. A call that equals a recorded one gets the recorded result.">
          <span className="muted">New tool calls</span>
          <Select
            label="Tool calls without a recorded result"
            value={unanswered}
            options={Object.entries({ ask: 'Ask me', stop: 'Stop the run' })}
            onChange={onUnanswered}
          />
        </label>
      )}
    </section>
  );
}

/** Explains where replies and tool results come from with the chosen provider. */
export const ProviderHint = ({ provider, ofRecording }: { provider: string; ofRecording: string }) => (
  <p className="muted ask-words">
    {provider === 'recorded'
      ? ofRecording
      : 'Stemma never runs tools. A call that equals a recorded one gets the recorded result; a new call waits for your answer or stops the run.'}
  </p>
);

/** Where a reply can come from: the recording, or a model provider. */
export interface ReplySource {
  readonly id: string;
  readonly title: string;
  readonly wire?: Wire | undefined;
  readonly models: readonly string[];
  readonly problem?: string | undefined;
}

const known = new AnswerMemory<readonly ReplySource[]>(2, 'never');

/** The providers, loaded again each time the Providers sheet opens or closes. */
export function useProviders(): Query<readonly ReplySource[]> {
  const isSheetOpen = useUi(({ sheet }) => sheet?.kind === 'providers');
  return useKeptQuery('', `${isSheetOpen}`, (signal) => api.turn.providers({}, { signal }), known);
}

const remembered = 'stemma.run.provider';

/** The provider of the last run if it is available now; otherwise the recording. */
function lastProvider(providers: readonly ReplySource[]): string {
  const last = localStorage.getItem(remembered);
  return providers.find((each) => each.id === last && !each.problem)?.id ?? 'recorded';
}

/** Remembers the provider of a run in this window's storage. */
export const rememberProvider = (id: string): void => localStorage.setItem(remembered, id);
