import { useState } from 'react';
import type { ContextId, Entry, EntryDraft, OutlineRow, Stop } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Answer, Button, kindNames, ProblemLine, Select, showValue, speaker, TextArea } from '../../parts';
import { useQuery } from '../../state';
import type { Changes, Writing } from './plan';

interface EntryDraftFormProps {
  readonly writing: Writing;
  readonly rows: readonly OutlineRow[];
  readonly commit: ContextId;
  readonly stop: Stop;
  readonly changes: Changes;
  readonly onDone: (draft: EntryDraft) => void;
  readonly onCancel: () => void;
}

/** The form for a changed, inserted or appended entry. */
export function EntryDraftForm({ writing, rows, commit, stop, changes, onDone, onCancel }: EntryDraftFormProps) {
  const edited = writing.kind === 'replace' ? writing.index : -1;
  const row = rows[edited];
  const query = useQuery(
    edited < 0 ? null : `${commit} ${stop} ${edited}`,
    async () => (await api.context.entries({ id: commit, stop, offset: edited, limit: 1 })).entries[0],
  );
  const title =
    writing.kind === 'append'
      ? 'New entry at the end'
      : `${writing.kind === 'insert' ? 'New entry before entry' : 'Edit entry'} ${writing.index + 1}`;
  return (
    <section className="fork-draft" aria-label={title}>
      <h3>{title}</h3>
      {edited < 0 ? (
        <DraftForm onDone={onDone} onCancel={onCancel} />
      ) : (
        <Answer query={query} what="Cannot load the entry" loading="Loading the entry" lines={4}>
          {(entry) =>
            entry ? (
              <DraftForm entry={entry} draft={row && changes.replaced.get(row.key)} onDone={onDone} onCancel={onCancel} />
            ) : (
              <p>This entry does not exist.</p>
            )
          }
        </Answer>
      )}
    </section>
  );
}

interface DraftFormProps {
  /** The entry to edit; without it, the form writes a new entry. */
  readonly entry?: Entry;
  readonly draft?: EntryDraft | undefined;
  readonly onDone: (draft: EntryDraft) => void;
  readonly onCancel: () => void;
}

function DraftForm({ entry, draft, onDone, onCancel }: DraftFormProps) {
  const isCall = entry?.kind === 'tool_call';
  const [role, setRole] = useState<'user' | 'assistant'>(entry?.role === 'assistant' ? 'assistant' : 'user');
  const [text, setText] = useState(
    isCall
      ? showValue(draft?.arguments ?? entry.arguments)
      : (draft?.text ?? entry?.text ?? (entry?.result === undefined ? '' : showValue(entry.result))),
  );
  const [problem, setProblem] = useState<string>();
  const done = () => {
    if (!entry) return text.trim() ? onDone({ role, kind: 'text', text }) : setProblem('Enter a text first.');
    const { role: ownRole, kind, toolName, toolCallId, isError } = entry;
    const shared = { role: ownRole, kind, ...(toolName && { toolName }), ...(toolCallId && { toolCallId }), ...(isError && { isError }) };
    if (!isCall) return onDone({ ...shared, text });
    try {
      onDone({ ...shared, arguments: JSON.parse(text) });
    } catch (error) {
      setProblem(`The arguments are not valid JSON: ${error instanceof Error ? error.message : ''}`);
    }
  };
  return (
    // Not a form element: in Run again this is inside a form, and HTML forms cannot be nested.
    <div className="stack gap-8">
      {entry ? (
        <p className="muted">
          {speaker(entry)} · {kindNames[entry.kind]}
          {entry.toolName && ` · ${entry.toolName}`}
        </p>
      ) : (
        <label className="row">
          <span className="muted">Role</span>
          <Select value={role} options={Object.entries({ user: 'User', assistant: 'Assistant' })} onChange={setRole} />
        </label>
      )}
      <TextArea
        // The person opened it to type.
        autoFocus
        className={isCall ? 'mono' : undefined}
        label={isCall ? 'Arguments of the call as JSON' : 'Text of the entry'}
        rows={14}
        value={text}
        onChange={setText}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) done();
          event.stopPropagation();
        }}
      />
      {entry?.kind === 'thinking' && <p className="notice-line">Changed thinking loses its signature. Most providers do not send it to the model.</p>}
      {problem && <ProblemLine>{problem}</ProblemLine>}
      <div className="row">
        <Button look="primary" label="Apply" onClick={done} />
        <Button label="Cancel" onClick={onCancel} />
      </div>
    </div>
  );
}
