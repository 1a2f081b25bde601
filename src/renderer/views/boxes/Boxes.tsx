import { Boxes as BoxesIcon, FilePlus, Lock, PackagePlus, Plus } from 'lucide-react';
import { useEffect, useState } from 'react';
import type { BoxRow, ContextId } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Answer, attempt, Button, DamagedMark, Empty, MenuButton, type MenuEntry, SearchField, Switch, say, When } from '../../parts';
import { go, reloadAndOpen, useNavigation, useProject, useProjectQuery } from '../../state';
import { BoxPane } from './BoxPane';
import { CardList } from './CardList';
import { CardPane } from './CardPane';
import { newBoxForm, newCardForm, open } from './forms';
import { Rows } from './Rows';

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

const shownBoxes = 1_000;
const useNames = { context: 'context of', output: 'output of', profile: 'profile' } as const;

/** The boxes of the project, most recently changed first, with a filter. `onFirst` receives the first, shown while none is selected. */
export function BoxList(props: { project: string; chosen: string | undefined; onFirst: (boxId: string | undefined) => void }) {
  const { project, chosen, onFirst } = props;
  const [filter, setFilter] = useState('');
  const query = useProjectQuery(project, project, () => api.box.list({ limit: shownBoxes }));
  const first = query.data?.boxes[0]?.boxId;
  useEffect(() => onFirst(first), [first, onFirst]);
  const needle = filter.trim().toLowerCase();
  const matches = (row: BoxRow) =>
    `${row.boxId}\n${row.head ?? ''}\n${row.uses.map((use) => `${useNames[use.as]} ${use.of}`).join('\n')}`.toLowerCase().includes(needle);
  return (
    <>
      <div className="boxes-filter bar wrap gap-6">
        <SearchField className="grow" label="Filter boxes" data-filter value={filter} onChange={setFilter} />
      </div>
      <Answer query={query} what="Cannot list the boxes" loading="Loading the boxes">
        {({ boxes, total }) => (
          <>
            {total === 0 && <p className="boxes-more muted">No boxes yet. “New” builds one from cards.</p>}
            <Rows
              label="Boxes"
              rows={needle ? boxes.filter(matches) : boxes}
              height={46}
              idOf={(row) => row.boxId}
              chosen={chosen}
              onChoose={(row) => go({ box: row.boxId, card: undefined })}
            >
              {(row) => <BoxLine row={row} />}
            </Rows>
            {total > boxes.length && (
              <p className="boxes-more muted">
                Showing the latest {say.exact(boxes.length)} of {say.exact(total)} boxes.
              </p>
            )}
          </>
        )}
      </Answer>
    </>
  );
}

function BoxLine({ row }: { row: BoxRow }) {
  const [use] = row.uses;
  return (
    <>
      <span className="boxes-row-top row gap-6">
        <span className="ellipsis grow">{row.head || <span className="muted">{row.cards === 0 ? 'Empty' : 'No content for a model'}</span>}</span>
        {row.damaged && <DamagedMark />}
        {row.held && <Lock size={12} aria-label="Locked by an open turn" />}
        <When at={row.updatedAt} className="muted small" />
      </span>
      <span className="boxes-row-bottom row gap-6 small muted">
        <span>{say.plural(row.cards, 'card')}</span>
        {use && (
          <span className="ellipsis">
            · {useNames[use.as]} {use.of}
            {row.uses.length > 1 && ` and ${row.uses.length - 1} more`}
          </span>
        )}
        <span className="grow" />
        <span className="mono">{say.shortId(row.boxId)}</span>
      </span>
    </>
  );
}
