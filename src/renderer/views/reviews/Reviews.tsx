import { FileInput, ListChecks, Plus } from 'lucide-react';
import { useDeferredValue, useState } from 'react';
import { type TicketStatus, ticketStatuses } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Answer, Button, Checkbox, Empty, SearchField, Select, Switch, say, statusNames } from '../../parts';
import { go, type Route, useKeptQuery, useNavigation, useProject, useTickets } from '../../state';
import { Board } from './Board';
import { keepFilter, lastFilter, noFilter, type TicketFilter } from './filter';
import { ImportSheet } from './ImportSheet';
import { openTicket, shownLabels } from './marks';
import { TicketList } from './TicketList';
import { TicketPage } from './TicketPage';
import { TicketSheet } from './TicketSheet';
import { Waiting } from './Waiting';
import { typeName } from './words';
import { Actor } from './writing';

type TicketsAs = NonNullable<Route['tickets']> | 'board';

export function ReviewsView({ project }: { project: string }) {
  const ticket = useNavigation(({ route }) => route.ticket);
  return ticket ? <TicketPage key={`${project} ${ticket}`} project={project} ticketId={ticket} /> : <Tickets key={project} project={project} />;
}

function Tickets({ project }: { project: string }) {
  const shown: TicketsAs = useNavigation(({ route }) => route.tickets) ?? 'board';
  const [filter, setFilter] = useState(lastFilter(project));
  const changeFilter = (part: Partial<TicketFilter>): void => {
    const next = { ...filter, ...part };
    keepFilter(project, next);
    setFilter(next);
  };
  const [sheet, setSheet] = useState<'new' | 'import'>();
  const deferred = useDeferredValue(filter);
  const commits = useProject((state) => state.revision);
  const revision = useTickets((state) => state.revision);
  const key = `${project} ${commits} ${revision}`;
  const summary = useKeptQuery(project, key, () => api.ticket.facets({}));
  const close = (): void => setSheet(undefined);
  return (
    <section className="reviews whole stack" aria-label="Reviews">
      <Answer query={summary} what="Cannot show the tickets" loading="Loading tickets" stillWorks="Nothing in the project was changed.">
        {({ total, waiting, types, assignees, labels, people }) =>
          total === 0 ? (
            <NoTickets onNew={() => setSheet('new')} onImport={() => setSheet('import')} />
          ) : (
            <>
              <ToolBar shown={shown} waiting={waiting} people={people} onOpen={setSheet} />
              {shown !== 'waiting' && (
                <FilterBar {...{ filter, types, assignees }} onChange={changeFilter} labels={shownLabels(labels)} withStatus={shown === 'list'} />
              )}
              {shown === 'board' && (
                <Board
                  revision={key}
                  filter={deferred}
                  onMore={(status) => {
                    changeFilter({ status });
                    go({ tickets: 'list' });
                  }}
                />
              )}
              {shown === 'list' && <TicketList project={project} revision={key} filter={deferred} onClear={() => changeFilter(noFilter)} />}
              {shown === 'waiting' && <Waiting revision={key} />}
            </>
          )
        }
      </Answer>
      {sheet === 'new' && <TicketSheet onClose={close} onSaved={openTicket} people={summary.status === 'done' ? summary.data.people : []} />}
      {sheet === 'import' && <ImportSheet onClose={close} />}
    </section>
  );
}

function ToolBar(props: { shown: TicketsAs; waiting: number; people: readonly string[]; onOpen: (sheet: 'new' | 'import') => void }) {
  const { shown, waiting, people, onOpen } = props;
  return (
    <div className="reviews-tools rigid bar wrap">
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
            hint: 'Who should start what, from which context',
          },
        ]}
      />
      <span className="grow" />
      <Actor people={people} />
      <Button small icon={FileInput} onClick={() => onOpen('import')}>
        Import…
      </Button>
      <Button small look="primary" icon={Plus} onClick={() => onOpen('new')}>
        New ticket
      </Button>
    </div>
  );
}

interface FilterBarProps {
  readonly filter: TicketFilter;
  readonly onChange: (part: Partial<TicketFilter>) => void;
  readonly types: readonly string[];
  readonly assignees: readonly string[];
  readonly labels: readonly string[];
  readonly withStatus: boolean;
}

function FilterBar({ filter, onChange, types, assignees, labels, withStatus }: FilterBarProps) {
  return (
    <div className="reviews-tools rigid bar wrap reviews-narrow">
      <SearchField
        className="reviews-filter"
        data-filter
        placeholder="Filter tickets  /"
        label="Filter tickets"
        value={filter.text}
        onChange={(text) => onChange({ text })}
        onKeyDown={(event) => event.key === 'Escape' && onChange({ text: '' })}
      />
      {withStatus && (
        <Choice
          label="Status"
          any="Any status"
          value={filter.status}
          values={ticketStatuses}
          nameOf={(status) => statusNames[status as TicketStatus]}
          onChange={(status) => onChange({ status: status as TicketStatus | '' })}
        />
      )}
      <Choice label="Type" any="Any type" value={filter.type} values={types} nameOf={typeName} onChange={(type) => onChange({ type })} />
      <Choice label="Assignee" any="Anybody" value={filter.assignee} values={assignees} onChange={(assignee) => onChange({ assignee })} />
      {labels.length > 0 && <Choice label="Label" any="Any label" value={filter.label} values={labels} onChange={(label) => onChange({ label })} />}
      <Checkbox
        className="reviews-ready inline-row"
        title="Ready: open, with no open dependencies"
        checked={filter.ready}
        onChange={(on) => onChange({ ready: on })}
      >
        Only ready
      </Checkbox>
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
  return <Select label={label} value={value} options={[['', any], ...values.map((each) => [each, nameOf(each)] as const)]} onChange={onChange} />;
}

const NoTickets = ({ onNew, onImport }: { onNew: () => void; onImport: () => void }) => (
  <Empty
    title="No tickets yet"
    picture={ListChecks}
    acts={[
      { name: 'New ticket', icon: Plus, look: 'primary', act: onNew },
      { name: 'Import from GitHub or a task list…', icon: FileInput, act: onImport },
    ]}
  >
    A ticket stores, with every change, the context of its author at that moment. You can discuss a finding with the reviewer as they were then, even
    weeks later.
  </Empty>
);
