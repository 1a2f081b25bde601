import { useVirtualizer } from '@tanstack/react-virtual';
import { Pencil, Plus, Scissors, Trash2, Undo2 } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import type { ContextId, Entry, EntryDraft, EntryKey, OutlineRow, Stop } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Answer, Button, familyIcons, familyOf, IconButton, kindNames, ProblemLine, say, speaker, textOf } from '../../parts';
import { useQuery } from '../../state';
import { type Changes, partnerOf } from './plan';

/** What is being written: a change of an entry, one to go before it, or one for the end. */
type Writing = { readonly kind: 'replace' | 'insert'; readonly index: number } | { readonly kind: 'append' };

interface EntryEditorProps {
  readonly rows: readonly OutlineRow[];
  /** The context that the rows are of. */
  readonly commit: ContextId;
  readonly stop: Stop;
  readonly changes: Changes;
  readonly onChange: (changes: Changes) => void;
  /** Somebody has begun to write, or is done. */
  readonly onWriting: (isWriting: boolean) => void;
  /** Where the cut is given: nothing after it is shown, and it stays where it is. */
  readonly isCutFixed?: boolean;
}

/** The entries of a context, to be cut, dropped, changed, inserted and appended. Tool pairs are guarded. */
export function EntryEditor({ rows, commit, stop, changes, onChange, onWriting, isCutFixed }: EntryEditorProps) {
  const [writing, setWritingNow] = useState<Writing>();
  const [asking, setAsking] = useState<number>();
  const setWriting = (next: Writing | undefined) => {
    setWritingNow(next);
    onWriting(next !== undefined);
  };
  const change = (part: Partial<Changes>) => onChange({ ...changes, ...part });
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
  return (
    <>
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
          rows={isCutFixed ? rows.slice(0, changes.cut + 1) : rows}
          changes={changes}
          onCut={isCutFixed ? undefined : (cut) => change({ cut })}
          onDrop={dropAt}
          onRestore={restore}
          onWrite={setWriting}
          onUnappend={(n) => change({ appended: changes.appended.filter((_, at) => at !== n) })}
        />
      )}
    </>
  );
}

interface RowsProps {
  readonly rows: readonly OutlineRow[];
  readonly changes: Changes;
  readonly onCut: ((index: number) => void) | undefined;
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
                  {onCut && (
                    <IconButton
                      small
                      icon={Scissors}
                      label={`Cut after entry ${item.index + 1}`}
                      aria-pressed={item.index === cut}
                      onClick={() => onCut(item.index)}
                    />
                  )}
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
    // No form: where a turn is run again this stands in one, and forms do not hold forms.
    <div className="fork-writing">
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
      {wrong && <ProblemLine>{wrong}</ProblemLine>}
      <div className="fork-buttons">
        <Button look="primary" onClick={done}>
          Keep this
        </Button>
        <Button onClick={onCancel}>Cancel</Button>
      </div>
    </div>
  );
}
