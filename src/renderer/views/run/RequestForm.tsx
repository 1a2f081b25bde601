import { FlaskConical, Play } from 'lucide-react';
import { useMemo, useState } from 'react';
import type { Turn, TurnRequest } from '../../../core/contract/index.js';
import { api } from '../../client';
import { caseForm } from '../../forms';
import { attempt, Button, Estimate, Input, say, sending } from '../../parts';
import { ask, type ContextOutline, type RunInput, useQuery } from '../../state';
import { type Changes, EntryEditor, noChanges, planOf } from '../fork';
import { ProviderChoice, ProviderHint, type ReplySource, rememberProvider, useChoice } from './ProviderChoice';
import { RequestPart, SettingsPart, SystemPart, ToolsPart } from './RequestParts';
import { draftOf, type Edited, editsOf, type RequestDraft } from './request';

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
      className="ask on-pane stack small"
      aria-label="Request"
      onSubmit={sending(() => {
        if (cannotRun) return;
        rememberProvider(input.provider);
        onRun(input);
      })}
    >
      <ProviderChoice {...form.choice} providers={providers} defaultModel={request.model}>
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
        <div className="ask-entries gap-8 stack">
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
      <footer className="ask-foot gap-12 line-above on-pane row wrap">
        <RequestState problem={form.problem} changeCount={form.changeCount} />
        <Button icon={FlaskConical} disabled={cannotRun} onClick={attempt(async () => ask(await caseForm({ ...input, turnId: turn.turnId })))}>
          Add to experiment…
        </Button>
        <Button type="submit" look="primary" icon={Play} label={input.samples === 1 ? 'Run' : `Run ${input.samples} samples`} disabled={cannotRun} />
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

/** Why the request cannot run; undefined if it can. */
function problemOfRequest(edited: Edited, provider: ReplySource | undefined, changeCount: number): string | undefined {
  if ('problem' in edited) return edited.problem;
  if (provider?.id === 'recorded' && changeCount > 0)
    return 'The recording can only repeat the original reply. Choose a model, or undo your changes.';
  return provider?.problem && `${provider.title}: ${provider.problem}.`;
}

/** The state of the form that runs a turn again: the chosen provider, and the changes to the recorded request. */
function useRequestForm(turn: Turn, recorded: TurnRequest, providers: readonly ReplySource[], outline: ContextOutline) {
  const choice = useChoice(providers);
  const { provider, model, unanswered } = choice;
  const [samples, setSamples] = useState(1);
  const [draft, setDraft] = useState<RequestDraft>(() => draftOf(recorded));
  // The request ends with the input of the turn; the entries after it are the recorded reply.
  const cut = outline.rows.findLastIndex((row) => row.commit !== turn.turnId || turn.input.keys.includes(row.key));
  const [changes, setChanges] = useState<Changes>(() => noChanges(cut));
  const plan = useMemo(() => planOf(outline.rows, changes), [outline, changes]);
  const chosen = providers.find((each) => each.id === provider);
  const { turnId } = turn;
  // In the wire format of the chosen provider.
  const wire = chosen?.wire;
  const request = useQuery(`${turnId} request ${wire}`, (signal) => api.turn.request({ turnId, wire }, { signal })).data ?? recorded;
  const edited = useMemo(() => editsOf(draft, request), [draft, request]);
  const edits = 'edits' in edited ? edited.edits : undefined;
  const changeCount = plan.edits.length + Object.keys(edits ?? {}).length;
  const input: Omit<RunInput, 'turnId'> = { provider, model: model.trim() || undefined, edits: plan.edits, request: edits, samples, unanswered };
  return {
    choice,
    input,
    request,
    draft,
    cut,
    changes,
    plan,
    edits,
    changeCount,
    setSamples,
    setDraft,
    setChanges,
    problem: problemOfRequest(edited, chosen, changeCount),
  };
}
