import { ArrowDownUp, FilePlus, GitCommitHorizontal, ListPlus, Lock, Split } from 'lucide-react';
import { useMemo, useState } from 'react';
import type { Box, Card } from '../../../core/contract/index.js';
import { api } from '../../client';
import {
  Answer,
  attempt,
  Button,
  Empty,
  EntryView,
  Estimate,
  Id,
  LinkButton,
  MeasuredRows,
  MenuButton,
  type MenuEntry,
  Switch,
  say,
  ToolView,
  useVirtualRows,
} from '../../parts';
import { go, reloadAndOpen, useProjectQuery } from '../../state';
import { CardLine } from './CardList';
import { type CardBlock, joinCards } from './cards';
import { appendForm, branchForm, newCardForm, open, replaceForm } from './forms';
import { Rows } from './Rows';

const readBox = async (boxId: string) => {
  const [box, cards, conversation] = await Promise.all([api.box.get({ boxId }), api.box.cards({ boxId }), api.box.entries({ boxId })]);
  return { box, cards, conversation };
};

/** A box as conversation or as cards. */
export function BoxPane({ project, boxId }: { project: string; boxId: string }) {
  const query = useProjectQuery(`${project} ${boxId}`, `${project} ${boxId}`, () => readBox(boxId));
  const [as, setAs] = useState<'conversation' | 'cards'>('conversation');
  return (
    <Answer query={query} what="Cannot load this box" loading="Loading the box" stillWorks="Other boxes still work." lines={12}>
      {({ box, cards, conversation }) => (
        <article className="whole stack" aria-label="Box">
          <header className="thing-head bar wrap">
            <h2 className="unseen">Box</h2>
            <Id id={boxId} what="box id" />
            <span className="muted">
              {say.plural(box.cardIds.length, 'card')} · <Estimate of={conversation.tokens} />
            </span>
            <span className="grow" />
            <Switch
              label="Show the box as"
              value={as}
              onChange={setAs}
              options={{
                conversation: ['Conversation', 'As a model receives it'],
                cards: ['Cards', 'All cards, including deleted and expired ones'],
              }}
            />
            <MenuButton label="Change this box" button={<Button small label="Change" opensMenu />} items={changesOf(box)} />
            <Button
              small
              icon={GitCommitHorizontal}
              label="Commit"
              title="Create a commit from the conversation of this box"
              onClick={attempt(() => commitBox(box))}
            />
          </header>
          <BoxNotes box={box} cards={cards} />
          {as === 'cards' ? <CardsOfBox box={box} cards={cards.cards} /> : <Conversation blocks={conversation.entries} />}
        </article>
      )}
    </Answer>
  );
}

/** The actions on the cards of a box. While an open turn holds the box, appending is not possible. */
const changesOf = (box: Box): readonly MenuEntry[] => [
  { name: 'Write a card into it…', icon: FilePlus, disabled: box.held === true, act: open(newCardForm(box)) },
  { name: 'Append cards…', icon: ListPlus, disabled: box.held === true, act: open(appendForm(box)) },
  { name: 'Reorder or replace…', icon: ArrowDownUp, act: open(replaceForm(box)) },
  { name: 'Branch…', icon: Split, act: open(branchForm(box)) },
];

function BoxNotes({ box, cards }: { box: Box; cards: Awaited<ReturnType<typeof api.box.cards>> }) {
  const { missingCardIds, deletedCardIds, expiredCardIds } = cards;
  const omitted = [
    missingCardIds.length > 0 && `${say.plural(missingCardIds.length, 'card')} missing`,
    deletedCardIds.length > 0 && `${deletedCardIds.length} deleted`,
    expiredCardIds.length > 0 && `${expiredCardIds.length} expired`,
  ].filter(Boolean);
  const link = (boxId: string) => <LinkButton className="mono" label={say.shortId(boxId)} onClick={() => go({ box: boxId, card: undefined })} />;
  return (
    <>
      {box.held && (
        <p className="thing-note gap-6 line-below row muted small">
          <Lock size={13} aria-hidden /> An open turn reads this box. You can append cards after the turn ends.
        </p>
      )}
      {box.replaces && <p className="thing-note gap-6 line-below row muted small">This box replaces box {link(box.replaces)}.</p>}
      {box.replacedBy && <p className="thing-note gap-6 line-below row muted small">This box was replaced by box {link(box.replacedBy)}.</p>}
      {omitted.length > 0 && <p className="thing-note gap-6 line-below row muted small">A model does not receive all cards: {omitted.join(', ')}.</p>}
    </>
  );
}

function Conversation({ blocks: entries }: { blocks: Parameters<typeof joinCards>[0] }) {
  const blocks = useMemo(() => joinCards(entries), [entries]);
  const { scroller, virtual } = useVirtualRows(blocks.length, 90, { overscan: 6 });
  if (blocks.length === 0)
    return <Empty title="No conversation">The cards of this box that a model receives appear here. Append a card with a text to fill it.</Empty>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling list must be reachable by keyboard
    <section ref={scroller} className="overflows" aria-label="Conversation" tabIndex={0}>
      <MeasuredRows virtual={virtual} as="ol">
        {({ index }) => <BlockView block={blocks[index] as CardBlock} />}
      </MeasuredRows>
    </section>
  );
}

function BlockView({ block: { entry, cardId, result } }: { block: CardBlock }) {
  const actions = <LinkButton label="Card" onClick={() => go({ card: cardId })} />;
  return result === undefined ? <EntryView entry={entry} actions={actions} /> : <ToolView call={entry} result={result} actions={actions} />;
}

const reasonNames = { argument: 'packed from', inherited: 'from box', parent: 'parent pointer' } as const;

/** All cards in the order of the box. If a handover packed the box, each card shows its reason. */
function CardsOfBox({ box, cards }: { box: Box; cards: readonly Card[] }) {
  const rows = useMemo(() => {
    const known = new Map(cards.map((card) => [card.cardId, card]));
    const reasons = (box.packed?.runs ?? []).flatMap((run) => Array.from({ length: run.cards }, () => run));
    return box.cardIds.map((cardId, place) => ({ place, cardId, card: known.get(cardId), reason: reasons[place] }));
  }, [box, cards]);
  return (
    <>
      <Rows
        label="Cards of the box"
        rows={rows}
        height={box.packed ? 64 : 46}
        idOf={(row) => String(row.place)}
        chosen={undefined}
        onChoose={(row) => row.card && go({ card: row.cardId })}
      >
        {(row) => (
          <>
            {row.card ? <CardLine card={row.card} /> : <span className="muted">Card {row.cardId} is missing from this project.</span>}
            {row.reason && (
              <span className="boxes-row-bottom row gap-6 small muted">
                {reasonNames[row.reason.reason]}
                {row.reason.reason === 'argument' && ` argument “${row.reason.argument}”`}
                {row.reason.boxId && ` ${say.shortId(row.reason.boxId)}`}
              </span>
            )}
          </>
        )}
      </Rows>
      {box.packed && box.packed.dropped.length > 0 && (
        <p className="boxes-more muted">{say.plural(box.packed.dropped.length, 'duplicate')} dropped when the box was packed.</p>
      )}
    </>
  );
}

async function commitBox(box: Box): Promise<void> {
  const commit = await api.box.commit({ boxId: box.boxId, parent: null });
  await reloadAndOpen({ view: 'context', commit: commit.id, entry: undefined }, 'Created the first commit of a new chain');
}
