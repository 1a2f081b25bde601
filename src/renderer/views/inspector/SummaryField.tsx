import { Pencil } from 'lucide-react';
import { useState } from 'react';
import { api } from '../../client';
import { Button, IconButton, notifyProblem } from '../../parts';
import { notify, refreshProject, type ShownCommit } from '../../state';

/** The commit's summary. People see it as the name of the commit and can edit it. */
export function SummaryField({ commit }: { commit: ShownCommit }) {
  const [editing, setEditing] = useState(false);
  const [text, setText] = useState(commit.summary ?? '');
  const save = async () => {
    try {
      await api.context.update({ id: commit.id, summary: text });
      setEditing(false);
      await refreshProject();
      notify('Summary saved');
    } catch (error) {
      notifyProblem(error);
    }
  };
  if (!editing) {
    return (
      <div className="inspector-summary">
        <p>{commit.summary || <span className="muted">{commit.damaged ? 'The summary is not shown' : 'No summary'}</span>}</p>
        <IconButton small icon={Pencil} label="Edit the summary" onClick={() => setEditing(true)} />
      </div>
    );
  }
  return (
    <form
      className="inspector-rename"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <textarea
        // biome-ignore lint/a11y/noAutofocus: the person opened it to type
        autoFocus
        className="field"
        aria-label="Summary of the commit"
        rows={3}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') setEditing(false);
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) void save();
          event.stopPropagation();
        }}
      />
      <Button small type="submit" look="primary">
        Save
      </Button>
      <Button small onClick={() => setEditing(false)}>
        Cancel
      </Button>
    </form>
  );
}
