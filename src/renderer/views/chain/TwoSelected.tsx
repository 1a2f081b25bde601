import type { ContextId } from '../../../core/contract/index.js';
import { Button, say } from '../../parts';
import { go, move } from '../../state';

/** The bar above the list while two commits are selected. */
export function TwoSelected({ commit, against }: { commit: ContextId; against: ContextId }) {
  return (
    <div className="chain-two">
      <span>
        Two selected: <b className="mono">{say.shortId(commit)}</b> and <b className="mono">{say.shortId(against)}</b>
      </span>
      <Button small look="primary" onClick={() => go({ view: 'compare', entry: undefined })}>
        Compare
      </Button>
      <Button small look="plain" onClick={() => move({ against: undefined })}>
        Clear
      </Button>
    </div>
  );
}
