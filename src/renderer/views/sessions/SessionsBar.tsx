import { CircleCheck, CircleHelp, Import, Loader } from 'lucide-react';
import { agentName, Button, ChipMenu, IconButton, SearchField, say } from '../../parts';
import { notify, refreshProject, show, useImports } from '../../state';
import { importPaths, pathsToImport } from './act';
import { countValues, type Listed, type SessionFacet, type SessionNarrowing, spans } from './rows';

interface SessionsBarProps {
  readonly listed: readonly Listed[];
  readonly shown: readonly Listed[];
  readonly names: ReadonlyMap<string, string>;
  readonly narrowing: SessionNarrowing;
  /** False while the welcome above the list has the button to import, or if the histories could not be read. */
  readonly canImport: boolean;
  readonly isLooking: boolean;
  readonly onNarrow: (part: Partial<SessionNarrowing>) => void;
}

const chips: readonly (readonly [facet: SessionFacet, label: string])[] = [
  ['agent', 'Agents'],
  ['repository', 'Repositories'],
  ['model', 'Models'],
];

/** Title, filter, chips and the import button for all agents. */
export function SessionsBar({ listed, shown, names, narrowing, canImport, isLooking, onNarrow }: SessionsBarProps) {
  const { text, chosen, days, archived } = narrowing;
  const total = listed.filter(({ session }) => (session?.archived ?? false) === archived).length;
  const shelved = listed.filter(({ session }) => session?.archived).length;
  return (
    <header className="sessions-bar rigid nowrap line-below row">
      <h1>Sessions</h1>
      <span className="muted">{shown.length === total ? say.exact(total) : `${say.exact(shown.length)} of ${say.exact(total)}`}</span>
      <SearchField
        data-filter
        className="sessions-filter"
        placeholder="Filter by title, prompt or content  /"
        label="Filter sessions"
        value={text}
        onChange={(next) => onNarrow({ text: next })}
        onKeyDown={(event) => {
          if (event.key === 'Escape') onNarrow({ text: '' });
          if (event.key === 'Enter' || event.key === 'ArrowDown') document.querySelector<HTMLElement>('[data-list]')?.focus();
        }}
      />
      {chips.map(([facet, label]) => {
        const values = countValues(listed, facet);
        return (
          <ChipMenu
            key={facet}
            label={label}
            all={`All ${values.length}`}
            className={facet === 'model' ? 'low' : ''}
            options={values.map(([value, count]) => ({ value, name: facet === 'agent' ? agentName(value) : (names.get(value) ?? value), count }))}
            chosen={[...chosen[facet]]}
            onChange={(next) => onNarrow({ chosen: { ...chosen, [facet]: new Set(next) } })}
          />
        );
      })}
      <ChipMenu
        label="Dates"
        all="All"
        single
        options={spans.map(([name, value]) => ({ value, name }))}
        chosen={days === undefined ? [] : [days]}
        onChange={([next]) => onNarrow({ days: next })}
      />
      {(shelved > 0 || archived) && (
        <button
          type="button"
          className={`chip muted small archived-chip${archived ? ' chosen' : ''}`}
          aria-pressed={archived}
          onClick={() => onNarrow({ archived: !archived })}
        >
          Archived <b>{shelved}</b>
        </button>
      )}
      <span className="grow" />
      <IconButton icon={CircleHelp} label="What the words mean" onClick={() => show({ kind: 'words' })} />
      {canImport && <ImportButton listed={listed} isLooking={isLooking} />}
    </header>
  );
}

/** One button for all agents: it imports new histories and updates histories that have grown. */
export function ImportButton({ listed, isLooking = false }: { listed: readonly Listed[]; isLooking?: boolean }) {
  const running = useImports(({ jobs }) => jobs.find(({ state }) => state === 'running'));
  const fresh = listed.flatMap(({ found, session }) => (found && !session ? [found] : []));
  const grown = listed.flatMap(({ found, session }) => (found && session ? [found] : []));
  if (running || isLooking) return <Button label={running ? 'Importing…' : 'Looking…'} disabled icon={Loader} />;
  const count = fresh.length + grown.length;
  if (count === 0) {
    const look = (): void => void refreshProject().then(() => notify('Up to date: every history on this machine is imported'));
    return <Button icon={CircleCheck} label="Up to date" title="Every history on this machine is imported. Click to look again." onClick={look} />;
  }
  const agents = new Set([...fresh, ...grown].map(({ agent }) => agent)).size;
  return (
    <Button
      look="primary"
      icon={Import}
      label={fresh.length > 0 ? `Import ${say.exact(fresh.length)} new` : `Update ${say.exact(grown.length)}`}
      title={`Reads ${[fresh.length > 0 && say.plural(fresh.length, 'new session'), grown.length > 0 && `${say.plural(grown.length, 'session')} that grew`].filter(Boolean).join(' and ')} of ${say.plural(agents, 'agent')}. It changes none of the agents' files.`}
      onClick={() => void importPaths([...fresh, ...grown].flatMap(pathsToImport), false)}
    />
  );
}
