import { ArrowLeft, CopyPlus, Pencil, RotateCcw, Trash2 } from 'lucide-react';
import type { Card, CardVersion } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Answer, Button, Code, Facts, Fold, FoldedText, IconButton, Id, LinkButton, Markdown, say, textOfContent } from '../../parts';
import { go, useNavigation, useProjectQuery } from '../../state';
import { cardState, familyOfCard } from './cards';
import { copyCardForm, editCardForm, open, removeCard, restoreCard } from './forms';

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
