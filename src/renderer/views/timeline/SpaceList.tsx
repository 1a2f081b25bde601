import { Plus } from 'lucide-react';
import type { Space } from '../../../core/contract/index.js';
import { DamagedMark, IconButton, say } from '../../parts';
import { go } from '../../state';

/** The address of the selected context, in place of a space. */
const selectedContext = 'context';

/** The spaces of the project with their unread messages, and the selected context. */
export function SpaceList(props: {
  spaces: readonly (Space & { unread: number })[];
  /** The id of the space, or `context`. */
  chosen: string | undefined;
  hasContext: boolean;
  onNew: () => void;
}) {
  const { spaces, chosen, hasContext, onNew } = props;
  return (
    <nav className="space-list" aria-label="Spaces">
      <header>
        <h3 className="grow">Spaces</h3>
        <IconButton small icon={Plus} label="Create a space" onClick={onNew} />
      </header>
      <ul>
        {spaces.map((space) => (
          <li key={space.spaceId}>
            <button
              type="button"
              className="selectable"
              aria-current={space.spaceId === chosen ? 'true' : undefined}
              onClick={() => go({ view: 'timeline', space: space.spaceId })}
            >
              <span className="space-name">
                <span className="ellipsis grow">{space.name ?? space.spaceId}</span>
                {space.damaged && <DamagedMark />}
                {space.unread > 0 && space.spaceId !== chosen && (
                  <span className="badge" title={`${space.unread} unread`}>
                    {space.unread}
                  </span>
                )}
              </span>
              <span className="muted ellipsis">
                {say.plural(space.messages, 'message')}
                {space.lastMessageAt && ` · ${say.when(space.lastMessageAt)}`}
              </span>
            </button>
          </li>
        ))}
        {hasContext && (
          <li>
            <button
              type="button"
              className="selectable"
              aria-current={chosen === selectedContext ? 'true' : undefined}
              onClick={() => go({ view: 'timeline', space: selectedContext })}
            >
              <span className="ellipsis">This context</span>
              <span className="muted ellipsis">as a timeline</span>
            </button>
          </li>
        )}
      </ul>
    </nav>
  );
}
