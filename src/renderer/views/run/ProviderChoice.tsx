import { Settings } from 'lucide-react';
import type { ReactNode } from 'react';
import { IconButton, Input, Select } from '../../parts';
import { show } from '../../state';
import type { ReplySource } from './providers';

/** What happens at a tool call that has no recorded result: the run stops, or the person enters one. */
export type Unanswered = 'stop' | 'ask';

interface ProviderChoiceProps {
  readonly providers: readonly ReplySource[];
  readonly provider: string;
  readonly onProvider: (id: string) => void;
  readonly model: string;
  readonly onModel: (name: string) => void;
  /** The model that runs if the field is empty. */
  readonly defaultModel: string | null;
  readonly unanswered: Unanswered;
  readonly onUnanswered: (how: Unanswered) => void;
  readonly children?: ReactNode;
}

/** Whether a provider has a model. One that lists no models may have any. */
const offers = ({ models }: ProviderChoiceProps['providers'][number], model: string | null): boolean =>
  models.length === 0 || (model !== null && models.includes(model));

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
        <label>
          <span className="muted">Model</span>
          <Input
            label="Model"
            list="run-models"
            placeholder={(chosen && !offers(chosen, defaultModel) ? chosen.models[0] : defaultModel) ?? 'Model name'}
            value={model}
            onChange={onModel}
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
