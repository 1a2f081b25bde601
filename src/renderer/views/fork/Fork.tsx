import { useVirtualizer } from '@tanstack/react-virtual';
import { Download, GitFork, Pencil, Play, Plus, Scissors, Trash2, Undo2 } from 'lucide-react';
import { useEffect, useMemo, useRef, useState } from 'react';
import type { Commit, ContextId, Entry, EntryDraft, EntryKey, OutlineRow, Stop } from '../../../core/contract/index.js';
import { api } from '../../client';
import {
  Answer,
  agentOf,
  agents,
  Button,
  Code,
  familyIcons,
  familyOf,
  IconButton,
  Id,
  kindNames,
  problemOf,
  Sheet,
  say,
  speaker,
  textOf,
} from '../../parts';
import { dismiss, go, move, type Outline, outlineOf, refreshProject, route, show, useOpenDir, useQuery } from '../../state';
import { type Changes, noChanges, type Plan, partnerOf, planOf } from './plan';

/** Branches off at any entry, with whatever should be different in what the model will have seen. */
export function ForkSheet({ commit, at, stop }: { commit: ContextId; at?: EntryKey | undefined; stop: Stop }) {
  const dir = useOpenDir();
  const query = useQuery(dir ? `${dir} ${commit} ${stop}` : null, () => outlineOf(dir ?? '', commit, stop));
  if (query.status !== 'done') {
    return (
      <Sheet title="Fork" kind="side" onClose={dismiss}>
        <Answer query={query} what="This context cannot be forked now" loading="Reading the context" stillWorks="Nothing was changed.">
          {() => null}
        </Answer>
      </Sheet>
    );
  }
  return <Editor commit={commit} at={at} stop={stop} outline={query.data} />;
}

/** What is being written: a change of an entry, one to go before it, or one for the end. */
type Writing = { readonly kind: 'replace' | 'insert'; readonly index: number } | { readonly kind: 'append' };

