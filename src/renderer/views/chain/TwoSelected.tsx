import type { ContextId } from '../../../core/contract/index.js';
import { Button, commitName, say } from '../../parts';
import { move, useCommit, useOpenDir } from '../../state';

/** The bar above the list while two commits are selected. */
export function TwoSelected({ commit, against }: { commit: ContextId; against: ContextId }) {
  return (
    <div className="chain-two row">
      <span className="ellipsis">
        <b>Two selected</b> <Title commit={commit} /> and <Title commit={against} />
      </span>
      <span className="grow" />
      <Button small look="plain" onClick={() => move({ against: undefined })}>
        Clear
      </Button>
    </div>
  );
}

function Title({ commit }: { commit: ContextId }) {
  const query = useCommit(useOpenDir(), commit);
  const name = query.status === 'done' ? commitName({ ...query.data, commit: query.data }) : undefined;
  return name ? <span title={commit}>“{say.firstLine(name, 50)}”</span> : <span className="mono">{say.shortId(commit)}</span>;
}
