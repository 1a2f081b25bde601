import { MessageSquare, Plus } from 'lucide-react';
import { useState } from 'react';
import { Answer, Button, Empty } from '../../parts';
import { move, useNavigation } from '../../state';
import { ToCommit } from '../NoCommit';
import { ContextTimeline } from './ContextTimeline';
import { SpacePage } from './SpacePage';
import { NewSpace, useSpaces } from './Spaces';

/** The spaces of the project, and the selected space or context as chat and timeline. Without a choice, the first space is shown. */
export function TimelineView({ project }: { project: string }) {
  const { commit, space: spaceInAddress } = useNavigation(({ route }) => route);
  const [isCreating, setIsCreating] = useState(false);
  const { query, reload, round } = useSpaces(project);
  return (
    <Answer query={query} what="Cannot load the spaces of this project" loading="Loading the spaces">
      {({ spaces, entities }) => {
        const chosen = spaceInAddress === undefined ? spaces[0] : spaces.find(({ spaceId }) => spaceId === spaceInAddress);
        return (
          <section className="timeline whole" aria-label="Timeline">
            {chosen ? (
              <SpacePage key={chosen.spaceId} project={project} space={chosen} round={round} onChange={reload} known={entities} />
            ) : commit ? (
              <ContextTimeline key={commit} project={project} commit={commit} />
            ) : (
              <Empty
                title="No space or commit selected"
                picture={MessageSquare}
                actions={
                  <>
                    <ToCommit />
                    <Button icon={Plus} label="Create a space" onClick={() => setIsCreating(true)} />
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
