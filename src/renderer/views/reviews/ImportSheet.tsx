import { FileText } from 'lucide-react';
import { useState } from 'react';
import { api } from '../../client';
import { notifyProblem, Switch, say } from '../../parts';
import { notify } from '../../state';
import { TextField, WritingSheet } from './writing';

/** Imports tickets from GitHub's JSON or a Markdown task list, pasted or from a file. */
export function ImportSheet({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState('');
  const [kind, setKind] = useState<'any' | 'github' | 'markdown'>('any');
  const [file, setFile] = useState<File>();
  const importTickets = () =>
    api.ticket.import({ text, ...(kind !== 'any' && { kind }), ...(file && { at: new Date(file.lastModified).toISOString() }) });
  const read = async (chosen: File | undefined): Promise<void> => {
    if (!chosen) return;
    try {
      setText(await chosen.text());
      setFile(chosen);
    } catch (error) {
      notifyProblem(error);
    }
  };
  return (
    <WritingSheet
      title="Import tickets"
      label="Import"
      lacks={text.trim() === ''}
      work={importTickets}
      onDone={({ created, known }) =>
        notify(`Imported ${say.plural(created.length, 'ticket')}${known > 0 ? `; ${say.exact(known)} existed already` : ''}.`)
      }
      onClose={onClose}
    >
      <p className="muted">
        Issues and pull requests with their reviews and comments, as <code className="inline">gh issue list --json …</code>,{' '}
        <code className="inline">gh pr view --json …</code> or GitHub’s interface writes them; or a list with <code className="inline">- [ ]</code>{' '}
        and <code className="inline">- [x]</code>. Each ticket is linked to the commit that was current when it was written. Existing tickets do not
        change.
      </p>
      <div className="row wrap">
        <Switch label="Kind of text" value={kind} onChange={setKind} options={{ any: 'Detect', github: 'GitHub JSON', markdown: 'Task list' }} />
        <label className="button small import-file">
          <FileText size={14} aria-hidden />
          Choose a file…
          <input
            type="file"
            className="unseen"
            accept=".json,.md,.markdown,.txt,application/json,text/markdown,text/plain"
            onChange={(event) => void read(event.target.files?.[0])}
          />
        </label>
        {file && <span className="muted ellipsis">{file.name}</span>}
      </div>
      <TextField
        label="Text to import"
        className="mono"
        lines={12}
        value={text}
        placeholder={'# Plan\n- [ ] Make retries idempotent\n  - [x] Find out why they are not'}
        onChange={(next) => {
          setText(next);
          setFile(undefined);
        }}
      />
    </WritingSheet>
  );
}
