import { BookOpen, Layers, Square } from 'lucide-react';
import { useDeferredValue, useRef, useState } from 'react';
import type { ContextId } from '../../../core/contract/index.js';
import { api } from '../../client';
import { attempt, Button, describeProblem, Markdown, ProblemLine } from '../../parts';
import { ask, openContext, useNavigation, useProjectQuery, useQuery } from '../../state';
import { CommitAnswer, NoCommit } from '../NoCommit';
import { ComposedMessages } from './ComposedMessages';
import { ComposeTools } from './ComposeTools';
import { EditLayer } from './EditLayer';
import { LayerStack } from './LayerStack';
import { SavedStateSheet } from './SavedState';
import { asRecorded, type Composition, maxTextLength, pageSize, type Trial, textToEdit, trialInput, withText } from './trial';
import { type Sending, sendForm, useSending } from './useSending';

/** The layers of a context and the messages that they become. */
export function ComposeView({ project }: { project: string }) {
  const commit = useNavigation(({ route }) => route.commit);
  if (!commit) {
    return (
      <NoCommit title="No commit selected" icon={Layers}>
        The layers of a context appear here: system prompt, blocks, memory and query. Change one to see what the model would receive.
      </NoCommit>
    );
  }
  return <ComposeContext key={`${project} ${commit}`} project={project} commit={commit} />;
}

const firstPage = (commit: ContextId, trial: Trial, signal: AbortSignal): Promise<Composition> =>
  api.compose.rows({ ...trialInput(commit, trial), limit: pageSize, longest: maxTextLength }, { signal });

function ComposeContext({ project, commit }: { project: string; commit: ContextId }) {
  const [trial, setTrial] = useState(asRecorded);
  const [edited, setEdited] = useState<string>();
  const [stateOpen, setStateOpen] = useState(false);
  const { sending, send, stop } = useSending();
  const settled = useDeferredValue(trial);
  const settings = useProjectQuery(project, `${project} settings`, (signal) => api.project.settings({}, { signal }));
  const ofProject = settings.data?.enableShareContext;
  const waiting = settings.status === 'done' || settings.status === 'failed' ? undefined : settings;
  const key = waiting ? null : `${project} ${commit} ${ofProject}`;
  const recorded = useQuery(key, (signal) => firstPage(commit, asRecorded, signal));
  const changed = settled !== asRecorded;
  const tried = useQuery(changed && key ? `${key} ${JSON.stringify(settled)}` : null, (signal) => firstPage(commit, settled, signal));
  // While a trial is computed, the previous one stays in view.
  const last = useRef<{ readonly page: Composition; readonly trial: Trial }>(undefined);
  if (!changed) last.current = undefined;
  else if (tried.status === 'done' && last.current?.page !== tried.data) last.current = { page: tried.data, trial: settled };
  const sendTrial = async (): Promise<void> => ask(sendForm((await api.compose.preview(trialInput(commit, trial))).messages, send));
  return (
    <CommitAnswer query={waiting ?? recorded} what="Cannot load the layers of this context" loading="Loading the layers" lines={12}>
      {(base) => {
        const { page: now, trial: shown } = last.current ?? { page: base, trial: asRecorded };
        return (
          <section className="compose whole stack" aria-label="Compose">
            <ComposeTools
              ofProject={ofProject}
              trial={trial}
              onChange={setTrial}
              commit={commit}
              onSend={attempt(() => sendTrial())}
              onState={() => setStateOpen(true)}
            />
            {tried.status === 'failed' && <ProblemLine>{describeProblem(tried.error).message}</ProblemLine>}
            <div className="compose-body rest">
              <LayerStack now={now} trial={trial} onEdit={setEdited} />
              <ComposedMessages key={JSON.stringify(shown)} input={trialInput(commit, shown)} first={now} />
            </div>
            {sending && <ComposedReply sending={sending} onStop={stop} />}
            {stateOpen && (
              <SavedStateSheet
                project={project}
                commit={commit}
                blocks={now.texts?.now ?? {}}
                onClose={() => setStateOpen(false)}
                onUse={(contexts) => {
                  setTrial({ ...trial, contexts: { ...trial.contexts, ...contexts } });
                  setStateOpen(false);
                }}
              />
            )}
            {edited !== undefined && (
              <EditLayer
                project={project}
                layer={edited}
                text={textToEdit(trial, edited, base, now)}
                onClose={() => setEdited(undefined)}
                onDone={(text) => {
                  setTrial(withText(trial, edited, text));
                  setEdited(undefined);
                }}
              />
            )}
          </section>
        );
      }}
    </CommitAnswer>
  );
}

/** The reply of a model to the composition, as it arrives. */
function ComposedReply({ sending, onStop }: { sending: Sending; onStop: () => void }) {
  const { state, text, commit, error } = sending;
  return (
    <section className="compose-reply rigid" aria-label="Reply of the model" aria-busy={state === 'running'}>
      <header className="thing-head bar wrap">
        <h3 className="grow">{state === 'running' ? 'The model replies…' : state === 'stopped' ? 'Stopped' : 'Reply'}</h3>
        {state === 'running' && <Button small icon={Square} label="Stop" onClick={onStop} />}
        {commit && <Button small icon={BookOpen} label="Open in Context" onClick={() => openContext(commit)} />}
      </header>
      {error !== undefined && <ProblemLine>{describeProblem(error).message}</ProblemLine>}
      <div className="compose-reply-text">
        <Markdown text={text} />
      </div>
    </section>
  );
}