function Editor({ commit, at, stop, outline }: { commit: ContextId; at: EntryKey | undefined; stop: Stop; outline: Outline }) {
  const { rows } = outline;
  const start = at ? rows.findIndex((row) => row.key === at) : rows.length - 1;
  const [changes, setChanges] = useState<Changes>(() => noChanges(start >= 0 ? start : rows.length - 1));
  const [writing, setWriting] = useState<Writing>();
  const [asking, setAsking] = useState<number>();
  const [name, setName] = useState('');
  const [state, setState] = useState<{ phase: 'editing' | 'making' } | { phase: 'made'; fork: Commit } | { phase: 'failed'; error: unknown }>({
    phase: 'editing',
  });
  const plan = useMemo(() => planOf(rows, changes), [rows, changes]);

  const change = (part: Partial<Changes>) => setChanges({ ...changes, ...part });
  const cutAt = (cut: number) => change({ cut });
  const setDropped = (indexes: readonly number[], drop: boolean) => {
    const dropped = new Set(changes.dropped);
    for (const index of indexes) {
      const key = rows[index]?.key;
      if (key) drop ? dropped.add(key) : dropped.delete(key);
    }
    change({ dropped });
    setAsking(undefined);
  };
  const dropAt = (index: number) => (partnerOf(rows, index) === undefined ? setDropped([index], true) : setAsking(index));
  const write = (draft: EntryDraft) => {
    if (!writing) return;
    if (writing.kind === 'append') change({ appended: [...changes.appended, draft] });
    else {
      const key = rows[writing.index]?.key;
      if (key && writing.kind === 'replace') change({ replaced: new Map(changes.replaced).set(key, draft) });
      if (key && writing.kind === 'insert') change({ inserted: new Map(changes.inserted).set(key, [...(changes.inserted.get(key) ?? []), draft]) });
    }
    setWriting(undefined);
  };
  const restore = (key: EntryKey) => {
    const replaced = new Map(changes.replaced);
    replaced.delete(key);
    const inserted = new Map(changes.inserted);
    inserted.delete(key);
    const dropped = new Set(changes.dropped);
    dropped.delete(key);
    change({ replaced, inserted, dropped });
  };
  const make = async () => {
    setState({ phase: 'making' });
    try {
      const last = rows[changes.cut]?.key;
      const fork = await api.context.fork({
        id: commit,
        ...(last && changes.cut < rows.length - 1 && { at: last }),
        ...(plan.edits.length > 0 && { edits: [...plan.edits] }),
        ...(name.trim() && { summary: name.trim() }),
      });
      setState({ phase: 'made', fork });
      // The chain shows the new branch at once; who reads a context goes on reading it.
      if (route().view === 'chain') move({ commit: fork.id, against: undefined });
      await refreshProject();
    } catch (error) {
      setState({ phase: 'failed', error });
    }
  };
  if (state.phase === 'made') return <Made fork={state.fork} unchanged={state.fork.id === commit} />;

  const nothing = plan.edits.length === 0 && plan.goes.entries === 0;
  return (
    <Sheet
      title="Fork"
      kind="side"
      onClose={dismiss}
      footer={
        <>
          <span className="grow fork-sum">
            <b>{say.tokens(outline.tokens)}</b> before, <b>{say.tokens(plan.tokensAfter)}</b> after
          </span>
          <Button onClick={dismiss}>Cancel</Button>
          <Button look="primary" icon={GitFork} disabled={state.phase === 'making' || nothing || writing !== undefined} onClick={() => void make()}>
            {state.phase === 'making' ? 'Making the fork…' : 'Make the fork'}
          </Button>
        </>
      }
    >
      <div className="fork">
        <p className="muted">The original stays as it is. The fork goes on from the entries that stay, as if the rest had never been said.</p>
        <Cut plan={plan} />
        <label className="fork-name">
          <span className="muted">Name</span>
          <input
            className="field grow"
            placeholder="What this branch is for (optional)"
            value={name}
            onChange={(event) => setName(event.target.value)}
          />
        </label>
        {nothing && (
          <p className="notice-line">Nothing goes and nothing changes yet: choose an earlier entry to cut after, or change, drop or append one.</p>
        )}
        {plan.openCalls.length > 0 && (
          <div className="notice-line" role="status">
            <span className="grow">
              {plan.openCalls.length === 1 ? 'One tool call stays' : `${plan.openCalls.length} tool calls stay`} without a result. On export it is
              closed as the agent itself does it.
            </span>
            {plan.closeAt !== undefined && (
              <Button small onClick={() => cutAt(plan.closeAt ?? changes.cut)}>
                Keep the results too
              </Button>
            )}
          </div>
        )}
        {state.phase === 'failed' && (
          <div className="notice-line error" role="alert">
            <span className="grow">The fork was not made: {problemOf(state.error).message} Nothing was changed.</span>
          </div>
        )}
        {asking !== undefined && (
          <div className="notice-line" role="alertdialog" aria-label="Remove a tool pair">
            <span className="grow">
              {rows[asking]?.kind === 'tool_call'
                ? 'This call has a result. No model takes a result without its call.'
                : 'This result belongs to a call, which would stay without an answer.'}{' '}
              Remove both?
            </span>
            <Button small autoFocus onClick={() => setDropped([asking, partnerOf(rows, asking) ?? asking], true)}>
              Remove both
            </Button>
            {rows[asking]?.kind === 'tool_result' && (
              <Button small onClick={() => setDropped([asking], true)}>
                Only the result
              </Button>
            )}
            <Button small look="plain" onClick={() => setAsking(undefined)}>
              Keep
            </Button>
          </div>
        )}
        {writing ? (
          <Draft writing={writing} rows={rows} commit={commit} stop={stop} changes={changes} onDone={write} onCancel={() => setWriting(undefined)} />
        ) : (
          <Rows
            rows={rows}
            changes={changes}
            onCut={cutAt}
            onDrop={dropAt}
            onRestore={restore}
            onWrite={setWriting}
            onUnappend={(n) => change({ appended: changes.appended.filter((_, at) => at !== n) })}
          />
        )}
      </div>
    </Sheet>
  );
}

function Cut({ plan }: { plan: Plan }) {
  const all = plan.stays.tokens + plan.goes.tokens || 1;
  return (
    <div className="fork-cut">
      <div className="fork-bar" aria-hidden>
        <i className="stays" style={{ flexGrow: plan.stays.tokens / all }} />
        {plan.goes.entries > 0 && <i className="goes" style={{ flexGrow: plan.goes.tokens / all }} />}
      </div>
      <div className="fork-sides">
        <span>
          <b>Stays</b> {say.plural(plan.stays.entries, 'entry', 'entries')}, {say.tokens(plan.stays.tokens)}
        </span>
        <span>
          <b>Goes</b> {plan.goes.entries === 0 ? 'nothing' : `${say.plural(plan.goes.entries, 'entry', 'entries')}, ${say.tokens(plan.goes.tokens)}`}
        </span>
      </div>
    </div>
  );
}

interface RowsProps {
  readonly rows: readonly OutlineRow[];
  readonly changes: Changes;
  readonly onCut: (index: number) => void;
  readonly onDrop: (index: number) => void;
  readonly onRestore: (key: EntryKey) => void;
  readonly onWrite: (writing: Writing) => void;
  readonly onUnappend: (n: number) => void;
}

const height = 28;

