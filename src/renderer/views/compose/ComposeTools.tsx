import { Archive, Braces, RotateCcw, Scissors, Send } from 'lucide-react';
import { type ContextId, type Wire, wires } from '../../../core/contract/index.js';
import { api } from '../../client';
import { attempt, Button, IconButton, Input, MenuButton, Select, Switch, say } from '../../parts';
import { copy, notify, refreshProject, reloadAndOpen, useQuery } from '../../state';
import { processNames } from './layers';
import { asRecorded, type Trial, trialInput } from './trial';

interface SharingProps {
  /** The setting of the project; undefined while it is loading. */
  readonly ofProject: boolean | undefined;
  readonly trial: Trial;
  readonly onChange: (trial: Trial) => void;
}

interface ComposeToolsProps extends SharingProps {
  readonly commit: ContextId;
  readonly onSend: () => void;
  readonly onState: () => void;
}

/** The process, sharing and query of a trial, and the actions Copy and Compact. */
export function ComposeTools({ ofProject, trial, onChange, commit, onSend, onState }: ComposeToolsProps) {
  const providers = useQuery('providers', () => api.turn.providers({}));
  const writers = (providers.data ?? []).filter((one) => one.models.length > 0);
  return (
    <div className="compose-tools bar wrap">
      <Select label="Process" value={trial.process} options={Object.entries(processNames)} onChange={(process) => onChange({ ...trial, process })} />
      <Sharing ofProject={ofProject} trial={trial} onChange={onChange} />
      <Input
        className="compose-query"
        label="Query"
        placeholder="Try another query"
        value={trial.query}
        onChange={(text) => onChange({ ...trial, query: text })}
      />
      <IconButton icon={RotateCcw} label="Reset to the recorded context" disabled={trial === asRecorded} onClick={() => onChange(asRecorded)} />
      <Button icon={Archive} label="State…" title="Save the shared state of the agents with this commit, or use a saved one" onClick={onState} />
      <Button icon={Send} look="primary" label="Send…" title="Send these messages to a model, on a new chain" onClick={onSend} />
      <MenuButton
        label="Copy as JSON"
        button={<Button icon={Braces} label="Copy" />}
        items={wires.map((provider) => ({ name: `For ${wireNames[provider]}`, act: attempt(() => copyBody(commit, trial, provider)) }))}
      />
      <MenuButton
        label="Compact"
        button={<Button icon={Scissors} label="Compact" title="Replace old messages by a summary, on a new branch" />}
        items={[
          { name: 'With extracts, without a model', act: attempt(() => compactHere(commit, undefined)) },
          ...writers.map(({ id, title, models }) => ({
            name: `With a summary by ${title} (${models[0]})`,
            act: attempt(() => compactHere(commit, id)),
          })),
        ]}
      />
    </div>
  );
}

const wireNames: Record<Wire, string> = {
  anthropic: 'Anthropic',
  openai: 'OpenAI Chat Completions',
  responses: 'OpenAI Responses',
  gemini: 'Gemini',
};

async function copyBody(commit: ContextId, trial: Trial, provider: Wire): Promise<void> {
  const { body } = await api.compose.preview({ ...trialInput(commit, trial), wire: provider });
  await copy(JSON.stringify(body, null, 2), `Copied for ${wireNames[provider]}`);
}

async function compactHere(commit: ContextId, provider: string | undefined): Promise<void> {
  if (provider) notify('The model is writing a summary…');
  const made = await api.compose.compact({ id: commit, ...(provider && { provider }) });
  if (!made.commit) return notify('Nothing to compact: the context contains only the most recent messages');
  const place = { view: 'context', commit: made.commit.id, entry: undefined } as const;
  await reloadAndOpen(place, `Compacted ${say.plural(made.compaction.removed, 'message')} on a new branch`);
}

/** Whether agents get the shared blocks: the setting of the project, or another choice for this trial. */
function Sharing({ ofProject, trial, onChange }: SharingProps) {
  const shares = trial.sharing ?? ofProject ?? true;
  const keep = async (): Promise<void> => {
    await api.project.setSettings({ enableShareContext: shares });
    await refreshProject();
    onChange({ ...trial, sharing: undefined });
    notify(`Sharing is ${shares ? 'on' : 'off'} for everyone in this project`);
  };
  return (
    <>
      <Switch
        label="Shared context"
        value={shares ? 'on' : 'off'}
        onChange={(value) => onChange({ ...trial, sharing: (value === 'on') === ofProject ? undefined : value === 'on' })}
        options={{
          on: ['Sharing on', 'The model receives the blocks that agents share'],
          off: ['Sharing off', 'The agent receives only its own prompt and memory'],
        }}
      />
      {ofProject !== undefined && shares !== ofProject && (
        <Button small title="Change the setting of the project. A call can still choose otherwise." onClick={attempt(() => keep())}>
          Use for the project
        </Button>
      )}
    </>
  );
}
