import { FileInput, Inbox, ListChecks, Plus } from 'lucide-react';
import { useDeferredValue, useState } from 'react';
import { type TicketStatus, ticketStatuses } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Answer, Button, Empty, Switch, say, statusNames } from '../../parts';
import { go, type TicketsAs, useKept, useNavigation, useProject, useQuery, useTickets } from '../../state';
import { Board } from './Board';
import { ImportSheet } from './ImportSheet';
import { openTicket, shownLabels } from './marks';
import { TicketList } from './TicketList';
import { TicketPage } from './TicketPage';
import { TicketSheet } from './TicketSheet';
import { Waiting } from './Waiting';
import { typeName } from './words';
import { Actor } from './writing';

/** What narrows the tickets that are shown; an empty text narrows nothing. */
export interface Narrowed {
  readonly text: string;
  readonly type: string;
  readonly assignee: string;
  readonly label: string;
  readonly status: TicketStatus | '';
  readonly ready: boolean;
}

/** How the tickets of a project were narrowed down last: opening one and coming back does not forget it. */
const lastNarrowed = new Map<string, Narrowed>();
const everything: Narrowed = { text: '', type: '', assignee: '', label: '', status: '', ready: false };

/** As the engine takes it. */
export const filterOf = ({ text, type, assignee, label, status, ready }: Narrowed) => ({
  ...(text.trim() && { text: text.trim() }),
  ...(type && { type }),
  ...(assignee && { assignee }),
  ...(label && { label }),
  ...(status && { status }),
  ...(ready && { ready }),
});

/** Tickets of a project, or the one that is open. */
export function ReviewsView({ project }: { project: string }) {
  const ticket = useNavigation(({ route }) => route.ticket);
  return ticket ? <TicketPage key={`${project} ${ticket}`} project={project} ticketId={ticket} /> : <Tickets key={project} project={project} />;
}

function Tickets({ project }: { project: string }) {
  const shown: TicketsAs | 'board' = useNavigation(({ route }) => route.tickets) ?? 'board';
  const [narrowed, setNarrowed] = useState(lastNarrowed.get(project) ?? everything);
  const narrow = (part: Partial<Narrowed>): void => {
    const next = { ...narrowed, ...part };
    lastNarrowed.set(project, next);
    setNarrowed(next);
  };
  const [sheet, setSheet] = useState<'new' | 'import'>();
  const deferred = useDeferredValue(narrowed);
  const commits = useProject((state) => state.revision);
  const revision = useTickets((state) => state.revision);
  const key = `${project} ${commits} ${revision}`;
  const summary = useKept(
    useQuery(key, () => api.ticket.facets({})),
    project,
  );
  const close = (): void => setSheet(undefined);
  const sheets = (
    <>
      {sheet === 'new' && <TicketSheet onClose={close} onSaved={openTicket} people={summary.status === 'done' ? summary.data.people : []} />}
      {sheet === 'import' && <ImportSheet onClose={close} />}
    </>
  );
  return (
    <section className="reviews" aria-label="Reviews">
      <Answer query={summary} what="The tickets cannot be shown" loading="Reading the tickets" stillWorks="Nothing in the project was changed.">
        {({ total, waiting, types, assignees, labels, people }) =>
          total === 0 ? (
            <NoTickets onNew={() => setSheet('new')} onImport={() => setSheet('import')} />
          ) : (
            <>
              <div className="reviews-tools">
                <Switch
                  label="Tickets as"
                  value={shown}
                  onChange={(as) => go({ tickets: as === 'board' ? undefined : as })}
                  options={[
                    { value: 'board', name: 'Board' },
                    { value: 'list', name: 'List' },
                    {
                      value: 'waiting',
                      name: waiting > 0 ? `Waiting ${say.exact(waiting)}` : 'Waiting',
                      hint: 'Who should start, with what, from which context',
                    },
                  ]}
                />
                <span className="grow" />
                <Actor people={people} />
                <Button small icon={FileInput} onClick={() => setSheet('import')}>
                  Import…
                </Button>
                <Button small look="primary" icon={Plus} onClick={() => setSheet('new')}>
                  New ticket
                </Button>
              </div>
              {shown !== 'waiting' && (
                <Narrow
                  narrowed={narrowed}
                  onChange={narrow}
                  types={types}
                  assignees={assignees}
                  labels={shownLabels(labels)}
                  withStatus={shown === 'list'}
                />
              )}
              {shown === 'board' && (
                <Board
                  revision={key}
                  narrowed={deferred}
                  onMore={(status) => {
                    narrow({ status });
                    go({ tickets: 'list' });
                  }}
                />
              )}
              {shown === 'list' && <TicketList project={project} revision={key} narrowed={deferred} />}
              {shown === 'waiting' && <Waiting revision={key} />}
            </>
          )
        }
      </Answer>
      {sheets}
    </section>
  );
}

