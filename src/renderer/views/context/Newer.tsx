import { useEffect, useMemo } from 'react';
import type { ContextId } from '../../../core/contract/index.js';
import { Button, say } from '../../parts';
import { go, move, newest, useLive, useUi } from '../../state';

/**
 * What came on this branch since the commit that is read, and the way there. Followed, it shows by itself for as long as one reads at
 * the end; who has scrolled back stays where they are.
 */
export function Newer({ commit, atEnd }: { commit: ContextId; atEnd: boolean }) {
  const latest = useLive((live) => live.next);
  const follows = useUi((ui) => ui.followsTurns);
  const later = useMemo(() => newest(latest, commit), [latest, commit]);
  useEffect(() => {
    if (follows && atEnd && later) move({ commit: later.id, entry: undefined });
  }, [follows, atEnd, later]);
  if (!later && !follows) return null;
  return (
    <output className="newer">
      <span className="grow">{later ? `${say.plural(later.commits, 'newer commit')} on this branch` : 'The newest commit of this branch'}</span>
      <label title="Show what comes by itself, while the end is in view">
        <input type="checkbox" checked={follows} onChange={(event) => useUi.setState({ followsTurns: event.target.checked })} />
        Follow
      </label>
      {later && (
        <Button small look="primary" onClick={() => go({ commit: later.id, entry: undefined })}>
          Show
        </Button>
      )}
    </output>
  );
}
