import { useState } from 'react';
import type { Card, Role } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Answer, DamagedMark, Input, SearchField, Select, say, textOfContent, When } from '../../parts';
import { go, useNavigation, useProjectQuery } from '../../state';
import { cardState, familyOfCard } from './cards';
import { Rows } from './Rows';

const shownCards = 1_000;

const noFilter = { type: '', role: '', authorId: '', from: '', to: '', text: '' };
type Filter = Readonly<typeof noFilter>;

/** The first or the last instant of a day in local time. */
const instantOfDay = (day: string, end: boolean): string | undefined => {
  const date = new Date(`${day}T${end ? '23:59:59.999' : '00:00:00.000'}`);
  return day && !Number.isNaN(date.getTime()) ? date.toISOString() : undefined;
};

const listCards = ({ type, role, authorId, from, to, text }: Filter) =>
  api.card.list({
    type: type || undefined,
    role: (role || undefined) as Role | undefined,
    authorId: authorId || undefined,
    from: instantOfDay(from, false),
    to: instantOfDay(to, true),
    text: text.trim() || undefined,
    limit: shownCards,
  });

/** The cards of the project, newest first, with filters. */
export function CardList({ project }: { project: string }) {
  const chosen = useNavigation(({ route }) => route.card);
  const [filter, setFilter] = useState(noFilter);
  const facets = useProjectQuery(project, project, () => api.card.facets({}));
  const query = useProjectQuery(`${project} ${JSON.stringify(filter)}`, `${project} ${JSON.stringify(filter)}`, () => listCards(filter));
  const set = (change: Partial<Filter>) => setFilter({ ...filter, ...change });
  const known = facets.data ?? { types: [], roles: [], authors: [] };
  return (
    <>
      <div className="boxes-filter bar wrap gap-6">
        <SearchField className="grow" label="Search cards" data-filter value={filter.text} onChange={(text) => set({ text })} />
        <Choice label="Type" value={filter.type} options={known.types} onChange={(type) => set({ type })} />
        <Choice label="Role" value={filter.role} options={known.roles} onChange={(role) => set({ role })} />
        <Choice label="Author" value={filter.authorId} options={known.authors} onChange={(authorId) => set({ authorId })} />
        <Input type="date" label="From" title="From" value={filter.from} onChange={(text) => set({ from: text })} />
        <Input type="date" label="To" title="To" value={filter.to} onChange={(text) => set({ to: text })} />
      </div>
      <Answer query={query} what="Cannot list the cards" loading="Loading the cards">
        {({ cards, total }) =>
          total === 0 ? (
            <p className="boxes-more muted">No matching cards.</p>
          ) : (
            <>
              <Rows label="Cards" rows={cards} height={46} idOf={(row) => row.cardId} chosen={chosen} onChoose={(row) => go({ card: row.cardId })}>
                {(card) => <CardLine card={card} />}
              </Rows>
              {total > cards.length && (
                <p className="boxes-more muted">
                  Showing the newest {say.exact(cards.length)} of {say.exact(total)} cards. Use the filters to find others.
                </p>
              )}
            </>
          )
        }
      </Answer>
    </>
  );
}

interface ChoiceProps {
  readonly label: string;
  readonly value: string;
  readonly options: readonly { readonly name: string; readonly count: number }[];
  readonly onChange: (value: string) => void;
}

function Choice({ label, value, options, onChange }: ChoiceProps) {
  return (
    <Select
      label={label}
      value={value}
      onChange={onChange}
      options={[['', `${label}: any`], ...options.map(({ name, count }) => [name, `${name} (${say.exact(count)})`] as const)]}
    />
  );
}

/** A card as a row: type, state, time and first line. */
export function CardLine({ card }: { card: Card }) {
  const state = cardState(card);
  return (
    <span className={`card-line kind-${familyOfCard(card)}`} data-fate={state}>
      <span className="boxes-row-top row gap-6">
        <span className="card-type">{card.type}</span>
        {state && <span className="badge">{state}</span>}
        {card.damaged && <DamagedMark />}
        {card.repairedAt && <span className="badge warn">repaired</span>}
        <span className="grow" />
        <When at={card.createdAt} className="muted small" />
      </span>
      <span className="boxes-row-bottom row gap-6 small">
        <span className="ellipsis">{say.firstLine(textOfContent(card.content), 200) || <span className="muted">No text</span>}</span>
      </span>
    </span>
  );
}
