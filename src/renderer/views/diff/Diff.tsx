import { GitCompare, GitCompareArrows } from 'lucide-react';
import type { ContextDiff, ContextId } from '../../../core/contract/index.js';
import { api } from '../../client';
import { attempt, Button, Empty, say } from '../../parts';
import { AnswerMemory, go, move, notify, type ShownCommit, useNavigation, useQuery } from '../../state';
import { CommitAnswer, ToCommit } from '../NoCommit';
import { Comparison, needFirstRows } from './Comparison';
import { Head } from './Head';
import { Samples } from './Samples';

type Compared = Readonly<Record<'left' | 'right', ShownCommit>> & { readonly diff: ContextDiff };

const comparisons = new AnswerMemory<Compared>(6);

/** Two contexts compared, or several samples side by side. */
export function DiffView({ project }: { project: string }) {
  const { commit, against, others, stop = 'compaction' } = useNavigation(({ route }) => route);
  const query = useQuery(
    commit && against && !others ? `${project} ${against} ${commit} ${stop}` : null,
    async (signal) => {
      const [a, b] = [against as ContextId, commit as ContextId];
      const [diff, left, right] = await Promise.all([
        api.context.diff({ a, b, stop }, { signal }),
        api.context.show({ id: a }),
        api.context.show({ id: b }),
      ]);
      // Requested before the data of the heads, which takes the engine longer.
      needFirstRows(project, a, b, stop, diff);
      return { diff, left, right };
    },
    comparisons,
  );
  if (!commit || !against) {
    return (
      <Empty
        title="No commits to compare"
        picture={GitCompare}
        actions={
          <>
            <ToCommit>Select commits in the chain</ToCommit>
            {commit && (
              <Button icon={GitCompareArrows} onClick={attempt(() => compareWithParent(commit))}>
                Compare {say.shortId(commit)} with its parent
              </Button>
            )}
          </>
        }
      >
        The differences between two commits appear here. In the chain, drag one commit onto another, or select two with Ctrl or Cmd and press{' '}
        <kbd>d</kbd>. <kbd>p</kbd> compares a commit with its parent.
      </Empty>
    );
  }
  if (others) return <Samples project={project} ids={[against, commit, ...(others.split(',') as ContextId[])]} />;
  return (
    <CommitAnswer query={query} what="Cannot compare these contexts" loading="Comparing" lines={12}>
      {({ diff, left, right }) => (
        <section className="diff whole stack" aria-label="Diff">
          <Head project={project} left={left} right={right} diff={diff} onSwap={() => move({ commit: against, against: commit })} />
          <Comparison key={`${left.id} ${right.id} ${stop}`} project={project} a={left.id} b={right.id} diff={diff} />
        </section>
      )}
    </CommitAnswer>
  );
}

async function compareWithParent(commit: ContextId): Promise<void> {
  const { parent } = await api.context.show({ id: commit });
  if (parent) go({ against: parent });
  else notify('This commit has no parent');
}
