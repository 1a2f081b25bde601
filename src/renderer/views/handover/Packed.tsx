import type { PlannedCard } from '../../../core/contract/index.js';
import { FoldedText, type KindFamily, LinkButton, say, textOfContent } from '../../parts';
import { go, openBox } from '../../state';

export type PackedRow = Omit<PlannedCard, 'authorId'>;

const cardFamily = ({ type, role }: PackedRow): KindFamily =>
  type.startsWith('tool.') ? 'tool' : type.startsWith('sys.') || type.startsWith('meta.') ? 'system' : role;

const shown = 400;

/** The cards of a packed box in order, each with its reason, and the dropped duplicates. */
export function Packed({ rows, dropped }: { rows: readonly PackedRow[]; dropped: readonly { cardId: string; argument: string; boxId: string }[] }) {
  return (
    <>
      <ol className="packed" aria-label="Cards of the box">
        {rows.slice(0, shown).map((row, place) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a box may contain a card twice
          <li key={place} className={`kind-${cardFamily(row)}`} data-state={row.state}>
            <p className="row gap-6 small muted">
              <Reason row={row} />
              {row.state && <span className="badge">{row.state}</span>}
              <span className="grow" />
              {row.cardId && <LinkButton label="Card" onClick={() => go({ view: 'boxes', card: row.cardId })} />}
            </p>
            <p className="packed-type">
              {row.type} <span className="muted">{row.role}</span>
            </p>
            <FoldedText text={row.content ? textOfContent(row.content) : ''} lines={4} />
          </li>
        ))}
      </ol>
      {rows.length > shown && <p className="muted">And {say.plural(rows.length - shown, 'more card')}.</p>}
      {rows.length === 0 && <p className="muted">The box is empty.</p>}
      {dropped.length > 0 && (
        <details>
          <summary>{say.plural(dropped.length, 'duplicate')} dropped</summary>
          <ul>
            {dropped.slice(0, shown).map((one, place) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a card may be dropped twice
              <li key={place} className="mono">
                {say.shortId(one.cardId)} of box {say.shortId(one.boxId)}
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  );
}

function Reason({ row }: { row: PackedRow }) {
  switch (row.reason) {
    case 'argument':
      return <span>From argument “{row.argument}”</span>;
    case 'inherited':
      return (
        <span>
          Inherited{' '}
          {row.boxId && (
            <>
              from box <LinkButton className="mono" label={say.shortId(row.boxId)} onClick={() => openBox(row.boxId)} />
            </>
          )}
        </span>
      );
    case 'parent':
      return <span>Pointer to the parent</span>;
  }
}
