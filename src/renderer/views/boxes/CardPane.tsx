import { ArrowLeft, RotateCcw, Trash2 } from 'lucide-react';
import type { Card, CardVersion } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Answer, Button, Code, Facts, Fold, IconButton, Id, Markdown, notifyProblem, say, textOfContent } from '../../parts';
import { go, notify, refreshProject, useKept, useNavigation, useProject, useQuery } from '../../state';
import { familyOfCard, fateOf } from './cards';

const readCard = async (cardId: string) => {
  const [card, history, boxes] = await Promise.all([api.card.get({ cardId }), api.card.history({ cardId }), api.card.boxes({ cardId })]);
  return { card, history, boxes };
};

/** A card: what it says, what it is, where it is, and what it was. */
export function CardPane({ project, cardId }: { project: string; cardId: string }) {
  const revision = useProject((state) => state.revision);
  const query = useKept(
    useQuery(`${project} ${cardId} ${revision}`, () => readCard(cardId)),
    `${project} ${cardId}`,
  );
  return (
    <Answer query={query} what="The card cannot be shown" loading="Reading the card" stillWorks="Other cards can be read." lines={12}>
      {({ card, history, boxes }) => <CardThing card={card} history={history} boxes={boxes} />}
    </Answer>
  );
}

function CardThing({ card, history, boxes }: { card: Card; history: readonly CardVersion[]; boxes: readonly string[] }) {
  const from = useNavigation(({ route }) => route.box);
  const fate = fateOf(card);
  return (
    <article className={`card-pane kind-${familyOfCard(card)}`} aria-label="Card">
      <header className="thing-head">
        {from && <IconButton small icon={ArrowLeft} label="Back to the box" onClick={() => go({ card: undefined })} />}
        <h2 className="card-type">{card.type}</h2>
        <Id id={card.cardId} what="card id" />
        {fate && <span className="badge">{fate}</span>}
        {card.repairedAt && <span className="badge warn">repaired</span>}
        <span className="grow" />
        {card.deletedAt === undefined ? (
          <IconButton icon={Trash2} label="Delete the card" onClick={() => void removeCard(card)} />
        ) : (
          <Button small icon={RotateCcw} onClick={() => void restoreCard(card)}>
            Restore
          </Button>
        )}
      </header>
      <div className="card-body">
        <section aria-label="Content" className="card-said">
          {card.content.kind === 'text' ? (
            <Fold text={card.content.text}>{(shown) => <Markdown text={shown} />}</Fold>
          ) : (
            <Fold text={pretty(card.content)}>{(shown) => <Code text={shown} language="json" />}</Fold>
          )}
        </section>
        <Facts
          rows={[
            ['Role', card.metadata.role],
            ['Author', `${card.authorId} (for audit; the role counts)`],
            ['Created', say.instant(card.createdAt)],
            card.repairedAt !== undefined && ['Repaired', say.instant(card.repairedAt)],
            card.deletedAt !== undefined && ['Deleted', `${say.instant(card.deletedAt)}: readable here, seen by no model`],
            card.expiresAt !== undefined && [card.expired ? 'Expired' : 'Expires', say.instant(card.expiresAt)],
            card.toolCallId !== undefined && [
              'Tool call',
              <span key="call" className="mono">
                {card.toolCallId}
              </span>,
            ],
            card.entryKey !== undefined && [
              'Made from entry',
              <span key="entry" className="mono">
                {card.entryKey}
              </span>,
            ],
          ]}
        />
        <h3>In {say.plural(boxes.length, 'box', 'boxes')}</h3>
        <ul className="card-boxes">
          {boxes.map((boxId) => (
            <li key={boxId}>
              <button type="button" className="link-button mono" onClick={() => go({ box: boxId, card: undefined })}>
                {boxId}
              </button>
            </li>
          ))}
        </ul>
        <h3>Audit trail</h3>
        {history.length === 0 ? (
          <p className="muted">Never changed since it was written.</p>
        ) : (
          <ol className="card-history">
            {history.map((version, place) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a trail only grows
              <li key={place}>
                <p>
                  <b>{changeNames[version.what]}</b> {say.instant(version.at)}
                  {version.by !== undefined && ` by ${version.by}`}
                </p>
                {version.what === 'repaired' && (
                  <>
                    <p className="muted">It said before:</p>
                    <Fold text={textOfContent(version.before.content)} lines={6}>
                      {(shown) => <pre className="verbatim">{shown}</pre>}
                    </Fold>
                  </>
                )}
              </li>
            ))}
          </ol>
        )}
        <details>
          <summary>JSON</summary>
          <Code text={pretty(card)} language="json" />
        </details>
      </div>
    </article>
  );
}

const changeNames = { repaired: 'Repaired', deleted: 'Deleted', restored: 'Restored' } as const;
const pretty = (value: unknown): string => JSON.stringify(value, null, 2);

async function removeCard(card: Card): Promise<void> {
  try {
    await api.card.delete({ cardId: card.cardId });
    await refreshProject();
    notify('Deleted: it can still be read and restored, and no model sees it.');
  } catch (error) {
    notifyProblem(error);
  }
}

/** Adding a deleted card again brings it back. */
async function restoreCard(card: Card): Promise<void> {
  try {
    const { deletedAt: _, ...again } = card;
    await api.card.add({ card: again });
    await refreshProject();
  } catch (error) {
    notifyProblem(error);
  }
}
