import { MessageSquare, Plus } from 'lucide-react';
import { useCallback, useState } from 'react';
import { api } from '../../client';
import { Answer, Button, Empty } from '../../parts';
import { Memory, move, useKept, useNavigation, useQuery } from '../../state';
import { ToCommit } from '../NoCommit';
import { ContextTimeline } from './ContextTimeline';
import { NewSpace } from './NewSpace';
import { SpaceList } from './SpaceList';
import { SpacePage } from './SpacePage';

type Listed = Pick<Parameters<typeof SpaceList>[0], 'spaces'> & { readonly entities: Parameters<typeof NewSpace>[0]['known'] };

const spaceLists = new Memory<Listed>(2, 'never');

/** The spaces of the project, and the selected space or context as chat and timeline. Without a choice, the first space is shown. */
export function TimelineView({ project }: { project: string }) {
  const { commit, space: spaceInAddress } = useNavigation(({ route }) => route);
  const [round, setRound] = useState(0);
  const [isCreating, setIsCreating] = useState(false);
  const reload = useCallback(() => setRound((n) => n + 1), []);
  // The open space stays open while the list reloads.
  const loaded = useQuery(
    `${project} spaces ${round}`,
    async () => {
      const [spaces, entities] = await Promise.all([api.space.list({}), api.space.entities({})]);
      const me = entities.find((entity) => entity.type === 'human');
      const mine = me ? await api.space.list({ entityId: me.entityId }) : [];
      const unread = new Map(mine.map((one) => [one.spaceId, one.unread]));
      return { spaces: spaces.map((one) => ({ ...one, unread: unread.get(one.spaceId) ?? 0 })), entities };
    },
    spaceLists,
  );
  const query = useKept(loaded, project);
  return (
    <Answer query={query} what="Cannot load the spaces of this project" loading="Loading the spaces">
      {({ spaces, entities }) => {
        const chosen = spaceInAddress === undefined ? spaces[0] : spaces.find(({ spaceId }) => spaceId === spaceInAddress);
        return (
          <section className="timeline whole" aria-label="Timeline">
            <SpaceList spaces={spaces} chosen={chosen} hasContext={commit !== undefined} onNew={() => setIsCreating(true)} />
            {chosen ? (
              <SpacePage key={chosen.spaceId} project={project} space={chosen} round={round} onChange={reload} known={entities} />
            ) : commit ? (
              <ContextTimeline key={commit} project={project} commit={commit} />
            ) : (
              <Empty
                title="No space or commit selected"
                picture={<MessageSquare size={48} strokeWidth={1} />}
                actions={
                  <>
                    <ToCommit />
                    <Button icon={Plus} onClick={() => setIsCreating(true)}>
                      Create a space
                    </Button>
                  </>
                }
              >
                The messages of a space appear here as chat and as the timeline that an agent reads. A selected context appears in the same form.
              </Empty>
            )}
            {isCreating && (
              <NewSpace
                known={entities}
                onClose={() => setIsCreating(false)}
                onCreated={(space) => {
                  setIsCreating(false);
                  reload();
                  move({ space: space.spaceId });
                }}
              />
            )}
          </section>
        );
      }}
    </Answer>
  );
}
