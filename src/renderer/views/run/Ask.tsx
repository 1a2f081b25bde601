import { FlaskConical, Play, Plus, RotateCcw, Trash2 } from 'lucide-react';
import { type ReactNode, useMemo, useState } from 'react';
import type { ContextId, Turn, TurnRequest } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Button, IconButton, say } from '../../parts';
import { type Outline, type RunInput, show, useQuery } from '../../state';
import { type Changes, EntryEditor, noChanges, planOf } from '../fork';
import { type Draft, draftOf, editsOf, settingsOf, toolName } from './request';
import { lastProvider, type Provider, rememberProvider, type Unanswered, Who } from './Who';

interface AskProps {
  readonly turn: Turn;
  readonly request: TurnRequest;
  readonly providers: readonly Provider[];
  readonly outline: Outline;
  readonly onRun: (input: Omit<RunInput, 'turnId'>) => void;
}

/** The request in the words of whoever is asked, as soon as they are known. */
function useRequestFor(turnId: ContextId, wire: Provider['wire']): TurnRequest | undefined {
  const query = useQuery(`${turnId} request ${wire}`, (signal) => api.turn.request({ turnId, wire }, { signal }));
  return query.status === 'done' ? query.data : undefined;
}

/** Everything that is asked of the model, to be changed before it is asked. */
export function Ask({ turn, request: recorded, providers, outline, onRun }: AskProps) {
  const [provider, setProvider] = useState(() => lastProvider(providers));
  const [model, setModel] = useState('');
  const [samples, setSamples] = useState(1);
  const [unanswered, setUnanswered] = useState<Unanswered>('ask');
  const [draft, setDraft] = useState<Draft>(() => draftOf(recorded));
  const [isWriting, setIsWriting] = useState(false);
  // What began the turn is the last that stays: the reply is what is asked for.
  const cut = outline.rows.findLastIndex((row) => row.commit !== turn.turnId || turn.input.keys.includes(row.key));
  const [changes, setChanges] = useState<Changes>(() => noChanges(cut));
  const plan = useMemo(() => planOf(outline.rows, changes), [outline, changes]);
  const chosen = providers.find((each) => each.id === provider);
  const request = useRequestFor(turn.turnId, chosen?.wire) ?? recorded;
  const edited = useMemo(() => editsOf(draft, request), [draft, request]);
  const isRecorded = provider === 'recorded';
  const edits = 'edits' in edited ? edited.edits : undefined;
  const changed = plan.edits.length + (edits ? Object.keys(edits).length : 0);
  const problem =
    'problem' in edited
      ? edited.problem
      : isRecorded && changed > 0
        ? 'The recording answers what was asked, not what was changed. Choose a model to ask, or take the changes back.'
        : chosen?.problem
          ? `${chosen.title}: ${chosen.problem}.`
          : undefined;
  const original = draftOf(request);
  const settings = draft.settings ?? settingsOf(request);

  const input = { provider, model: model.trim() || undefined, edits: plan.edits, request: edits, samples, unanswered };
  const run = () => {
    rememberProvider(provider);
    onRun(input);
  };
  return (
    <form
      className="ask"
      aria-label="What is asked"
      onSubmit={(event) => {
        event.preventDefault();
        if (!problem && !isWriting) run();
      }}
    >
      <Who
        providers={providers}
        provider={provider}
        onProvider={setProvider}
        model={model}
        onModel={setModel}
        usual={request.model}
        unanswered={unanswered}
        onUnanswered={setUnanswered}
      >
        <label>
          <span className="muted">Samples</span>
          <input
            className="field ask-samples"
            type="number"
            aria-label="Samples"
            min={1}
            max={16}
            value={samples}
            onChange={(event) => setSamples(Math.max(1, Math.min(16, Math.round(Number(event.target.value)) || 1)))}
          />
        </label>
      </Who>
      <p className="muted ask-words">
        {isRecorded
          ? 'The recording says again what was said, without a key and without a network.'
          : 'Tools are never run. A call that the recording knows gets the recorded answer; any other waits for you, or ends the run.'}
      </p>

      <Part
        name="System prompt"
        count={draft.system.length}
        none="none recorded"
        isChanged={JSON.stringify(draft.system) !== JSON.stringify(original.system)}
        onUndo={() => setDraft({ ...draft, system: original.system })}
      >
        {draft.system.map((text, n) => (
          <textarea
            // biome-ignore lint/suspicious/noArrayIndexKey: blocks have no name but their place
            key={n}
            className="field mono"
            aria-label={`System prompt, block ${n + 1}`}
            rows={Math.min(14, Math.max(3, text.split('\n').length))}
            value={text}
            onChange={(event) => setDraft({ ...draft, system: draft.system.with(n, event.target.value) })}
          />
        ))}
        <Button small icon={Plus} onClick={() => setDraft({ ...draft, system: [...draft.system, ''] })}>
          Add a block
        </Button>
      </Part>

      <Part
        name="Messages"
        count={cut + 1}
        none="none"
        isOpen
        isChanged={plan.edits.length > 0}
        onUndo={() => setChanges(noChanges(cut))}
        note={`${say.tokens(plan.tokensAfter)}`}
      >
        <div className="ask-entries">
          <EntryEditor
            rows={outline.rows}
            commit={turn.turnId as ContextId}
            stop="compaction"
            changes={changes}
            onChange={setChanges}
            onWriting={setIsWriting}
            isCutFixed
          />
        </div>
      </Part>

      <Part
        name="Tools"
        count={draft.tools.filter((tool) => tool.isUsed).length}
        none="none recorded"
        isChanged={edits?.tools !== undefined}
        onUndo={() => setDraft({ ...draft, tools: original.tools })}
      >
        {draft.tools.map((tool, n) => {
          const change = (part: Partial<typeof tool>) => setDraft({ ...draft, tools: draft.tools.with(n, { ...tool, ...part }) });
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: tools have no name but their place
            <details key={n} className={`ask-tool${tool.isUsed ? '' : ' left-out'}`}>
              <summary>
                <span className="mono grow ellipsis">{toolName(tool.json)}</span>
                <label onClickCapture={(event) => event.stopPropagation()}>
                  <input
                    type="checkbox"
                    checked={tool.isUsed}
                    aria-label={`Offer ${toolName(tool.json)}`}
                    onChange={() => change({ isUsed: !tool.isUsed })}
                  />
                </label>
              </summary>
              <textarea
                className="field mono"
                aria-label={`Definition of ${toolName(tool.json)}`}
                rows={10}
                value={tool.json}
                onChange={(event) => change({ json: event.target.value })}
              />
              {n >= original.tools.length && (
                <Button small icon={Trash2} onClick={() => setDraft({ ...draft, tools: draft.tools.filter((_, at) => at !== n) })}>
                  Take it away
                </Button>
              )}
            </details>
          );
        })}
        <Button
          small
          icon={Plus}
          onClick={() =>
            setDraft({
              ...draft,
              tools: [
                ...draft.tools,
                { json: '{\n  "name": "new_tool",\n  "description": "",\n  "input_schema": { "type": "object", "properties": {} }\n}', isUsed: true },
              ],
            })
          }
        >
          Add a tool
        </Button>
      </Part>

      <Part
        name="Settings"
        count={Object.keys(request.settings).length}
        none="none recorded"
        isChanged={edits?.settings !== undefined}
        onUndo={() => setDraft({ ...draft, settings: original.settings })}
      >
        <textarea
          className="field mono"
          aria-label="Settings as JSON"
          rows={Math.min(16, settings.split('\n').length + 1)}
          value={settings}
          onChange={(event) => setDraft({ ...draft, settings: event.target.value })}
        />
      </Part>

      <footer className="ask-foot">
        {problem ? (
          <span className="grow notice-line error" role="alert">
            {problem}
          </span>
        ) : (
          <span className="grow muted">{changed === 0 ? 'Asked exactly as it was' : `${say.plural(changed, 'change')} against what was asked`}</span>
        )}
        <Button
          icon={FlaskConical}
          disabled={problem !== undefined || isWriting}
          onClick={() => show({ kind: 'case', input: { ...input, turnId: turn.turnId } })}
        >
          Keep as a case…
        </Button>
        <Button type="submit" look="primary" icon={Play} disabled={problem !== undefined || isWriting}>
          {samples === 1 ? 'Run' : `Run ${samples} samples`}
        </Button>
      </footer>
    </form>
  );
}

function Part(props: {
  name: string;
  count: number;
  none: string;
  isChanged: boolean;
  isOpen?: boolean;
  note?: string;
  onUndo: () => void;
  children: ReactNode;
}) {
  const { name, count, none, isChanged, isOpen, note, onUndo, children } = props;
  return (
    <details className="ask-part" open={isOpen}>
      <summary>
        <b>{name}</b> <span className="muted">{count > 0 ? say.exact(count) : none}</span>
        {note && <span className="muted">{note}</span>}
        <span className="grow" />
        {isChanged && (
          <>
            <span className="badge">changed</span>
            <IconButton
              small
              icon={RotateCcw}
              label={`Undo the changes of ${name.toLowerCase()}`}
              onClick={(event) => {
                event.preventDefault();
                onUndo();
              }}
            />
          </>
        )}
      </summary>
      <div className="ask-inside">{children}</div>
    </details>
  );
}
