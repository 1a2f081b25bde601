import { Pencil } from 'lucide-react';
import { useState } from 'react';
import { api } from '../../client';
import { Answer, Button, commitName, Facts, IconButton, notifyProblem, reloadAndSay, say, sending, TextArea } from '../../parts';
import { type ShownCommit, useProject, useQuery } from '../../state';

/** The name of the commit, which people can edit: its summary, or that of the edited prompt that it answers. */
export function SummaryField({ commit }: { commit: ShownCommit }) {
  const id = commit.fork?.commit ?? commit.id;
  const summary = (commit.fork ? commit.fork.title : commit.summary) ?? '';
  const [editing, setEditing] = useState(false);
  const [text, setText] = useState(summary);
  const save = async () => {
    await api.context.update({ id, summary: text });
    setEditing(false);
    await reloadAndSay('Renamed the commit', () => api.context.update({ id, summary }));
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

type Version = Awaited<ReturnType<typeof api.context.versions>>[number];

/** The changes of a commit's summary and tags, and the agents that were started from it. */
export function SummaryHistory({ project, commit: { id, fork } }: { project: string; commit: ShownCommit }) {
  const revision = useProject((state) => state.revision);
  const query = useQuery(`history ${project} ${id} ${revision}`, async (signal) => {
    const [versions, starts] = await Promise.all([
      api.context.versions({ id: fork?.commit ?? id }, { signal }),
      api.context.instantiations({ id, limit: 100 }, { signal }),
    ]);
    return { versions, starts };
  });
  return (
    <Answer query={query} what="Cannot load the changes of this commit" loading="Loading the changes" lines={2}>
      {({ versions, starts }) => (
        <>
          {versions.length === 0 && <p className="muted">Summary and tags were never changed.</p>}
          <Facts rows={versions.toReversed().flatMap(changesOf)} />
          {starts.length === 0 && <p className="muted">No agent was started from this context.</p>}
          <Facts
            rows={starts.map(({ at, template, principal, machine }): [string, string] => [
              `Started ${say.when(at)}`,
              [template, principal, machine].filter((part) => part !== null).join(' · '),
            ])}
          />
        </>
      )}
    </Answer>
  );
}

/** The changes of the summary and the tags, as rows of a list. */
function changesOf({ at, author, summary, tags }: Version): (readonly [string, React.ReactNode])[] {
  const change = (from: string | null, to: string | null) => (
    <span>
      <span className="muted">
        {say.when(at)}
        {author !== null && ` · ${author}`}
      </span>
      <br />
      <del>{from || 'none'}</del> → {to || 'none'}
    </span>
  );
  return [
    ...(summary.from === summary.to ? [] : [['Summary', change(summary.from, summary.to)] as const]),
    ...(tags.from.join() === tags.to.join() ? [] : [['Tags', change(tags.from.join(', '), tags.to.join(', '))] as const]),
  ];
}