function Rows({ rows, changes, onCut, onDrop, onRestore, onWrite, onUnappend }: RowsProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const { cut, dropped, replaced, inserted, appended } = changes;
  const virtual = useVirtualizer({ count: rows.length, getScrollElement: () => scroller.current, estimateSize: () => height, overscan: 10 });
  // The cut is in view from the beginning, as soon as the list has a height.
  const hasHeight = (virtual.scrollRect?.height ?? 0) > 0;
  // biome-ignore lint/correctness/useExhaustiveDependencies: once
  useEffect(() => {
    if (hasHeight) virtual.scrollToIndex(cut, { align: 'center' });
  }, [hasHeight]);
  return (
    <>
      <section ref={scroller} className="fork-list" aria-label="Entries of the fork">
        <div style={{ height: virtual.getTotalSize(), position: 'relative' }}>
          {virtual.getVirtualItems().map((item) => {
            const row = rows[item.index];
            if (!row) return null;
            const Glyph = familyIcons[familyOf(row)];
            const gone = item.index > cut;
            const isDropped = dropped.has(row.key);
            const isChanged = isDropped || replaced.has(row.key) || inserted.has(row.key);
            const what =
              row.kind === 'tool_call'
                ? `${row.head ?? 'tool'} call`
                : row.kind === 'tool_result'
                  ? `${row.head ?? ''} result`
                  : (row.head ?? kindNames[row.kind]);
            return (
              <div
                key={row.key}
                className={`fork-row kind-${familyOf(row)}${gone ? ' gone' : ''}${isDropped ? ' dropped' : ''}${item.index === cut ? ' last' : ''}`}
                style={{ top: item.start }}
              >
                <span className="fork-number muted">{item.index + 1}</span>
                <Glyph size={13} aria-hidden />
                <span className="fork-who">{speaker(row)}</span>
                <span className="ellipsis grow" title={row.head}>
                  {(inserted.get(row.key)?.length ?? 0) > 0 && <span className="badge fork-badge">+{inserted.get(row.key)?.length} before</span>}{' '}
                  {replaced.get(row.key)?.text ?? what}
                </span>
                {replaced.has(row.key) && <span className="badge fork-badge">changed</span>}
                <span className="muted fork-tokens">≈ {say.compact(row.tokens)}</span>
                <span className="fork-actions">
                  {isChanged && (
                    <IconButton small icon={Undo2} label={`Undo the changes of entry ${item.index + 1}`} onClick={() => onRestore(row.key)} />
                  )}
                  {!gone && !isDropped && (
                    <>
                      <IconButton
                        small
                        icon={Plus}
                        label={`Insert before entry ${item.index + 1}`}
                        onClick={() => onWrite({ kind: 'insert', index: item.index })}
                      />
                      <IconButton
                        small
                        icon={Pencil}
                        label={`Change entry ${item.index + 1}`}
                        disabled={row.kind === 'image'}
                        onClick={() => onWrite({ kind: 'replace', index: item.index })}
                      />
                      <IconButton small icon={Trash2} label={`Drop entry ${item.index + 1}`} onClick={() => onDrop(item.index)} />
                    </>
                  )}
                  <IconButton
                    small
                    icon={Scissors}
                    label={`Cut after entry ${item.index + 1}`}
                    aria-pressed={item.index === cut}
                    onClick={() => onCut(item.index)}
                  />
                </span>
              </div>
            );
          })}
        </div>
      </section>
      {appended.map((draft, n) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: drafts have no name but their place
        <div key={n} className="fork-appended">
          <span className="badge fork-badge">appended</span>
          <b>{draft.role}</b>
          <span className="ellipsis grow">{draft.text}</span>
          <IconButton small icon={Trash2} label="Take the appended entry away" onClick={() => onUnappend(n)} />
        </div>
      ))}
      <Button icon={Plus} onClick={() => onWrite({ kind: 'append' })} className="fork-append">
        Append an entry
      </Button>
    </>
  );
}

interface DraftProps {
  readonly writing: Writing;
  readonly rows: readonly OutlineRow[];
  readonly commit: ContextId;
  readonly stop: Stop;
  readonly changes: Changes;
  readonly onDone: (draft: EntryDraft) => void;
  readonly onCancel: () => void;
}

