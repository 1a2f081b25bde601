import { FlaskConical, Play } from 'lucide-react';
import { useState } from 'react';
import type { Turn, TurnRequest } from '../../../core/contract/index.js';
import { Button, Estimate, Input, say, sending } from '../../parts';
import { type ContextOutline, type RunInput, show } from '../../state';
import { EntryEditor, noChanges } from '../fork';
import { ProviderChoice, ProviderHint } from './ProviderChoice';
import { type ReplySource, rememberProvider } from './providers';
import { RequestPart, SettingsPart, SystemPart, ToolsPart } from './RequestParts';
import { useRequestForm } from './useRequestForm';

const maxSamples = 16;

interface RequestFormProps {
  readonly turn: Turn;
  readonly request: TurnRequest;
  readonly providers: readonly ReplySource[];
  readonly outline: ContextOutline;
  readonly onRun: (input: Omit<RunInput, 'turnId'>) => void;
}

/** The recorded request of a turn as a form: change it, choose a provider, and run it. */
export function RequestForm({ turn, request: recorded, providers, outline, onRun }: RequestFormProps) {
  const form = useRequestForm(turn, recorded, providers, outline);
  const { input, request, draft, setDraft, edits } = form;
  const [isWriting, setIsWriting] = useState(false);
  const cannotRun = form.problem !== undefined || isWriting;
  return (
    <form
      className="ask stack small"
      aria-label="Request"
      onSubmit={sending(() => {
        if (cannotRun) return;
        rememberProvider(input.provider);
        onRun(input);
      })}
    >
      <ProviderChoice
        providers={providers}
        provider={input.provider}
        onProvider={form.setProvider}
        model={form.model}
        onModel={form.setModel}
        defaultModel={request.model}
        unanswered={input.unanswered}
        onUnanswered={form.setUnanswered}
      >
        <SamplesField samples={input.samples} onChange={form.setSamples} />
      </ProviderChoice>
      <ProviderHint provider={input.provider} ofRecording="The recording repeats the original reply. It needs no key and no network." />
      <SystemPart request={request} draft={draft} onChange={setDraft} />
      <RequestPart
        name="Messages"
        count={form.cut + 1}
        none="none"
        isOpen
        isChanged={form.plan.edits.length > 0}
        onUndo={() => form.setChanges(noChanges(form.cut))}
        note={<Estimate of={form.plan.tokensAfter} />}
      >
        <div className="ask-entries stack">
          <EntryEditor
            rows={outline.rows}
            commit={turn.turnId}
            stop="compaction"
            changes={form.changes}
            onChange={form.setChanges}
            onWriting={setIsWriting}
            isCutFixed
          />
        </div>
      </RequestPart>
      <ToolsPart request={request} draft={draft} onChange={setDraft} isChanged={edits?.tools !== undefined} />
      <SettingsPart request={request} draft={draft} onChange={setDraft} isChanged={edits?.settings !== undefined} />
      <footer className="ask-foot row wrap">
        <RequestState problem={form.problem} changeCount={form.changeCount} />
        <Button icon={FlaskConical} disabled={cannotRun} onClick={() => show({ kind: 'case', input: { ...input, turnId: turn.turnId } })}>
          Add to experiment…
        </Button>
        <Button type="submit" look="primary" icon={Play} disabled={cannotRun}>
          {input.samples === 1 ? 'Run' : `Run ${input.samples} samples`}
        </Button>
      </footer>
    </form>
  );
}

function SamplesField({ samples, onChange }: { samples: number; onChange: (samples: number) => void }) {
  return (
    <label title="How many replies to request with the same input">
      <span className="muted">Samples</span>
      <Input
        className="ask-samples"
        type="number"
        label="Samples"
        min={1}
        max={maxSamples}
        value={samples}
        onChange={(text) => onChange(Math.max(1, Math.min(maxSamples, Math.round(Number(text)) || 1)))}
      />
    </label>
  );
}

const RequestState = ({ problem, changeCount }: { problem: string | undefined; changeCount: number }) =>
  problem ? (
    <span className="grow notice-line error" role="alert">
      {problem}
    </span>
  ) : (
    <span className="grow muted">{changeCount === 0 ? 'No changes' : `${say.plural(changeCount, 'change')} to the request`}</span>
  );
