import { Boxes as BoxesIcon, FilePlus, PackagePlus, Plus } from 'lucide-react';
import { useState } from 'react';
import type { ContextId } from '../../../core/contract/index.js';
import { api } from '../../client';
import { attempt, Button, Empty, MenuButton, type MenuEntry, Switch, say } from '../../parts';
import { reloadAndOpen, useNavigation, useProject } from '../../state';
import { BoxList } from './BoxList';
import { BoxPane } from './BoxPane';
import { CardList } from './CardList';
import { CardPane } from './CardPane';
import { newBoxForm, newCardForm, open } from './forms';

/** The boxes and cards of the project: a list, and the selected box or card. */
export function BoxesView({ project }: { project: string }) {
  const { box, card, commit } = useNavigation(({ route }) => route);
  const counts = useProject(({ state }) => (state.phase === 'open' ? state.info.counts : undefined));
  const [shown, setShown] = useState<'boxes' | 'cards'>(card && !box ? 'cards' : 'boxes');
  // Not in the address, because nobody selected it: a handover must not start with it.
  const [first, setFirst] = useState<string>();
  const shownBox = box ?? (card || shown === 'cards' ? undefined : first);
  if (counts && counts.cards === 0 && counts.boxes === 0) return <NothingYet />;
  return (
    <section className="boxes whole" aria-label="Boxes">
      <div className="boxes-side stack">
        <div className="bar wrap gap-6">
          <Switch
            label="List"
            value={shown}
            onChange={setShown}
            options={{ boxes: `Boxes${counts ? ` ${say.exact(counts.boxes)}` : ''}`, cards: `Cards${counts ? ` ${say.exact(counts.cards)}` : ''}` }}
          />
          <span className="grow" />
          <NewMenu commit={commit} />
        </div>
        {shown === 'boxes' ? <BoxList project={project} chosen={shownBox} onFirst={setFirst} /> : <CardList project={project} />}
      </div>
      <div className="shrinks">
        {card ? (
          <CardPane key={`${project} ${card}`} project={project} cardId={card} />
        ) : shownBox ? (
          <BoxPane key={`${project} ${shownBox}`} project={project} boxId={shownBox} />
        ) : (
          <Empty title={shown === 'boxes' ? 'No box selected' : 'No card selected'} picture={BoxesIcon}>
            {shown === 'boxes'
              ? 'The conversation of a box appears here. Select a box in the list.'
              : 'The content, boxes and history of a card appear here. Select a card in the list.'}
          </Empty>
        )}
      </div>
    </section>
  );
}

function NewMenu({ commit }: { commit: ContextId | undefined }) {
  const items: readonly MenuEntry[] = [
    { name: 'Card…', icon: FilePlus, act: open(newCardForm()) },
    { name: 'Box…', icon: PackagePlus, act: open(newBoxForm()) },
    ...(commit ? [{ name: 'Box from the selected commit', icon: PackagePlus, act: attempt(() => createBox(commit)) }] : []),
  ];
  return <MenuButton label="New" button={<Button small icon={Plus} label="New" opensMenu />} items={items} />;
}

function NothingYet() {
  const commit = useNavigation(({ route }) => route.commit);
  return (
    <Empty
      title="No cards yet"
      picture={BoxesIcon}
      acts={[
        { name: 'Write a card', icon: FilePlus, look: 'primary', act: open(newCardForm()) },
        commit && { name: 'Create box from commit', icon: PackagePlus, act: attempt(() => createBox(commit)) },
      ]}
    >
      Cards and boxes appear here. A card is one piece of content; a box is an ordered list of cards that one agent hands to another.
    </Empty>
  );
}

async function createBox(id: ContextId): Promise<void> {
  const box = await api.box.fromContext({ id });
  await reloadAndOpen({ view: 'boxes', box: box.boxId, card: undefined }, `Created a box with ${say.plural(box.cardIds.length, 'card')}`);
}
