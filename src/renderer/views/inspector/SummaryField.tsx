import { Pencil } from 'lucide-react';
import { useState } from 'react';
import { api } from '../../client';
import { Button, commitName, IconButton, notifyProblem, sending, TextArea } from '../../parts';
import { notify, refreshProject, type ShownCommit } from '../../state';

/** The name of the commit, which people can edit: its summary, or that of the edited prompt that it answers. */
export function SummaryField({ commit }: { commit: ShownCommit }) {
  const id = commit.fork?.commit ?? commit.id;
  const summary = (commit.fork ? commit.fork.title : commit.summary) ?? '';
  const [editing, setEditing] = useState(false);
  const [text, setText] = useState(summary);
  const save = async () => {
    await api.context.update({ id, summary: text });
    setEditing(false);
    await refreshProject();
    const undo = (): void => void api.context.update({ id, summary }).then(refreshProject, notifyProblem);
    notify('Renamed the commit', { name: 'Undo', act: undo });
  };
  if (!editing) {
    return (
      <div className="inspector-summary">
        {/* Nobody typed a prompt for a continuation, so it has no name of its own. */}
        <p className={summary === '' ? 'muted' : undefined}>{commit.continues || summary === '' ? commitName({ ...commit, commit }) : summary}</p>
        {!commit.continues && (
          <IconButton
            small
            icon={Pencil}
            label="Edit the summary"
            onClick={() => {
              setText(summary);
              setEditing(true);
            }}
          />
        )}
      </div>
    );
  }
  return (
    <form className="inspector-rename row wrap gap-6" onSubmit={sending(() => save().catch(notifyProblem))}>
      <TextArea
        // The person opened it to type.
        autoFocus
        className="wide"
        label="Summary of the commit"
        rows={3}
        value={text}
        onChange={setText}
        onKeyDown={(event) => {
          if (event.key === 'Escape') setEditing(false);
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) void save().catch(notifyProblem);
          event.stopPropagation();
        }}
      />
      <Button small type="submit" look="primary" label="Save" />
      <Button small label="Cancel" onClick={() => setEditing(false)} />
    </form>
  );
}
