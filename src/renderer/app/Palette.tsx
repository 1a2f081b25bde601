import { Dialog } from '@base-ui/react/dialog';
import { Command } from 'cmdk';
import { ChevronDown, FileInput, FolderOpen, GitCommitHorizontal, Keyboard, ListChecks, MessagesSquare, Moon, Sparkles, Sun } from 'lucide-react';
import { Children, type ReactNode, useState } from 'react';
import type { ContextId } from '../../core/contract/index.js';
import { familyIcons, familyOf, type Icon, say, speaker, statusNames } from '../parts';
import { dismiss, go, setTheme, show, useNavigation } from '../state';
import { commitActions } from '../views/actions';
import { importPaths, openSample, showProject } from '../views/sessions';
import { hitPieces } from './hit';
import { usePaletteSearch, useShownCommit } from './paletteSearch';
import { views } from './views';

const firstEntries = 30;
const mostEntries = 500;
const mostSessions = 12;
const mostProjects = 8;

type Found = ReturnType<typeof usePaletteSearch>;
/** Whether a text contains the typed words. */
type Matches = (text: string) => boolean;

/** One box to search, jump and act. */
export function Palette() {
  const [words, setWords] = useState('');
  const [entryLimit, setEntryLimit] = useState(firstEntries);
  const found = usePaletteSearch(words, entryLimit);
  const needle = words.trim().toLowerCase();
  const matches: Matches = (text) => text.toLowerCase().includes(needle);
  const showMoreEntries = entryLimit < mostEntries ? () => setEntryLimit(Math.min(mostEntries, entryLimit * 4)) : undefined;
  return (
    <Dialog.Root open onOpenChange={(open) => !open && dismiss()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="sheet-scrim" />
        <Dialog.Popup className="sheet dialog palette">
          <Dialog.Title className="unseen">Search or jump</Dialog.Title>
          <Command shouldFilter={false} loop label="Search or jump">
            <Command.Input
              autoFocus
              value={words}
              onValueChange={(next) => {
                setWords(next);
                setEntryLimit(firstEntries);
              }}
              placeholder="Search entries, commits, tickets, sessions, projects, actions…"
            />
            <Command.List>
              <Command.Empty>Nothing found. To search inside an open context, press /.</Command.Empty>
              <Places words={words.trim()} matches={matches} />
              <CommitActions matches={matches} />
              <Tickets tickets={found.tickets} />
              <Commits commits={found.commits} />
              <Entries entries={found.entries} limit={entryLimit} onMore={showMoreEntries} />
              <Sessions sources={needle ? found.sources.filter((source) => matches(`${source.title ?? ''} ${source.path}`)) : []} />
              <Projects projects={found.projects.filter((project) => matches(`${project.name} ${project.dir}`))} matches={matches} />
              <WindowActions matches={matches} />
            </Command.List>
          </Command>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

/** A typed commit id or path, then the views. */
function Places({ words, matches }: { words: string; matches: Matches }) {
  const id = /^ctx-[0-9a-f]{4,64}$/i.test(words) ? (words.toLowerCase() as ContextId) : undefined;
  const path = /^(\/|~|[a-z]:[\\/])/i.test(words) ? words : undefined;
  return (
    <Group name="Go to">
      {id && (
        <Item icon={GitCommitHorizontal} name={`Commit ${id}`} act={() => go({ view: 'context', commit: id, entry: undefined, stop: undefined })} />
      )}
      {path && <Item icon={FileInput} name={`Import ${path}`} act={() => void importPaths([path], true)} />}
      {views
        .filter(({ title }) => matches(title))
        .map(({ id: view, title, icon, keys }) => (
          <Item key={view} icon={icon} name={title} keys={keys} act={() => go({ view })} />
        ))}
    </Group>
  );
}

function CommitActions({ matches }: { matches: Matches }) {
  const against = useNavigation(({ route }) => route.against);
  const shown = useShownCommit();
  if (!shown) return null;
  const actions = commitActions(shown, against).flatMap((item) => (item !== 'line' && !item.disabled && matches(item.name) ? [item] : []));
  return (
    <Group name={`Commit ${say.shortId(shown.id)}`}>
      {actions.map(({ name, icon, keys, act }) => (
        <Item key={name} name={name} {...(icon && { icon })} {...(keys && { keys })} act={act} />
      ))}
    </Group>
  );
}

const Tickets = ({ tickets }: Pick<Found, 'tickets'>) => (
  <Group name="Tickets">
    {tickets.map((ticket) => (
      <Item
        key={ticket.ticketId}
        id={ticket.ticketId}
        icon={ListChecks}
        name={say.firstLine(ticket.title, 100)}
        hint={`${ticket.ticketId} · ${statusNames[ticket.status].toLowerCase()}`}
        act={() => go({ view: 'reviews', ticket: ticket.ticketId })}
      />
    ))}
  </Group>
);

const Commits = ({ commits }: Pick<Found, 'commits'>) => (
  <Group name="Commits">
    {commits.map(({ commit }) => (
      <Item
        key={commit.id}
        id={commit.id}
        icon={GitCommitHorizontal}
        name={say.firstLine(commit.summary ?? commit.id, 120)}
        hint={`${say.shortId(commit.id)} · ${say.when(commit.createdAt)}`}
        act={() => go({ view: 'chain', commit: commit.id, entry: undefined })}
      />
    ))}
  </Group>
);

function Entries({ entries, limit, onMore }: { entries: Found['entries']; limit: number; onMore: (() => void) | undefined }) {
  if (!entries) return null;
  const { hits, total, isExact } = entries;
  return (
    <Group name={total > hits.length ? `Entries (${isExact ? '' : 'over '}${say.exact(total)})` : 'Entries'}>
      {hits.map((hit) => (
        <Item
          key={`${hit.commit} ${hit.entryKey}`}
          id={`${hit.commit} ${hit.entryKey}`}
          icon={familyIcons[familyOf(hit)]}
          name={hit.snippet}
          shown={hitPieces(hit).map(({ at, text, isMatch }) => (isMatch ? <mark key={at}>{text}</mark> : <span key={at}>{text}</span>))}
          hint={`${speaker(hit)} · ${say.when(hit.at)}`}
          act={() => go({ view: 'context', commit: hit.commit, entry: hit.entryKey, stop: undefined })}
        />
      ))}
      {onMore && hits.length >= limit && total > limit && <Item name="Show more entries" icon={ChevronDown} stays act={onMore} />}
    </Group>
  );
}

const Sessions = ({ sources }: Pick<Found, 'sources'>) => (
  <Group name="Sessions">
    {sources.slice(0, mostSessions).map((source) => (
      <Item
        key={source.sourceId}
        id={source.sourceId}
        icon={MessagesSquare}
        name={say.firstLine(source.title ?? source.path, 100)}
        act={() => go({ view: 'chain', session: source.sessionId, commit: source.tips.at(-1), entry: undefined })}
      />
    ))}
  </Group>
);

const Projects = ({ projects, matches }: Pick<Found, 'projects'> & { matches: Matches }) => (
  <Group name="Projects">
    {projects.slice(0, mostProjects).map((project) => (
      <Item key={project.dir} id={project.dir} icon={FolderOpen} name={project.name} hint={project.dir} act={() => showProject(project.dir)} />
    ))}
    {matches('Open the sample project') && <Item icon={Sparkles} name="Open the sample project" act={() => void openSample()} />}
  </Group>
);

const WindowActions = ({ matches }: { matches: Matches }) => (
  <Group name="Window">
    {matches('Theme: light') && <Item icon={Sun} name="Theme: light" act={() => setTheme('light')} />}
    {matches('Theme: dark') && <Item icon={Moon} name="Theme: dark" act={() => setTheme('dark')} />}
    {matches('Theme: as the system') && <Item name="Theme: as the system" act={() => setTheme('system')} />}
    {matches('Imports') && <Item icon={FileInput} name="Imports" act={() => show({ kind: 'imports' })} />}
    {matches('Keyboard shortcuts') && <Item icon={Keyboard} name="Keyboard shortcuts" keys="?" act={() => show({ kind: 'keys' })} />}
  </Group>
);

/** A group of items under a heading; nothing where it has no items. */
const Group = ({ name, children }: { name: string; children: ReactNode }) =>
  Children.toArray(children).length > 0 ? <Command.Group heading={name}>{children}</Command.Group> : null;

interface ItemProps {
  readonly name: string;
  /** Drawn in place of the name. */
  readonly shown?: ReactNode;
  /** The palette stays open after this item is chosen. */
  readonly stays?: boolean;
  readonly id?: string;
  readonly icon?: Icon;
  readonly hint?: string;
  readonly keys?: string;
  readonly act: () => void;
}

function Item({ name, shown = name, stays = false, id, icon: Glyph, hint, keys, act }: ItemProps) {
  return (
    <Command.Item
      value={id ?? name}
      onSelect={() => {
        if (!stays) dismiss();
        act();
      }}
    >
      {Glyph ? <Glyph size={15} aria-hidden /> : <span className="palette-gap" />}
      <span className="ellipsis grow">{shown}</span>
      {hint && <span className="muted ellipsis palette-hint">{hint}</span>}
      {keys && <kbd>{keys}</kbd>}
    </Command.Item>
  );
}
