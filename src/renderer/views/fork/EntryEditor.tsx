import { useState } from 'react';
import type { ContextId, OutlineRow, Stop } from '../../../core/contract/index.js';
import { Button } from '../../parts';
import { EntryDraftForm } from './EntryDraftForm';
import { EntryRows } from './EntryRows';
import { type Changes, partnerOf, type Writing, withDraft, withDropped } from './plan';

interface EntryEditorProps {
  readonly rows: readonly OutlineRow[];
  /** The commit whose context the rows are. */
  readonly commit: ContextId;
  readonly stop: Stop;
  readonly changes: Changes;
  readonly onChange: (changes: Changes) => void;
  /** Called when the form for an entry opens or closes. */
  readonly onWriting: (isWriting: boolean) => void;
  /** True if the cut cannot be moved and the entries after it are not shown. */
  readonly isCutFixed?: boolean;
}

/** Edits the entries of a context: cut, drop, edit, insert and append. It asks before a drop separates a tool call from its result. */
export function EntryEditor({ rows, commit, stop, changes, onChange, onWriting, isCutFixed }: EntryEditorProps) {
  const [writing, setWriting] = useState<Writing>();
  const [pairAt, setPairAt] = useState<number>();
  const startWriting = (next: Writing | undefined) => {
    setWriting(next);
    onWriting(next !== undefined);
  };
  const drop = (indexes: readonly number[]) => {
    onChange(withDropped(rows, changes, indexes));
    setPairAt(undefined);
  };
  return (
    <>
      {pairAt !== undefined && <PairQuestion rows={rows} index={pairAt} onDrop={drop} onKeep={() => setPairAt(undefined)} />}
      {writing ? (
        <EntryDraftForm
          writing={writing}
          rows={rows}
          commit={commit}
          stop={stop}
          changes={changes}
          onDone={(draft) => {
            onChange(withDraft(rows, changes, writing, draft));
            startWriting(undefined);
          }}
          onCancel={() => startWriting(undefined)}
        />
      ) : (
        <EntryRows
          rows={isCutFixed ? rows.slice(0, changes.cut + 1) : rows}
          changes={changes}
          onChange={onChange}
          onDrop={(index) => (partnerOf(rows, index) === undefined ? drop([index]) : setPairAt(index))}
          onWrite={startWriting}
          isCutFixed={isCutFixed}
        />
      )}
    </>
  );
}

interface PairQuestionProps {
  readonly rows: readonly OutlineRow[];
  readonly index: number;
  readonly onDrop: (indexes: readonly number[]) => void;
  readonly onKeep: () => void;
}

function PairQuestion({ rows, index, onDrop, onKeep }: PairQuestionProps) {
  const kind = rows[index]?.kind;
  return (
    <div className="notice-line" role="alertdialog" aria-label="Drop a tool pair">
      <span className="grow">
        {kind === 'tool_call'
          ? 'This call has a result. Models refuse a result without its call.'
          : 'This result belongs to a call, which would have no result.'}{' '}
        Drop both?
      </span>
      <Button small label="Drop both" autoFocus onClick={() => onDrop([index, partnerOf(rows, index) ?? index])} />
      {kind === 'tool_result' && <Button small label="Drop only the result" onClick={() => onDrop([index])} />}
      <Button small look="plain" label="Keep both" onClick={onKeep} />
    </div>
  );
}
