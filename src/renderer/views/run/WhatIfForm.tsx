import { Play } from 'lucide-react';
import { useState } from 'react';
import type { ContextId, DivergenceLimit, Following } from '../../../core/contract/index.js';
import { Button, Select, say, sending } from '../../parts';
import type { WhatIfInput } from '../../state';
import { ProviderChoice, ProviderHint, type ReplySource, rememberProvider, useChoice } from './ProviderChoice';

const limits: Record<DivergenceLimit, string> = {
  calls: 'tool calls differ',
  words: 'anything differs',
  never: 'the original ends',
};

const onlyRecording: readonly ReplySource[] = [{ id: 'recorded', title: 'Recording', models: [] }];

interface WhatIfFormProps {
  readonly following: Following;
  readonly original: ContextId;
  readonly defaultModel: string | null;
  readonly providers: readonly ReplySource[];
  readonly isRunning: boolean;
  readonly onOriginal: (id: ContextId) => void;
  readonly onRun: (input: Omit<WhatIfInput, 'id'>) => void;
}

/** Chooses the original whose prompts are sent, the provider that replies, and when the run stops. */
export function WhatIfForm(props: WhatIfFormProps) {
  const { following, original, defaultModel, providers, isRunning, onOriginal, onRun } = props;
  const choice = useChoice(providers);
  const { provider, model, unanswered } = choice;
  const [stopAt, setStopAt] = useState<DivergenceLimit>('calls');
  const count = following.turns.length + (following.answersFirst ? 1 : 0);
  return (
    <form
      className="ask stack small"
      aria-label="What-if run"
      onSubmit={sending(() => {
        rememberProvider(provider);
        onRun({ original, provider, model: model.trim() || undefined, stopAt, unanswered });
      })}
    >
      <ProviderChoice {...choice} providers={providers.length ? providers : onlyRecording} defaultModel={defaultModel}>
        <Select before="Stop when" label="Stop when" value={stopAt} options={Object.entries(limits)} onChange={setStopAt} />
      </ProviderChoice>
      <ProviderHint provider={provider} ofRecording="The recorded replies are appended to this branch, with its edits." />
      <OriginalChoice following={following} original={original} onChange={onOriginal} />
      <NextTurns following={following} />
      <footer className="ask-foot gap-12 line-above on-pane row wrap">
        <span className="grow muted">{say.plural(count, 'turn')} to run</span>
        <Button type="submit" look="primary" icon={Play} disabled={count === 0 || isRunning}>
          {isRunning ? 'Running' : 'Run these turns'}
        </Button>
      </footer>
    </form>
  );
}

function OriginalChoice(props: { following: Following; original: ContextId; onChange: (id: ContextId) => void }) {
  const { following, original, onChange } = props;
  if (following.originals.length < 2) return null;
  return (
    <label className="what-if-original row">
      <span className="muted">Original</span>
      <Select
        className="grow"
        label="Original branch"
        value={original}
        options={following.originals.map(({ id, turns, summary }) => [
          id,
          `${say.shortId(id)} · ${say.plural(turns, 'commit')} · ${say.firstLine(summary ?? '', 60)}`,
        ])}
        onChange={onChange}
      />
    </label>
  );
}

function NextTurns({ following: { turns, answersFirst } }: { following: Following }) {
  return (
    <ol className="what-if-turns line-above" aria-label="Next prompts">
      {answersFirst && <li className="muted">First, the model replies to the last message of this branch.</li>}
      {turns.map((turn) => (
        <li key={turn.turnId} className="ellipsis" title={turn.trigger.text ?? ''}>
          {say.firstLine(turn.trigger.text ?? '')}
        </li>
      ))}
      {turns.length === 0 && !answersFirst && <li className="muted">None: this branch has as many turns as the original.</li>}
    </ol>
  );
}
