import { MousePointerClick } from 'lucide-react';
import { Answer, Empty, say } from '../../parts';
import { useCommit, useCommitInView, useForkDraft, useNavigation } from '../../state';
import { CommitFacts } from './CommitFacts';
import { EntryFacts } from './EntryFacts';
import { ForkFacts } from './ForkFacts';
import { TurnList } from './TurnList';

/** Details of the selected commit; in the Context view also the list of turns and the selected entry. */
export function Inspector({ project }: { project: string }) {
  const { view, entry, stop = 'compaction', unsent: wanted } = useNavigation(({ route }) => route);
  const commit = useCommitInView();
  const query = useCommit(project, commit);
  const draft = useForkDraft(project, commit);
  if (!commit) {
    return (
      <Empty title="Nothing selected" picture={<MousePointerClick size={36} strokeWidth={1} />}>
        The details of a commit appear here. Select a commit to see them.
      </Empty>
    );
  }
  const shown = { project, commit, stop, unsent: wanted === 'yes' };
  return (
    <div className="inspector stack">
      {view === 'context' && draft?.open && <ForkFacts {...shown} draft={draft} />}
      {view === 'context' && <TurnList {...shown} />}
      {(view === 'context' || view === 'replay') && entry && !draft?.open && <EntryFacts {...shown} entry={entry} />}
      <Answer query={query} what={`Cannot load commit ${say.shortId(commit)}`} loading="Loading the commit" lines={6}>
        {(loaded) => <CommitFacts project={project} commit={loaded} />}
      </Answer>
    </div>
  );
}
