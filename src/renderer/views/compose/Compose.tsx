import { BookOpen, Layers, Save, Square, Trash2 } from 'lucide-react';
import { useDeferredValue, useRef, useState } from 'react';
import type { Card, ContextId } from '../../../core/contract/index.js';
import { api } from '../../client';
import { attempt, Button, describeProblem, IconButton, Input, Markdown, ProblemLine, Select, Sheet, TextArea } from '../../parts';
import { ask, notify, openContext, refreshProject, useNavigation, useProjectQuery, useQuery } from '../../state';
import { CommitAnswer, NoCommit } from '../NoCommit';
import { ComposedMessages } from './ComposedMessages';
import { ComposeTools } from './ComposeTools';
import { LayerStack } from './LayerStack';
import { layerName } from './layers';
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

interface EditLayerProps {
  readonly project: string;
  readonly layer: string;
  readonly text: string;
  readonly onClose: () => void;
  readonly onDone: (text: string) => void;
}

/** A sheet to try another text for a layer: typed, or from a saved block. */
export function EditLayer({ project, layer, text, onClose, onDone }: EditLayerProps) {
  const [value, setValue] = useState(text);
  return (
    <Sheet
      title={`Edit ${layerName(layer).toLowerCase()}`}
      kind="side"
      onClose={onClose}
      action={{ label: 'Show the changes', onClick: () => onDone(value) }}
      footer={<span className="muted grow">This is a trial. Only saved blocks are stored.</span>}
    >
      <SavedBlocks project={project} layer={layer} value={value} onValue={setValue} />
      <TextArea className="mono wide" label={layerName(layer)} value={value} rows={24} onChange={setValue} />
    </Sheet>
  );
}

/** Chooses a saved block for the layer, or saves the text as one. */
function SavedBlocks({ project, layer, value, onValue }: { project: string; layer: string; value: string; onValue: (text: string) => void }) {
  const all = useSavedBlocks(project);
  const blocks = all.filter((block) => block.layer === layer);
  const [name, setName] = useState('');
  const [problem, setProblem] = useState<string>();
  const chosen = blocks.find((block) => block.name === name);
  const perform = (work: Promise<unknown>, notice: string): void =>
    void work.then(refreshProject).then(
      () => notify(notice),
      (error: unknown) => setProblem(describeProblem(error).message),
    );
  const remove = ({ card }: SavedBlock): void => {
    perform(api.card.delete({ cardId: card.cardId }), 'Block deleted');
    setName('');
  };
  return (
    <div className="compose-saved row wrap gap-6">
      <Select
        className="grow"
        label="Saved block"
        value={chosen?.name ?? ''}
        options={[
          ['', blocks.length === 0 ? 'No saved blocks for this layer' : 'Use a saved block…'],
          ...blocks.map((each) => [each.name, each.name] as const),
        ]}
        onChange={(value) => {
          const block = blocks.find((one) => one.name === value);
          setName(value);
          if (block) onValue(block.text);
        }}
      />
      {chosen && <IconButton small icon={Trash2} label={`Delete the block ${chosen.name}`} onClick={() => remove(chosen)} />}
      <Input label="Name of the block" placeholder="Name" value={name} onChange={setName} />
      <Button
        small
        icon={Save}
        label="Save block"
        disabled={name.trim() === '' || value.trim() === ''}
        onClick={() => perform(saveBlock(all, name.trim(), layer, value), 'Block saved')}
      />
      {problem && <ProblemLine>{problem}</ProblemLine>}
    </div>
  );
}

/** The type of a card that holds a saved block. */
const blockType = 'context.block';
const maxBlocks = 200;

interface SavedBlock {
  readonly card: Card;
  readonly name: string;
  readonly layer: string;
  readonly text: string;
}

const textAt = (value: unknown): string => (typeof value === 'string' ? value : '');

/** The saved blocks of the project, by name. */
function useSavedBlocks(project: string): readonly SavedBlock[] {
  const query = useProjectQuery(project, `${project} blocks`, () => api.card.list({ type: blockType, limit: maxBlocks }));
  if (query.status !== 'done') return [];
  return query.data.cards
    .flatMap((card) => {
      const { metadata, content, deletedAt } = card;
      if (deletedAt !== undefined || content.kind !== 'text') return [];
      return [{ card, name: textAt(metadata.name), layer: textAt(metadata.layer), text: content.text }];
    })
    .sort((a, b) => a.name.localeCompare(b.name));
}

/** Saves a block under a name. The same name for the same layer replaces the earlier text. */
async function saveBlock(saved: readonly SavedBlock[], name: string, layer: string, text: string): Promise<void> {
  const same = saved.find((block) => block.name === name && block.layer === layer);
  await api.card.add({
    card: {
      type: blockType,
      content: { kind: 'text', text },
      metadata: { type: blockType, role: 'system', name, layer },
      ...(same && { cardId: same.card.cardId }),
    },
  });
}
