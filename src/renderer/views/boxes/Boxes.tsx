import { ArrowLeft, Boxes as BoxesIcon, CopyPlus, FilePlus, Lock, PackagePlus, Pencil, Plus, RotateCcw, Trash2 } from 'lucide-react';
import { useEffect, useState } from 'react';
import type { BoxRow, Card, CardVersion, ContextId } from '../../../core/contract/index.js';
import { api } from '../../client';
import {
  Answer,
  attempt,
  Button,
  Code,
  DamagedMark,
  Empty,
  Facts,
  Fold,
  FoldedText,
  IconButton,
  Id,
  LinkButton,
  Markdown,
  MenuButton,
  type MenuEntry,
  SearchField,
  Switch,
  say,
  textOfContent,
  When,
} from '../../parts';
import { go, reloadAndOpen, useNavigation, useProject, useProjectQuery } from '../../state';
import { BoxPane } from './BoxPane';
import { CardList } from './CardList';
import { cardState, familyOfCard } from './cards';
import { copyCardForm, editCardForm, newBoxForm, newCardForm, open, removeCard, restoreCard } from './forms';
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

const readCard = async (cardId: string) => {
  const [card, history, boxes] = await Promise.all([api.card.get({ cardId }), api.card.history({ cardId }), api.card.boxes({ cardId })]);
  return { card, history, boxes };
};

/** A card: content, facts, the boxes that contain it, and its earlier versions. */
export function CardPane({ project, cardId }: { project: string; cardId: string }) {
  const query = useProjectQuery(`${project} ${cardId}`, `${project} ${cardId}`, () => readCard(cardId));
  return (
    <Answer query={query} what="Cannot load this card" loading="Loading the card" stillWorks="Other cards still work." lines={12}>
      {({ card, history, boxes }) => <CardPage card={card} history={history} boxes={boxes} />}
    </Answer>
  );
}

function CardPage({ card, history, boxes }: { card: Card; history: readonly CardVersion[]; boxes: readonly string[] }) {
  return (
    <article className={`whole stack kind-${familyOfCard(card)}`} aria-label="Card">
      <CardHead card={card} />
      <div className="card-body gap-12 overflows stack">
        <section aria-label="Content" className="card-said">
          {card.content.kind === 'text' ? (
            <Fold text={card.content.text}>{(shown) => <Markdown text={shown} />}</Fold>
          ) : (
            <Fold text={pretty(card.content)}>{(shown) => <Code text={shown} language="json" />}</Fold>
          )}
        </section>
        <Facts
          rows={{
            Role: card.metadata.role,
            Author: card.authorId,
            Created: say.instant(card.createdAt),
            Repaired: card.repairedAt && say.instant(card.repairedAt),
            Deleted: card.deletedAt && `${say.instant(card.deletedAt)} (no model receives it)`,
            [card.expired ? 'Expired' : 'Expires']: card.expiresAt && say.instant(card.expiresAt),
            'Tool call': card.toolCallId !== undefined && <span className="mono">{card.toolCallId}</span>,
            'From entry': card.entryKey !== undefined && <span className="mono">{card.entryKey}</span>,
          }}
        />
        <h3>In {say.plural(boxes.length, 'box', 'boxes')}</h3>
        <ul>
          {boxes.map((boxId) => (
            <li key={boxId}>
              <LinkButton className="mono" label={boxId} onClick={() => go({ box: boxId, card: undefined })} />
            </li>
          ))}
        </ul>
        <h3>Audit trail</h3>
        <AuditTrail history={history} />
        <details>
          <summary>JSON</summary>
          <Code text={pretty(card)} language="json" />
        </details>
      </div>
    </article>
  );
}

function CardHead({ card }: { card: Card }) {
  const box = useNavigation(({ route }) => route.box);
  const state = cardState(card);
  return (
    <header className="thing-head bar wrap">
      {box && <IconButton small icon={ArrowLeft} label="Back to the box" onClick={() => go({ card: undefined })} />}
      <h2 className="card-type">{card.type}</h2>
      <Id id={card.cardId} what="card id" />
      {state && <span className="badge">{state}</span>}
      {card.repairedAt && <span className="badge warn">repaired</span>}
      <span className="grow" />
      <IconButton icon={CopyPlus} label="Copy card" onClick={open(copyCardForm(card))} />
      {card.deletedAt === undefined && <IconButton icon={Pencil} label="Edit card" onClick={open(editCardForm(card))} />}
      {card.deletedAt === undefined ? (
        <IconButton icon={Trash2} label="Delete card" onClick={removeCard(card)} />
      ) : (
        <Button small icon={RotateCcw} label="Restore" onClick={restoreCard(card)} />
      )}
    </header>
  );
}

function AuditTrail({ history }: { history: readonly CardVersion[] }) {
  if (history.length === 0) return <p className="muted">No changes since the card was created.</p>;
  return (
    <ol className="card-history">
      {history.map((version, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: versions are only added at the end
        <li key={place}>
          <p>
            <b>{changeNames[version.what]}</b> {say.instant(version.at)}
            {version.by !== undefined && ` by ${version.by}`}
          </p>
          {version.what === 'repaired' && (
            <>
              <p className="muted">Content before the repair:</p>
              <FoldedText text={textOfContent(version.before.content)} lines={6} />
            </>
          )}
        </li>
      ))}
    </ol>
  );
}

const changeNames = { repaired: 'Repaired', deleted: 'Deleted', restored: 'Restored' } as const;
const pretty = (value: unknown): string => JSON.stringify(value, null, 2);
