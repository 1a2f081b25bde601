import { Lock } from 'lucide-react';
import { useEffect, useState } from 'react';
import type { BoxRow } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Answer, DamagedMark, SearchField, say, When } from '../../parts';
import { go, useProjectQuery } from '../../state';
import { Rows } from './Rows';

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
