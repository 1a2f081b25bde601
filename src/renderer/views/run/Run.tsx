import { FlaskConical, Play, Repeat } from 'lucide-react';
import { useMemo, useState } from 'react';
import type { ContextId, Turn, TurnRequest } from '../../../core/contract/index.js';
import { api } from '../../client';
import { caseForm } from '../../forms';
import { Answer, attempt, Button, Estimate, Input, Switch, say, sending } from '../../parts';
import { AnswerMemory, ask, type ContextOutline, loadOutline, move, type RunInput, startRun, useNavigation, useQuery, useRuns } from '../../state';
import { type Changes, EntryEditor, noChanges, planOf } from '../fork';
import { CommitAnswer, NoCommit, ToCommit } from '../NoCommit';
import { ProviderChoice, ProviderHint, type ReplySource, rememberProvider, useChoice, useProviders } from './ProviderChoice';
import { RecordedReply, Replies } from './Replies';
import { RequestPart, SettingsPart, SystemPart, ToolsPart } from './RequestParts';
import { draftOf, type Edited, editsOf, type RequestDraft } from './request';
import { WhatIf } from './WhatIf';

/** The selected turn, with its request as a form and the replies of its runs. */
export function RunView({ project }: { project: string }) {
  const commit = useNavigation(({ route }) => route.commit);
  if (!commit) {
    return (
      <NoCommit title="No turn selected" icon={Repeat}>
        The request of a turn appears here as a form. Change it, run it again, and compare the replies.
      </NoCommit>
    );
  }
  return <TurnRun key={`${project} ${commit}`} project={project} turnId={commit} />;
}

type Loaded = Pick<Parameters<typeof RequestForm>[0], 'turn' | 'request' | 'outline'>;

const requests = new AnswerMemory<Loaded>(6);

function TurnRun({ project, turnId }: { project: string; turnId: ContextId }) {
  const query = useQuery(
    `${project} ${turnId} run`,
    async (signal) => {
      const [turn, request, outline] = await Promise.all([
        api.turn.get({ turnId }, { signal }),
        api.turn.request({ turnId }, { signal }),
        loadOutline(project, turnId, 'compaction'),
      ]);
      return { turn, request, outline };
    },
    requests,
  );
  const providerQuery = useProviders();
  const providers = providerQuery.status === 'done' ? providerQuery.data : undefined;
  const jobs = useRuns(({ jobs: all }) => all);
  const own = jobs.filter((job) => job.project === project && job.input.turnId === turnId);
  const [showsRequest, setShowsRequest] = useState(true);
  const what = useNavigation(({ route }) => route.runs) ?? 'turn';
  return (
    <CommitAnswer query={query} what="Cannot run this turn again" loading="Loading the request" actions={<ToCommit>Select another turn</ToCommit>}>
      {({ turn, request, outline }) => (
        <section className="run whole stack" aria-label="Run again">
          <header className="run-head gap-12 rigid bar">
            <h2 className="ellipsis">{say.firstLine(turn.trigger.text ?? 'continued')}</h2>
            <Switch
              label="Turns to run"
              value={what}
              onChange={(value) => move({ runs: value === 'after' ? 'after' : undefined })}
              options={{ turn: 'This turn', after: ['Later turns', 'What if: send the prompts of the original’s later turns on this branch'] }}
            />
            {what === 'turn' && (
              <Button small aria-pressed={showsRequest} onClick={() => setShowsRequest(!showsRequest)}>
                {showsRequest ? 'Hide the request' : 'Show the request'}
              </Button>
            )}
          </header>
          {what === 'after' ? (
            <WhatIf project={project} id={turnId} model={request.model} providers={providers ?? []} />
          ) : (
            <div className={`rest run-body${showsRequest ? '' : ' wide'}`}>
              {showsRequest && !providers && (
                <Answer query={providerQuery} what="Cannot list the providers" loading="Loading the providers" lines={6}>
                  {() => null}
                </Answer>
              )}
              {showsRequest && providers && (
                <RequestForm {...{ turn, request, providers, outline }} onRun={(input) => void startRun(project, { ...input, turnId })} />
              )}
              {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keys */}
              <div className="run-replies" tabIndex={0} role="log" aria-label="Replies">
                {own.map((job) => (
                  <Replies key={job.id} job={job} turn={turn} />
                ))}
                <RecordedReply turn={turn} isAlone={own.length === 0} />
              </div>
            </div>
          )}
        </section>
      )}
    </CommitAnswer>
  );
}

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
