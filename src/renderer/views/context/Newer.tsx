import { useEffect, useMemo } from 'react';
import type { ContextId } from '../../../core/contract/index.js';
import { Button, say } from '../../parts';
import { go, move, newest, useLive, useUi } from '../../state';

/** A notice of newer commits of this branch. With *Follow*, they are shown as they arrive while the end of the list is visible. */
export function Newer({ commit, atEnd }: { commit: ContextId; atEnd: boolean }) {
  const latest = useLive((live) => live.next);
  const follows = useUi((ui) => ui.followsTurns);
  const end = useMemo(() => newest(latest, commit), [latest, commit]);
  // Commits that an import adds to a session that has ended are no news.
  const later = useLive(({ capture }) => capture?.files.some(({ tip }) => tip === end?.id)) ? end : undefined;
  useEffect(() => {
    if (follows && atEnd && later) move({ commit: later.id, entry: undefined });
  }, [follows, atEnd, later]);
  if (!later && !follows) return null;
  return (
    <output className="newer row gap-12 rigid small">
      <span className="grow">{later ? `${say.plural(later.commits, 'newer commit')} on this branch` : 'The newest commit of this branch'}</span>
      <label className="row gap-6" title="Show new entries as they arrive, while the end is visible">
        <input type="checkbox" checked={follows} onChange={(event) => useUi.setState({ followsTurns: event.target.checked })} />
        Follow
      </label>
      {later && <Button small look="primary" label="Show" onClick={() => go({ commit: later.id, entry: undefined })} />}
    </output>
  );
}
