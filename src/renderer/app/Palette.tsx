import { Dialog } from '@base-ui/react/dialog';
import { Command } from 'cmdk';
import {
  ChevronDown,
  CircleHelp,
  FileInput,
  FolderOpen,
  GitCommitHorizontal,
  Keyboard,
  ListChecks,
  MessagesSquare,
  Moon,
  Radio,
  Sparkles,
  Sun,
} from 'lucide-react';
import { Children, type ReactNode, useState } from 'react';
import type { ContextId, SessionRow } from '../../core/contract/index.js';
import { agentName, ChipMenu, commitName, familyIcons, type Icon, kindFamily, say, speaker, statusNames } from '../parts';
import { dismiss, go, openContext, openHit, setLook, show, useNavigation } from '../state';
import { commitActions } from '../views/actions';
import { importPaths, openSample, showProject, spans } from '../views/sessions';
import { hitPieces } from './hit';
import { hitsBySession, type PaletteNarrowing, usePaletteSearch, useShownCommit } from './paletteSearch';
import { views } from './views';

const firstEntries = 30;
const maxEntries = 500;
const maxSessions = 12;
const recentSessions = 6;
const maxProjects = 8;

type Found = ReturnType<typeof usePaletteSearch>;
/** Whether a text contains the typed words. */
type Matches = (text: string) => boolean;

