import { Boxes as BoxesIcon, PackagePlus } from 'lucide-react';
import { useState } from 'react';
import { api } from '../../client';
import { Button, Empty, notifyProblem, Switch, say } from '../../parts';
import { go, notify, refreshProject, useNavigation, useProject } from '../../state';
import { ToCommit } from '../NoCommit';
import { BoxList } from './BoxList';
import { BoxPane } from './BoxPane';
import { CardList } from './CardList';
import { CardPane } from './CardPane';

/** Boxes and cards of a project: a list, and the one that is chosen. */
export function BoxesView({ project }: { project: string }) {
  const { box, card, commit } = useNavigation(({ route }) => route);
  const counts = useProject(({ state }) => (state.phase === 'open' ? state.info.counts : undefined));
  const [shown, setShown] = useState<'boxes' | 'cards'>(card && !box ? 'cards' : 'boxes');
  if (counts && counts.cards === 0 && counts.boxes === 0) return <NothingYet />;
  return (
    <section className="boxes" aria-label="Boxes">
      <div className="boxes-side">
        <div className="boxes-tools">
          <Switch
            label="What to list"
            value={shown}
            onChange={setShown}
            options={[
              { value: 'boxes', name: `Boxes${counts ? ` ${say.exact(counts.boxes)}` : ''}` },
              { value: 'cards', name: `Cards${counts ? ` ${say.exact(counts.cards)}` : ''}` },
            ]}
          />
          <span className="grow" />
          {commit && (
            <Button small icon={PackagePlus} title={`A box of the context at ${commit}`} onClick={() => void boxOf(commit)}>
              Box of commit
            </Button>
          )}
        </div>
        {shown === 'boxes' ? <BoxList project={project} /> : <CardList project={project} />}
      </div>
      <div className="boxes-thing">
        {card ? (
          <CardPane key={`${project} ${card}`} project={project} cardId={card} />
        ) : box ? (
          <BoxPane key={`${project} ${box}`} project={project} boxId={box} />
        ) : (
          <Empty title={shown === 'boxes' ? 'Choose a box' : 'Choose a card'} picture={<BoxesIcon size={48} strokeWidth={1} />}>
            {shown === 'boxes' ? 'It is shown as the conversation that it is.' : 'Its content, the boxes that hold it, and what it was before.'}
          </Empty>
        )}
      </div>
    </section>
  );
}

function NothingYet() {
  const commit = useNavigation(({ route }) => route.commit);
  return (
    <Empty
      title="No cards yet"
      picture={<BoxesIcon size={48} strokeWidth={1} />}
      actions={
        commit ? (
          <Button look="primary" icon={PackagePlus} onClick={() => void boxOf(commit)}>
            Make a box of the chosen commit
          </Button>
        ) : (
          <ToCommit>Choose a commit to make a box of</ToCommit>
        )
      }
    >
      A card is one fact, a box an ordered list of them: what one agent hands to another.
    </Empty>
  );
}

async function boxOf(id: NonNullable<ReturnType<typeof useNavigation.getState>['route']['commit']>): Promise<void> {
  try {
    const box = await api.box.fromContext({ id });
    await refreshProject();
    go({ view: 'boxes', box: box.boxId, card: undefined });
    notify(`Made a box of ${say.plural(box.cardIds.length, 'card')}.`);
  } catch (error) {
    notifyProblem(error);
  }
}
