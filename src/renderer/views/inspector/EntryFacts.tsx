import type { ContextId, Entry } from '../../../core/contract/index.js';
import { Estimate, Facts, Id, kindFamily, kindNames, LinkButton, namedMarks, say } from '../../parts';
import { entryRanges, go, loadOutline, useQuery, useRanges } from '../../state';
import type { ContextInView } from '../context';

/** The details of the selected entry. */
export function EntryFacts({ project, commit, stop, unsent, entry: key }: ContextInView & { readonly entry: string }) {
  const query = useQuery(`${project} ${commit} ${stop} ${unsent}`, () => loadOutline(project, commit, stop, unsent));
  const index = query.data?.rows.findIndex((row) => row.key === key) ?? -1;
  const entry: Entry | undefined = useRanges(entryRanges(project, commit, stop, unsent)).at(Math.max(0, index));
  if (index < 0 || !entry) return null;
  const marks = namedMarks(entry.marks);
  return (
    <section aria-label="Entry" className={`kind-${kindFamily(entry)}`}>
      <h3>
        <span className="entry-name">{kindNames[entry.kind]}</span>{' '}
        <span className="muted">
          {say.exact(index + 1)} of {query.data && say.exact(query.data.total)}
        </span>
      </h3>
      <Facts
        rows={{
          Tokens: <Estimate of={entry.tokens} />,
          Time: entry.at ? say.instant(entry.at) : 'not recorded',
          Role: entry.role,
          Tool: entry.toolName || false,
          Author: entry.author || false,
          Marks: marks.length > 0 && marks.map(({ name }) => name).join(', '),
          Commit: <CommitLink id={entry.source.commit} />,
          Key: <Id id={entry.key} what="entry key" />,
          Call: entry.toolCallId ? <Id id={entry.toolCallId} what="call id" /> : false,
        }}
      />
    </section>
  );
}

/** A commit's short id that selects the commit. */
export const CommitLink = ({ id }: { id: ContextId }) => (
  <LinkButton className="mono commit-link" label={say.shortId(id)} onClick={() => go({ commit: id, entry: undefined })} />
);
