import { useVirtualizer } from '@tanstack/react-virtual';
import { Braces, Layers, Pencil, RotateCcw, Scissors } from 'lucide-react';
import { useDeferredValue, useEffect, useMemo, useRef, useState } from 'react';
import { type ContextId, type PreviewLayer, type Process, type Wire, wires } from '../../../core/contract/index.js';
import { api, type Client } from '../../client';
import { Answer, Button, Fold, IconButton, MenuButton, notifyProblem, ProblemLine, problemOf, Sheet, Switch, say } from '../../parts';
import { copy, go, notify, refreshProject, useNavigation, useQuery } from '../../state';
import { NoCommit, ToCommit } from '../NoCommit';
import { type Compared, compareMessages } from './compare';
import { isBlock, layerFamily, layerName, processNames } from './layers';

type Preview = Awaited<ReturnType<Client['compose']['preview']>>;

/** What a person tries out. Empty: the context as it was recorded. */
interface Trial {
  readonly process: Process;
  readonly sharing: boolean;
  readonly query: string;
  readonly systemPrompt: string | undefined;
  readonly contexts: Readonly<Record<string, string>>;
}

const asRecorded: Trial = { process: 'sequential', sharing: true, query: '', systemPrompt: undefined, contexts: {} };

const inputOf = (id: ContextId, trial: Trial) => ({
  id,
  process: trial.process,
  enableShareContext: trial.sharing,
  ...(trial.query.trim() !== '' && { query: trial.query }),
  ...(trial.systemPrompt !== undefined && { systemPrompt: trial.systemPrompt }),
  ...(Object.keys(trial.contexts).length > 0 && { contexts: trial.contexts }),
});

/** The layers of a context, and what its model would see of them. */
export function ComposeView({ project }: { project: string }) {
  const commit = useNavigation(({ route }) => route.commit);
  if (!commit) {
    return (
      <NoCommit title="A commit has layers" icon={Layers}>
        System prompt, blocks, memory and query: what each costs, where it comes from, and what the model would see if it were otherwise.
      </NoCommit>
    );
  }
  return <Layered key={`${project} ${commit}`} project={project} commit={commit} />;
}

function Layered({ project, commit }: { project: string; commit: ContextId }) {
  const [trial, setTrial] = useState(asRecorded);
  const [edited, setEdited] = useState<string>();
  const settled = useDeferredValue(trial);
  const recorded = useQuery(`${project} ${commit}`, (signal) => api.compose.preview(inputOf(commit, asRecorded), { signal }));
  const changed = settled !== asRecorded;
  const tried = useQuery(changed ? `${project} ${commit} ${JSON.stringify(settled)}` : null, (signal) =>
    api.compose.preview(inputOf(commit, settled), { signal }),
  );
  // While a trial is computed, the one before it stays in view.
  const last = useRef<Preview>(undefined);
  if (!changed) last.current = undefined;
  else if (tried.status === 'done') last.current = tried.data;
  return (
    <Answer
      query={recorded}
      what="The layers of this context cannot be shown"
      loading="Collecting layers"
      stillWorks="The chain and other commits still work."
      actions={<ToCommit />}
      lines={12}
    >
      {(base) => {
        const now = last.current ?? base;
        return (
          <section className="compose" aria-label="Compose">
            <Controls trial={trial} onChange={setTrial} commit={commit} now={now} />
            {tried.status === 'failed' && <ProblemLine>{problemOf(tried.error).message}</ProblemLine>}
            <div className="compose-body">
              <Stack now={now} trial={trial} onEdit={setEdited} />
              <Messages base={base} now={now} />
            </div>
            {edited !== undefined && (
              <EditLayer
                layer={edited}
                text={
                  edited === 'system_prompt' ? (trial.systemPrompt ?? contentOf(now, edited)) : (trial.contexts[edited] ?? contentOf(base, edited))
                }
                onClose={() => setEdited(undefined)}
                onDone={(text) => {
                  setTrial(
                    edited === 'system_prompt' ? { ...trial, systemPrompt: text } : { ...trial, contexts: { ...trial.contexts, [edited]: text } },
                  );
                  setEdited(undefined);
                }}
              />
            )}
          </section>
        );
      }}
    </Answer>
  );
}

const contentOf = (preview: Preview, layer: string): string => preview.messages.find((message) => message.layer === layer)?.content ?? '';