function Draft({ writing, rows, commit, stop, changes, onDone, onCancel }: DraftProps) {
  const index = writing.kind === 'append' ? undefined : writing.index;
  const row = index === undefined ? undefined : rows[index];
  const wanted = writing.kind === 'replace' && index !== undefined ? index : undefined;
  const query = useQuery(
    wanted === undefined ? null : `${commit} ${stop} ${wanted}`,
    async () => (await api.context.entries({ id: commit, stop, offset: wanted ?? 0, limit: 1 })).entries[0],
  );
  const title =
    writing.kind === 'append'
      ? 'A new entry at the end'
      : writing.kind === 'insert'
        ? `A new entry before entry ${(index ?? 0) + 1}`
        : `Change entry ${(index ?? 0) + 1}`;
  return (
    <section className="fork-draft" aria-label={title}>
      <h3>{title}</h3>
      {wanted === undefined ? (
        <DraftForm onDone={onDone} onCancel={onCancel} />
      ) : (
        <Answer query={query} what="The entry cannot be read" loading="Reading the entry" lines={4}>
          {(entry) =>
            entry ? (
              <DraftForm entry={entry} draft={row && changes.replaced.get(row.key)} onDone={onDone} onCancel={onCancel} />
            ) : (
              <p>The entry is not there.</p>
            )
          }
        </Answer>
      )}
    </section>
  );
}

function DraftForm({
  entry,
  draft,
  onDone,
  onCancel,
}: {
  entry?: Entry;
  draft?: EntryDraft | undefined;
  onDone: (draft: EntryDraft) => void;
  onCancel: () => void;
}) {
  const isCall = entry?.kind === 'tool_call';
  const [role, setRole] = useState<'user' | 'assistant'>(entry?.role === 'assistant' ? 'assistant' : 'user');
  const [text, setText] = useState(
    isCall ? textOf(draft?.arguments ?? entry.arguments) : (draft?.text ?? entry?.text ?? (entry?.result === undefined ? '' : textOf(entry.result))),
  );
  const [wrong, setWrong] = useState<string>();
  const done = () => {
    if (!entry) return text.trim() ? onDone({ role, kind: 'text', text }) : setWrong('Write something first.');
    const { role: kept, kind, toolName, toolCallId, isError } = entry;
    const shared = { role: kept, kind, ...(toolName && { toolName }), ...(toolCallId && { toolCallId }), ...(isError && { isError }) };
    if (!isCall) return onDone({ ...shared, text });
    try {
      onDone({ ...shared, arguments: JSON.parse(text) });
    } catch (error) {
      setWrong(`The input is not JSON: ${error instanceof Error ? error.message : ''}`);
    }
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        done();
      }}
    >
      {entry ? (
        <p className="muted">
          {speaker(entry)} · {kindNames[entry.kind]}
          {entry.toolName && ` · ${entry.toolName}`}
        </p>
      ) : (
        <label className="fork-name">
          <span className="muted">Said by</span>
          <select className="field" value={role} onChange={(event) => setRole(event.target.value === 'assistant' ? 'assistant' : 'user')}>
            <option value="user">User</option>
            <option value="assistant">Assistant</option>
          </select>
        </label>
      )}
      <textarea
        // biome-ignore lint/a11y/noAutofocus: opened to be typed into
        autoFocus
        className={`field${isCall ? ' mono' : ''}`}
        aria-label={isCall ? 'Input of the call, as JSON' : 'Text of the entry'}
        rows={14}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) done();
          event.stopPropagation();
        }}
      />
      {entry?.kind === 'thinking' && (
        <p className="notice-line">Thinking that is changed loses its signature. Most providers leave it out of what the model gets.</p>
      )}
      {wrong && (
        <p className="notice-line error" role="alert">
          {wrong}
        </p>
      )}
      <div className="fork-buttons">
        <Button type="submit" look="primary">
          Keep this
        </Button>
        <Button onClick={onCancel}>Cancel</Button>
      </div>
    </form>
  );
}

function Made({ fork, unchanged }: { fork: Commit; unchanged: boolean }) {
  const agent = agentOf(fork.format);
  const open = () => {
    dismiss();
    go({ view: 'context', commit: fork.id, entry: undefined, stop: undefined });
  };
  return (
    <Sheet
      title="The fork is made"
      onClose={dismiss}
      footer={
        <>
          <Button icon={Download} onClick={() => show({ kind: 'export', commit: fork.id, stop: 'compaction' })}>
            Export
          </Button>
          <Button icon={Play} onClick={() => show({ kind: 'resume', commit: fork.id, agent })}>
            Resume in {agents[agent].name}
          </Button>
          <Button look="primary" autoFocus onClick={open}>
            Open the fork
          </Button>
        </>
      }
    >
      <p>
        <Id id={fork.id} what="commit id" />
      </p>
      <p>
        {unchanged
          ? 'Nothing was cut or changed, so the commit itself is where the branch begins.'
          : fork.summary && <Code text={say.firstLine(fork.summary)} />}
      </p>
      <p className="muted">
        {say.plural(fork.messageCount, 'message')} and {say.tokens(fork.tokenCount)} of its own. The original chain was not touched.
      </p>
    </Sheet>
  );
}