interface NarrowProps {
  readonly narrowed: Narrowed;
  readonly onChange: (part: Partial<Narrowed>) => void;
  readonly types: readonly string[];
  readonly assignees: readonly string[];
  readonly labels: readonly string[];
  readonly withStatus: boolean;
}

function Narrow({ narrowed, onChange, types, assignees, labels, withStatus }: NarrowProps) {
  return (
    <div className="reviews-tools reviews-narrow">
      <input
        type="search"
        className="field reviews-filter"
        data-filter
        placeholder="Filter tickets  /"
        aria-label="Filter tickets"
        value={narrowed.text}
        onChange={(event) => onChange({ text: event.target.value })}
        onKeyDown={(event) => event.key === 'Escape' && onChange({ text: '' })}
      />
      {withStatus && (
        <Choice
          label="Status"
          any="Any status"
          value={narrowed.status}
          values={ticketStatuses}
          nameOf={(status) => statusNames[status as TicketStatus]}
          onChange={(status) => onChange({ status: status as TicketStatus | '' })}
        />
      )}
      <Choice label="Type" any="Any type" value={narrowed.type} values={types} nameOf={typeName} onChange={(type) => onChange({ type })} />
      <Choice label="Assignee" any="Anybody" value={narrowed.assignee} values={assignees} onChange={(assignee) => onChange({ assignee })} />
      {labels.length > 0 && <Choice label="Label" any="Any label" value={narrowed.label} values={labels} onChange={(label) => onChange({ label })} />}
      <label className="reviews-ready" title="Open, and nothing that it depends on is">
        <input type="checkbox" checked={narrowed.ready} onChange={(event) => onChange({ ready: event.target.checked })} /> ready
      </label>
    </div>
  );
}

function Choice(props: {
  label: string;
  any: string;
  value: string;
  values: readonly string[];
  nameOf?: (value: string) => string;
  onChange: (value: string) => void;
}) {
  const { label, any, value, values, nameOf = (name) => name, onChange } = props;
  return (
    <select className="field" aria-label={label} value={value} onChange={(event) => onChange(event.target.value)}>
      <option value="">{any}</option>
      {values.map((each) => (
        <option key={each} value={each}>
          {nameOf(each)}
        </option>
      ))}
    </select>
  );
}

const NoTickets = ({ onNew, onImport }: { onNew: () => void; onImport: () => void }) => (
  <Empty
    title="No tickets yet"
    picture={<ListChecks size={48} strokeWidth={1} />}
    actions={
      <>
        <Button look="primary" icon={Plus} onClick={onNew}>
          New ticket
        </Button>
        <Button icon={FileInput} onClick={onImport}>
          Import from GitHub or a task list…
        </Button>
      </>
    }
  >
    A ticket keeps, with every change, what its writer understood at that moment. A reviewer’s finding can be discussed with the reviewer as they
    were, weeks later.
  </Empty>
);

export const NothingWaits = () => (
  <Empty title="Nobody is waited for" picture={<Inbox size={48} strokeWidth={1} />}>
    When a ticket is moved, whoever should start next stands here, with the context to start from. Nothing runs by itself.
  </Empty>
);