function Controls({ trial, onChange, commit, now }: { trial: Trial; onChange: (trial: Trial) => void; commit: ContextId; now: Preview }) {
  const providers = useQuery('providers', () => api.turn.providers({}));
  const writers = providers.status === 'done' ? providers.data.filter((one) => one.models.length > 0) : [];
  return (
    <div className="compose-tools">
      <select
        className="field"
        aria-label="Process"
        value={trial.process}
        onChange={(event) => onChange({ ...trial, process: event.target.value as Process })}
      >
        {Object.entries(processNames).map(([process, name]) => (
          <option key={process} value={process}>
            {name}
          </option>
        ))}
      </select>
      <Switch
        label="Shared context"
        value={trial.sharing ? 'on' : 'off'}
        onChange={(value) => onChange({ ...trial, sharing: value === 'on' })}
        options={[
          { value: 'on', name: 'Sharing on', hint: 'Blocks that agents share are sent' },
          { value: 'off', name: 'Sharing off', hint: 'The agent gets its own prompt and memory' },
        ]}
      />
      <input
        className="field compose-query"
        aria-label="Ask something now"
        placeholder="What if it were asked…"
        value={trial.query}
        onChange={(event) => onChange({ ...trial, query: event.target.value })}
      />
      <IconButton icon={RotateCcw} label="As recorded" disabled={trial === asRecorded} onClick={() => onChange(asRecorded)} />
      <MenuButton
        label="Copy as JSON"
        button={<Button icon={Braces}>Copy</Button>}
        items={wires.map((provider) => ({
          name: `For ${wireNames[provider]}`,
          act: () => void copyBody(now, provider),
        }))}
      />
      <MenuButton
        label="Compact"
        button={
          <Button icon={Scissors} title="Summarize what is old, as a compaction on a branch of its own">
            Compact
          </Button>
        }
        items={[
          { name: 'By extracts, without a model', act: () => void compactHere(commit, undefined) },
          ...writers.map(({ id, title, models }) => ({ name: `Written by ${title} (${models[0]})`, act: () => void compactHere(commit, id) })),
        ]}
      />
    </div>
  );
}

const wireNames: Record<Wire, string> = { anthropic: 'Anthropic', openai: 'OpenAI chat', responses: 'OpenAI responses', gemini: 'Gemini' };

async function copyBody(now: Preview, provider: Wire): Promise<void> {
  try {
    const { body } = await api.compose.body({ messages: now.messages, provider });
    await copy(JSON.stringify(body, null, 2), `Copied for ${wireNames[provider]}`);
  } catch (error) {
    notifyProblem(error);
  }
}

async function compactHere(commit: ContextId, provider: string | undefined): Promise<void> {
  try {
    if (provider) notify('The model writes a summary…');
    const made = await api.compose.compact({ id: commit, ...(provider && { provider }) });
    if (!made.commit) return notify('There is nothing to compact: only the last messages are there.');
    await refreshProject();
    go({ view: 'context', commit: made.commit.id, entry: undefined });
    notify(`Compacted ${say.plural(made.compaction.removed, 'message')}: ${say.tokens(made.compaction.tokens.before)} before. The original stays.`);
  } catch (error) {
    notifyProblem(error);
  }
}

const lifetimeNames = { call: 'this call', checkpoint: 'kept' } as const;
const lifetimeHints = { call: 'Made for one call and never stored', checkpoint: 'Stored with the checkpoint' } as const;

function Stack({ now, trial, onEdit }: { now: Preview; trial: Trial; onEdit: (layer: string) => void }) {
  const most = Math.max(1, ...now.layers.map((layer) => layer.tokens));
  return (
    <ol className="layer-stack" aria-label="Layers, in the order in which they are sent">
      {now.layers.map((layer) => (
        <Layer
          key={layer.layer}
          layer={layer}
          most={most}
          now={now}
          tried={layer.layer === 'system_prompt' ? trial.systemPrompt !== undefined : Object.hasOwn(trial.contexts, layer.layer)}
          onEdit={onEdit}
        />
      ))}
      {now.problems.map((problem) => (
        <li key={problem.layer} className="notice-line">
          {layerName(problem.layer)}: {problem.reason}
        </li>
      ))}
    </ol>
  );
}

function Layer({
  layer,
  most,
  now,
  tried,
  onEdit,
}: {
  layer: PreviewLayer;
  most: number;
  now: Preview;
  tried: boolean;
  onEdit: (layer: string) => void;
}) {
  const leftOut = now.dropped.filter((one) => one.layer === layer.layer && !(layer.tokens === 0 && one.tokens === 0));
  const origin = layer.origins.find((one) => one.entryKey !== undefined);
  const editable = isBlock(layer.layer) || layer.layer === 'system_prompt';
  return (
    <li className={`layer kind-${layerFamily(layer.layer)}`} data-present={layer.present}>
      <div className="layer-head">
        <span className="layer-name ellipsis">{layerName(layer.layer)}</span>
        {tried && <span className="badge">tried out</span>}
        <span className="grow" />
        <span className="muted" title={lifetimeHints[layer.lifetime]}>
          {lifetimeNames[layer.lifetime]}
        </span>
        <span className="layer-tokens">{layer.tokens > 0 ? say.tokens(layer.tokens) : '—'}</span>
        {editable ? (
          <IconButton small icon={Pencil} label={`Try another ${layerName(layer.layer)}`} onClick={() => onEdit(layer.layer)} />
        ) : (
          <span className="layer-gap" />
        )}
      </div>
      <div className="layer-bar" aria-hidden>
        <i style={{ width: `${(layer.tokens / most) * 100}%` }} />
      </div>
      <p className="layer-origin muted">
        {origin?.entryKey ? (
          <button type="button" className="link-button" onClick={() => go({ view: 'context', entry: origin.entryKey })}>
            {layer.origin}
          </button>
        ) : (
          layer.origin
        )}
      </p>
      {leftOut.map((one) => (
        <p key={one.reason} className="layer-dropped">
          Not sent: {one.reason}
          {one.tokens > 0 && ` (${say.plural(one.messages, 'message')}, ${say.tokens(one.tokens)})`}
        </p>
      ))}
    </li>
  );
}

