import { useState } from 'react';
import { api } from '../../client';
import { Answer, Facts, say } from '../../parts';
import { type ShownCommit, useProject, useQuery } from '../../state';

type Version = Awaited<ReturnType<typeof api.context.versions>>[number];

/** The changes of a commit's summary and tags, and the agents that were started from it. Loaded when a person unfolds it. */
export function SummaryHistory({ project, commit }: { project: string; commit: ShownCommit }) {
  const [open, setOpen] = useState(false);
  return (
    <details className="provenance" open={open} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>Changes and starts</summary>
      {open && <History project={project} commit={commit} />}
    </details>
  );
}

function History({ project, commit: { id, fork } }: { project: string; commit: ShownCommit }) {
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
