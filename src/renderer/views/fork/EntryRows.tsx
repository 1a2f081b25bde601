import { Pencil, Plus, Scissors, Trash2, Undo2 } from 'lucide-react';
import { useEffect } from 'react';
import type { OutlineRow } from '../../../core/contract/index.js';
import { Button, Estimate, familyIcons, IconButton, kindFamily, kindNames, speaker, useVirtualRows } from '../../parts';
import { type Changes, type Writing, withoutChanges } from './plan';

interface EntryRowsProps {
  readonly rows: readonly OutlineRow[];
  readonly changes: Changes;
  readonly onChange: (changes: Changes) => void;
  readonly onDrop: (index: number) => void;
  readonly onWrite: (writing: Writing) => void;
  readonly isCutFixed: boolean | undefined;
}

const rowHeight = 28;

/** The entries of a context with buttons to cut, edit, insert and drop. */
export function EntryRows(props: EntryRowsProps) {
  const { rows, changes, onChange, onWrite } = props;
  const { scroller, virtual } = useVirtualRows(rows.length, rowHeight, { overscan: 10 });
  // The cut scrolls into view as soon as the list has a height.
  const hasHeight = (virtual.scrollRect?.height ?? 0) > 0;
  // biome-ignore lint/correctness/useExhaustiveDependencies: only once
  useEffect(() => {
    if (hasHeight) virtual.scrollToIndex(changes.cut, { align: 'center' });
  }, [hasHeight]);
  return (
    <>
      <section ref={scroller} className="fork-list" aria-label="Entries of the fork">
        <div style={{ height: virtual.getTotalSize(), position: 'relative' }}>
          {virtual.getVirtualItems().map((item) => {
            const row = rows[item.index];
            return row && <EntryRow key={row.key} {...props} row={row} index={item.index} top={item.start} />;
          })}
        </div>
      </section>
      {changes.appended.map((draft, n) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: drafts have no identity but their place
        <div key={n} className="row">
          <span className="badge fork-badge">appended</span>
          <b>{draft.role}</b>
          <span className="ellipsis grow">{draft.text}</span>
          <IconButton
            small
            icon={Trash2}
            label="Remove appended entry"
            onClick={() => onChange({ ...changes, appended: changes.appended.toSpliced(n, 1) })}
          />
        </div>
      ))}
      <Button icon={Plus} onClick={() => onWrite({ kind: 'append' })} className="fork-append" label="Append an entry" />
    </>
  );
}

type EntryRowProps = EntryRowsProps & { readonly row: OutlineRow; readonly index: number; readonly top: number };

function EntryRow(props: EntryRowProps) {
  const { row, index, top, changes } = props;
  const { cut, dropped, replaced, inserted } = changes;
  const Glyph = familyIcons[kindFamily(row)];
  const isDropped = dropped.has(row.key);
  const insertedCount = inserted.get(row.key)?.length ?? 0;
  const states = [index > cut && 'gone', isDropped && 'dropped', index === cut && 'last'].filter(Boolean).join(' ');
  return (
    <div className={`fork-row row kind-${kindFamily(row)} ${states}`} style={{ top }}>
      <span className="fork-number muted rigid">{index + 1}</span>
      <Glyph size={13} aria-hidden />
      <span className="fork-who small rigid">{speaker(row)}</span>
      <span className="ellipsis grow" title={row.head}>
        {insertedCount > 0 && <span className="badge fork-badge">{insertedCount} inserted before</span>}{' '}
        {replaced.get(row.key)?.text ?? rowTitle(row)}
      </span>
      {replaced.has(row.key) && <span className="badge fork-badge">changed</span>}
      <Estimate className="muted small rigid" of={row.tokens} bare />
      <RowActions {...props} />
    </div>
  );
}

const rowTitle = ({ kind, head }: OutlineRow): string =>
  kind === 'tool_call' ? `${head ?? 'tool'} call` : kind === 'tool_result' ? `${head ?? ''} result` : (head ?? kindNames[kind]);

function RowActions({ row, index, changes, onChange, onWrite, onDrop, isCutFixed }: EntryRowProps) {
  const { cut, dropped, replaced, inserted } = changes;
  const isDropped = dropped.has(row.key);
  const number = index + 1;
  return (
    <span className="fork-actions rigid">
      {(isDropped || replaced.has(row.key) || inserted.has(row.key)) && (
        <IconButton small icon={Undo2} label={`Undo changes to entry ${number}`} onClick={() => onChange(withoutChanges(changes, row.key))} />
      )}
      {index <= cut && !isDropped && (
        <>
          <IconButton small icon={Plus} label={`Insert before entry ${number}`} onClick={() => onWrite({ kind: 'insert', index })} />
          <IconButton
            small
            icon={Pencil}
            label={`Edit entry ${number}`}
            disabled={row.kind === 'image'}
            onClick={() => onWrite({ kind: 'replace', index })}
          />
          <IconButton small icon={Trash2} label={`Drop entry ${number}`} onClick={() => onDrop(index)} />
        </>
      )}
      {!isCutFixed && (
        <IconButton
          small
          icon={Scissors}
          label={`Cut after entry ${number}`}
          aria-pressed={index === cut}
          onClick={() => onChange({ ...changes, cut: index })}
        />
      )}
    </span>
  );
}
