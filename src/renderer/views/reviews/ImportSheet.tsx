import { FileText } from 'lucide-react';
import { useId, useState } from 'react';
import { api } from '../../client';
import { Button, notifyProblem, Sheet, Switch, say } from '../../parts';
import { notify } from '../../state';
import { Problem, useWriting } from './writing';

type Kind = 'any' | 'github' | 'markdown';

/** Brings in tickets from GitHub's JSON or a Markdown task list, pasted or out of a file. */
export function ImportSheet({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState('');
  const [kind, setKind] = useState<Kind>('any');
  const [file, setFile] = useState<File>();
  const { busy, problem, write } = useWriting();
  const ids = useId();
  const bring = async (): Promise<void> => {
    let made = { created: 0, known: 0 };
    const done = await write(async () => {
      const { created, known } = await api.ticket.import({
        text,
        ...(kind !== 'any' && { kind }),
        ...(file && { at: new Date(file.lastModified).toISOString() }),
      });
      made = { created: created.length, known };
    });
    if (!done) return;
    notify(`Brought in ${say.plural(made.created, 'ticket')}${made.known > 0 ? `; ${say.exact(made.known)} were here already` : ''}.`);
    onClose();
  };
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
    <Sheet
      title="Import tickets"
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" disabled={busy || text.trim() === ''} onClick={() => void bring()}>
            Import
          </Button>
        </>
      }
    >
      <div className="ticket-form">
        <p className="muted">
          Issues and pull requests with their reviews and comments, as <code className="inline">gh issue list --json …</code>,{' '}
          <code className="inline">gh pr view --json …</code> or GitHub’s interface gives them; or a list with <code className="inline">- [ ]</code>{' '}
          and <code className="inline">- [x]</code>. Each is linked to the commit that was current when it was made. What is here already stays as it
          is.
        </p>
        <div className="import-choice">
          <Switch
            label="What it is"
            value={kind}
            onChange={setKind}
            options={[
              { value: 'any', name: 'Detect' },
              { value: 'github', name: 'GitHub JSON' },
              { value: 'markdown', name: 'Task list' },
            ]}
          />
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
        <div className="ticket-field">
          <label htmlFor={ids}>Text to import</label>
          <textarea
            id={ids}
            className="field mono"
            rows={12}
            value={text}
            placeholder={'# Plan\n- [ ] Make retries idempotent\n  - [x] Find out why they are not'}
            onChange={(event) => {
              setText(event.target.value);
              setFile(undefined);
            }}
          />
        </div>
        <Problem>{problem}</Problem>
      </div>
    </Sheet>
  );
}