function Messages({ base, now }: { base: Preview; now: Preview }) {
  const rows = useMemo(() => compareMessages(base.messages, now.messages), [base, now]);
  const differs = rows.filter((row) => row.change !== 'same').length;
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({ count: rows.length, getScrollElement: () => scroller.current, estimateSize: () => 96, overscan: 6 });
  // Where something changed is where one wants to look.
  const first = rows.findIndex((row) => row.change !== 'same');
  useEffect(() => {
    if (first >= 0) virtual.scrollToIndex(first, { align: 'center' });
  }, [first, virtual]);
  const items = virtual.getVirtualItems();
  return (
    <div className="compose-messages">
      <h3 className="compose-title">
        Messages, in order{' '}
        <span className="muted">
          {say.plural(now.messages.length, 'message')} · {say.tokens(now.messages.reduce((sum, message) => sum + message.tokens, 0))}
        </span>
        {differs > 0 && (
          <span className="muted">
            {' '}
            · against the context as recorded: <b className="new">+{rows.filter((row) => row.change === 'new').length}</b>{' '}
            <b className="gone">−{rows.filter((row) => row.change === 'gone').length}</b>
          </span>
        )}
      </h3>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a list that scrolls is reached by keyboard */}
      <section ref={scroller} className="compose-scroll" aria-label="Messages" tabIndex={0}>
        <div style={{ height: virtual.getTotalSize(), position: 'relative' }}>
          <ol style={{ transform: `translateY(${items[0]?.start ?? 0}px)` }}>
            {items.map((item) => {
              const row = rows[item.index];
              return (
                row && (
                  <li
                    key={item.key}
                    data-index={item.index}
                    ref={virtual.measureElement}
                    className={`composed ${row.change} kind-${layerFamily(row.message.layer)}`}
                  >
                    <Composed row={row} entry={row.place === undefined ? undefined : now.messageOrigins[row.place]?.[0]} />
                  </li>
                )
              );
            })}
          </ol>
        </div>
      </section>
    </div>
  );
}

const roleNames = { system: 'System', human: 'User', ai: 'Assistant', tool: 'Tool' } as const;
const changeSigns = { same: '', new: '+', gone: '−' } as const;
const changeNames = { same: '', new: 'New: ', gone: 'No longer sent: ' } as const;

function Composed({ row, entry }: { row: Compared; entry: Preview['messageOrigins'][number][number] | undefined }) {
  const { message, change } = row;
  const calls = Array.isArray(message.tool_calls) ? (message.tool_calls as { name?: unknown; args?: unknown }[]) : [];
  const isEmpty = message.content.trim() === '' && calls.length === 0;
  return (
    <>
      <header className="composed-head">
        <span className="composed-sign" aria-hidden>
          {changeSigns[change]}
        </span>
        <span className="composed-role">
          <span className="unseen">{changeNames[change]}</span>
          {roleNames[message.role]}
          {message.name && <span className="muted"> {message.name}</span>}
        </span>
        <span className="badge">{layerName(message.layer)}</span>
        <span className="grow" />
        {entry && (
          <button type="button" className="link-button" onClick={() => go({ view: 'context', entry })}>
            in the context
          </button>
        )}
        {!isEmpty && <span className="muted">{say.tokens(message.tokens)}</span>}
      </header>
      {isEmpty ? (
        <p className="muted">{message.layer === 'system_prompt' ? 'Not recorded: this history does not hold its system prompt' : 'Empty'}</p>
      ) : (
        message.content.trim() !== '' && (
          <Fold text={message.content} lines={6}>
            {(shown) => <pre className="verbatim">{shown}</pre>}
          </Fold>
        )
      )}
      {calls.map((call, n) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: calls of a message that does not change
        <pre key={n} className="verbatim composed-call">
          <b>{String(call.name ?? 'tool')}</b> {say.firstLine(JSON.stringify(call.args ?? {}), 400)}
        </pre>
      ))}
    </>
  );
}

function EditLayer({ layer, text, onClose, onDone }: { layer: string; text: string; onClose: () => void; onDone: (text: string) => void }) {
  const [value, setValue] = useState(text);
  return (
    <Sheet
      title={`Try another ${layerName(layer).toLowerCase()}`}
      kind="side"
      onClose={onClose}
      footer={
        <>
          <span className="muted grow">Nothing is stored.</span>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" onClick={() => onDone(value)}>
            Show what changes
          </Button>
        </>
      }
    >
      <textarea
        className="field mono compose-edit"
        aria-label={layerName(layer)}
        value={value}
        rows={24}
        onChange={(event) => setValue(event.target.value)}
      />
    </Sheet>
  );
}
