import { FileInput, FileText, ListChecks, Plus } from 'lucide-react';
import { useDeferredValue, useState } from 'react';
import { type TicketStatus, ticketStatuses } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Answer, Button, Checkbox, Empty, notifyProblem, SearchField, Select, Switch, say, statusNames } from '../../parts';
import { go, notify, type Route, useKeptQuery, useNavigation, useProject, useTickets } from '../../state';
import { Board } from './Board';
import { noFilter, type TicketFilter } from './filter';
import { openTicket, shownLabels } from './marks';
import { TicketList } from './TicketList';
import { TicketPage } from './TicketPage';
import { TicketSheet } from './TicketSheet';
import { Waiting } from './Waiting';
import { typeName } from './words';
import { Actor, TextField, WritingSheet } from './writing';

type TicketsAs = NonNullable<Route['tickets']> | 'board';

/** The last filter of each project: opening a ticket and coming back keeps it. */
const lastFilters = new Map<string, TicketFilter>();

/** The tickets of a project, or the open ticket. */
export function ReviewsView({ project }: { project: string }) {
  const ticket = useNavigation(({ route }) => route.ticket);
  return ticket ? <TicketPage key={`${project} ${ticket}`} project={project} ticketId={ticket} /> : <Tickets key={project} project={project} />;
}

function Tickets({ project }: { project: string }) {
  const shown: TicketsAs = useNavigation(({ route }) => route.tickets) ?? 'board';
  const [filter, setFilter] = useState(lastFilters.get(project) ?? noFilter);
  const changeFilter = (part: Partial<TicketFilter>): void => {
    const next = { ...filter, ...part };
    lastFilters.set(project, next);
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
        {(facets) =>
          facets.total === 0 ? (
            <NoTickets onNew={() => setSheet('new')} onImport={() => setSheet('import')} />
          ) : (
            <>
              <ToolBar shown={shown} facets={facets} onOpen={setSheet} />
              {shown !== 'waiting' && <FilterBar filter={filter} facets={facets} withStatus={shown === 'list'} onChange={changeFilter} />}
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
      {sheet === 'new' && <TicketSheet onClose={close} onSaved={openTicket} people={summary.data?.people ?? []} />}
      {sheet === 'import' && <ImportSheet onClose={close} />}
    </section>
  );
}

type Facets = Awaited<ReturnType<typeof api.ticket.facets>>;

function ToolBar({ shown, facets, onOpen }: { shown: TicketsAs; facets: Facets; onOpen: (sheet: 'new' | 'import') => void }) {
  const { waiting, people } = facets;
  return (
    <div className="reviews-tools rigid bar wrap">
      <Switch
        label="Tickets as"
        value={shown}
        onChange={(as) => go({ tickets: as === 'board' ? undefined : as })}
        options={{
          board: 'Board',
          list: 'List',
          waiting: [waiting > 0 ? `Waiting ${say.exact(waiting)}` : 'Waiting', 'Who should start what, from which context'],
        }}
      />
      <span className="grow" />
      <Actor people={people} />
      <Button small icon={FileInput} label="Import…" onClick={() => onOpen('import')} />
      <Button small look="primary" icon={Plus} label="New ticket" onClick={() => onOpen('new')} />
    </div>
  );
}

/** The options of a filter: its values, and one that filters nothing. */
const anyOr = (any: string, values: readonly string[], nameOf = (value: string) => value) => [
  ['', any] as const,
  ...values.map((value) => [value, nameOf(value)] as const),
];

interface FilterBarProps {
  readonly filter: TicketFilter;
  readonly facets: Facets;
  readonly withStatus: boolean;
  readonly onChange: (part: Partial<TicketFilter>) => void;
}

function FilterBar({ filter, facets, withStatus, onChange }: FilterBarProps) {
  const labels = shownLabels(facets.labels);
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
        <Select
          label="Status"
          value={filter.status}
          options={anyOr('Any status', ticketStatuses, (status) => statusNames[status as TicketStatus])}
          onChange={(status) => onChange({ status })}
        />
      )}
      <Select label="Type" value={filter.type} options={anyOr('Any type', facets.types, typeName)} onChange={(type) => onChange({ type })} />
      <Select label="Assignee" value={filter.assignee} options={anyOr('Anybody', facets.assignees)} onChange={(assignee) => onChange({ assignee })} />
      {labels.length > 0 && (
        <Select label="Label" value={filter.label} options={anyOr('Any label', labels)} onChange={(label) => onChange({ label })} />
      )}
      <Checkbox
        className="reviews-ready inline-row"
        label="Only ready"
        title="Ready: open, with no open dependencies"
        checked={filter.ready}
        onChange={(on) => onChange({ ready: on })}
      />
    </div>
  );
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

/** Imports tickets from GitHub's JSON or a Markdown task list, pasted or from a file. */
export function ImportSheet({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState('');
  const [kind, setKind] = useState<'any' | 'github' | 'markdown'>('any');
  const [file, setFile] = useState<File>();
  const importTickets = () =>
    api.ticket.import({ text, ...(kind !== 'any' && { kind }), ...(file && { at: new Date(file.lastModified).toISOString() }) });
  const read = async (chosen: File | undefined): Promise<void> => {
    if (!chosen) return;
    try {
      setText(await chosen.text());
      setFile(chosen);
    } catch (error) {
      notifyProblem(error);
    }
  };
  return (
    <WritingSheet
      title="Import tickets"
      label="Import"
      lacks={text.trim() === ''}
      work={importTickets}
      onDone={({ created, known }) =>
        notify(`Imported ${say.plural(created.length, 'ticket')}${known > 0 ? `; ${say.exact(known)} existed already` : ''}.`)
      }
      onClose={onClose}
    >
      <p className="muted">
        Issues and pull requests with their reviews and comments, as <code className="inline">gh issue list --json …</code>,{' '}
        <code className="inline">gh pr view --json …</code> or GitHub’s interface writes them; or a list with <code className="inline">- [ ]</code>{' '}
        and <code className="inline">- [x]</code>. Each ticket is linked to the commit that was current when it was written. Existing tickets do not
        change.
      </p>
      <div className="row wrap">
        <Switch label="Kind of text" value={kind} onChange={setKind} options={{ any: 'Detect', github: 'GitHub JSON', markdown: 'Task list' }} />
        <label className="button small import-file">
          <FileText size={14} aria-hidden />
          Choose a file…
          <input
            type="file"
            className="unseen"
            accept=".json,.md,.markdown,.txt,application/json,text/markdown,text/plain"
            onChange={(event) => void read(event.target.files?.[0])}
          />
        </label>
        {file && <span className="muted ellipsis">{file.name}</span>}
      </div>
      <TextField
        label="Text to import"
        className="mono"
        lines={12}
        value={text}
        placeholder={'# Plan\n- [ ] Make retries idempotent\n  - [x] Find out why they are not'}
        onChange={(next) => {
          setText(next);
          setFile(undefined);
        }}
      />
    </WritingSheet>
  );
}