/** One box to search, jump and act. Without words, it shows the latest sessions and the available actions. */
export function Palette() {
  const [words, setWords] = useState('');
  const [entryLimit, setEntryLimit] = useState(firstEntries);
  const [narrowing, setNarrowing] = useState<PaletteNarrowing>({ agent: undefined, days: undefined });
  const found = usePaletteSearch(words, entryLimit, narrowing);
  const needle = words.trim().toLowerCase();
  const matches: Matches = (text) => text.toLowerCase().includes(needle);
  const showMoreEntries = entryLimit < maxEntries ? () => setEntryLimit(Math.min(maxEntries, entryLimit * 4)) : undefined;
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
              placeholder="Search sessions, entries, commits, tickets, actions…"
            />
            {needle.length >= 3 && found.sessions.length > 0 && <Chips sessions={found.sessions} narrowing={narrowing} onChange={setNarrowing} />}
            <Command.List>
              {/* Rows that came one after the other would leave the selection on a row that is no longer the first. */}
              {found.isReady && (
                <>
                  <Command.Empty>
                    {found.entries?.pending
                      ? `Nothing found yet. ${say.plural(found.entries.pending, 'commit')} left to search.`
                      : 'Nothing found. To search inside an open context, press /.'}
                  </Command.Empty>
                  {needle === '' && <Sessions name="Recent sessions" sessions={found.sessions.slice(0, recentSessions)} />}
                  <CommitActions matches={matches} />
                  <Places words={words.trim()} matches={matches} />
                  {needle !== '' && (
                    <Sessions
                      name="Sessions"
                      sessions={found.sessions.filter(({ title, repository, tags }) => matches(`${title}\n${repository ?? ''}\n${tags.join('\n')}`))}
                    />
                  )}
                  <Tickets tickets={found.tickets} />
                  <Commits commits={found.commits} />
                  <Entries entries={found.entries} sessions={found.sessions} limit={entryLimit} onMore={showMoreEntries} />
                  <Projects projects={found.projects.filter((project) => matches(`${project.name} ${project.dir}`))} matches={matches} />
                  <WindowActions matches={matches} />
                </>
              )}
            </Command.List>
          </Command>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function Chips(props: { sessions: readonly SessionRow[]; narrowing: PaletteNarrowing; onChange: (narrowing: PaletteNarrowing) => void }) {
  const { sessions, narrowing, onChange } = props;
  const agents = [...new Set(sessions.map(({ agent }) => agent))];
  return (
    <div className="palette-chips gap-6 line-below">
      <ChipMenu
        label="Agent"
        all="All"
        single
        options={agents.map((value) => ({ value, name: agentName(value) }))}
        chosen={narrowing.agent === undefined ? [] : [narrowing.agent]}
        onChange={([agent]) => onChange({ ...narrowing, agent })}
      />
      <ChipMenu
        label="Dates"
        all="All"
        single
        options={spans.map(([name, value]) => ({ value, name }))}
        chosen={narrowing.days === undefined ? [] : [narrowing.days]}
        onChange={([days]) => onChange({ ...narrowing, days })}
      />
    </div>
  );
}

/** A typed commit id or path, then the views. */
function Places({ words, matches }: { words: string; matches: Matches }) {
  const id = /^ctx-[0-9a-f]{4,64}$/i.test(words) ? (words.toLowerCase() as ContextId) : undefined;
  const path = /^(\/|~|[a-z]:[\\/])/i.test(words) ? words : undefined;
  return (
    <Group name="Go to">
      {id && <Item icon={GitCommitHorizontal} name={`Commit ${id}`} act={() => openContext(id)} />}
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
    <Group name={'children' in shown ? `Selected: ${say.firstLine(commitName({ ...shown, commit: shown }), 80)}` : 'Selected commit'}>
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
    {commits.map((row) => (
      <Item
        key={row.commit.id}
        id={row.commit.id}
        icon={GitCommitHorizontal}
        name={say.firstLine(commitName(row), 120)}
        hint={`${say.shortId(row.commit.id)} · ${say.when(row.commit.createdAt)}`}
        act={() => go({ view: 'chain', commit: row.commit.id, entry: undefined })}
      />
    ))}
  </Group>
);

function Entries({ entries, sessions, limit, onMore }: Pick<Found, 'entries' | 'sessions'> & { limit: number; onMore: (() => void) | undefined }) {
  if (!entries) return null;
  const { hits, total, isExact } = entries;
  return (
    <>
      {hitsBySession(hits).map(([sessionId, own]) => {
        const session = sessions.find((one) => one.sessionId === sessionId);
        const name = session ? `${say.firstLine(session.title, 80)} · ${agentName(session.agent)}` : 'Without a session';
        return (
          <Group key={sessionId} name={`${name} (${own.length})`}>
            {own.map((hit) => (
              <Item
                key={`${hit.commit} ${hit.entryKey}`}
                id={`${hit.commit} ${hit.entryKey}`}
                icon={familyIcons[kindFamily(hit)]}
                name={hit.snippet}
                shown={hitPieces(hit).map(({ at, text, isMatch }) => (isMatch ? <mark key={at}>{text}</mark> : <span key={at}>{text}</span>))}
                hint={`${speaker(hit)} · ${say.when(hit.at)}`}
                act={() => openHit(hit)}
              />
            ))}
          </Group>
        );
      })}
      {onMore && hits.length >= limit && total > limit && (
        <Group name={`${isExact ? '' : 'Over '}${say.exact(total)} entries`}>
          <Item name="Show more entries" icon={ChevronDown} stays act={onMore} />
        </Group>
      )}
    </>
  );
}

const Sessions = ({ name, sessions }: { name: string; sessions: readonly SessionRow[] }) => (
  <Group name={name}>
    {sessions.slice(0, maxSessions).map((session) => (
      <Item
        key={session.sessionId}
        id={session.sessionId}
        icon={session.live ? Radio : MessagesSquare}
        name={say.firstLine(session.title, 100)}
        hint={`${agentName(session.agent)} · ${session.live ? 'live' : say.when(session.lastAt)}`}
        act={() =>
          go({ view: 'chain', session: session.parentSessionId ?? session.sessionId, commit: session.tips[0], against: undefined, entry: undefined })
        }
      />
    ))}
  </Group>
);

const Projects = ({ projects, matches }: Pick<Found, 'projects'> & { matches: Matches }) => (
  <Group name="Projects">
    {projects.slice(0, maxProjects).map((project) => (
      <Item key={project.dir} id={project.dir} icon={FolderOpen} name={project.name} hint={project.dir} act={() => showProject(project.dir)} />
    ))}
    {matches('Open the sample project') && <Item icon={Sparkles} name="Open the sample project" act={() => void openSample()} />}
  </Group>
);

const WindowActions = ({ matches }: { matches: Matches }) => (
  <Group name="Window">
    {matches('Theme: light') && <Item icon={Sun} name="Theme: light" act={() => setLook({ theme: 'light' })} />}
    {matches('Theme: dark') && <Item icon={Moon} name="Theme: dark" act={() => setLook({ theme: 'dark' })} />}
    {matches('Theme: as the system') && <Item name="Theme: as the system" act={() => setLook({ theme: 'system' })} />}
    {matches('Imports') && <Item icon={FileInput} name="Imports" act={() => show({ kind: 'imports' })} />}
    {matches('What the words mean') && <Item icon={CircleHelp} name="What the words mean" act={() => show({ kind: 'words' })} />}
    {matches('Keyboard shortcuts') && <Item icon={Keyboard} name="Keyboard shortcuts" keys="?" act={() => show({ kind: 'keys' })} />}
  </Group>
);

const Group = ({ name, children }: { name: string; children: ReactNode }) =>
  Children.toArray(children).length > 0 ? <Command.Group heading={name}>{children}</Command.Group> : null;

interface ItemProps {
  readonly name: string;
  /** Drawn instead of the name. */
  readonly shown?: ReactNode;
  /** True if the palette stays open after this item was chosen. */
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
      {hint && <span className="muted ellipsis palette-hint small">{hint}</span>}
      {keys && <kbd>{keys}</kbd>}
    </Command.Item>
  );
}
