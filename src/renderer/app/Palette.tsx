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
import { type ReactNode, useRef, useState } from 'react';
import type { ContextId, GraphRow, SearchHit, SessionRow } from '../../core/contract/index.js';
import { agentName, ChipMenu, commitName, familyIcons, type Icon, kindFamily, say, speaker, statusNames } from '../parts';
import { dismiss, go, openContext, openHit, setLook, show, showProject, useNavigation } from '../state';
import { commitActions } from '../views/actions';
import { importPaths, openSample, spans } from '../views/sessions';
import { hitPieces } from './hit';
import { hitsBySession, type PaletteNarrowing, usePaletteSearch, useShownCommit } from './paletteSearch';
import { views } from './views';

const firstEntries = 30;
const maxEntries = 500;
const maxSessions = 12;
const recentSessions = 6;
const maxProjects = 8;

type Found = ReturnType<typeof usePaletteSearch>;
type Matches = (text: string) => boolean;

/** One box to search, jump and act. Without words, it shows the latest sessions and the available actions. */
export function Palette() {
  // The field takes the focus before the dialog could note what had it.
  const focused = useRef(document.activeElement as HTMLElement | null);
  const [words, setWords] = useState('');
  const [entryLimit, setEntryLimit] = useState(firstEntries);
  const [narrowing, setNarrowing] = useState<PaletteNarrowing>({ agent: undefined, days: undefined });
  const found = usePaletteSearch(words, entryLimit, narrowing);
  const needle = words.trim().toLowerCase();
  const matches: Matches = (text) => text.toLowerCase().includes(needle);
  const isMeant = ({ name, hint = '' }: ItemProps): boolean => matches(`${name} ${hint}`);
  const sessions = found.sessions.filter(({ title, repository, tags }) => matches(`${title}\n${repository ?? ''}\n${tags.join('\n')}`));
  const projects = found.projects.map(projectItem).filter(isMeant).slice(0, maxProjects);
  const showMoreEntries = entryLimit < maxEntries ? () => setEntryLimit(Math.min(maxEntries, entryLimit * 4)) : undefined;
  return (
    <Dialog.Root open onOpenChange={(open) => !open && dismiss()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="sheet-scrim" />
        <Dialog.Popup className="sheet dialog palette" finalFocus={focused}>
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
                  {needle === '' && <Group name="Recent sessions" items={found.sessions.slice(0, recentSessions).map(sessionItem)} />}
                  <CommitActions matches={matches} />
                  <Group name="Go to" items={placeItems(words.trim(), matches)} />
                  {needle !== '' && <Group name="Sessions" items={sessions.slice(0, maxSessions).map(sessionItem)} />}
                  <Group name="Tickets" items={found.tickets.map(ticketItem)} />
                  <Group name="Commits" items={found.commits.map(commitItem)} />
                  <Entries entries={found.entries} sessions={found.sessions} limit={entryLimit} onMore={showMoreEntries} />
                  <Group name="Projects" items={[...projects, ...[sampleItem].filter(isMeant)]} />
                  <Group name="Window" items={windowItems.filter(isMeant)} />
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
function placeItems(words: string, matches: Matches): readonly ItemProps[] {
  const id = /^ctx-[0-9a-f]{4,64}$/i.test(words) ? (words.toLowerCase() as ContextId) : undefined;
  const path = /^(\/|~|[a-z]:[\\/])/i.test(words) ? words : undefined;
  return [
    ...(id ? [{ icon: GitCommitHorizontal, name: `Commit ${id}`, act: () => openContext(id) }] : []),
    ...(path ? [{ icon: FileInput, name: `Import ${path}`, act: () => void importPaths([path], true) }] : []),
    ...views.filter(({ title }) => matches(title)).map(({ id: view, title, icon, keys }) => ({ icon, name: title, keys, act: () => go({ view }) })),
  ];
}

function CommitActions({ matches }: { matches: Matches }) {
  const against = useNavigation(({ route }) => route.against);
  const shown = useShownCommit();
  if (!shown) return null;
  const actions = commitActions(shown, against).flatMap((item) => (item !== 'line' && !item.disabled && matches(item.name) ? [item] : []));
  const name = 'children' in shown ? `Selected: ${say.firstLine(commitName({ ...shown, commit: shown }), 80)}` : 'Selected commit';
  return <Group name={name} items={actions} />;
}

const ticketItem = ({ ticketId, title, status }: Found['tickets'][number]): ItemProps => ({
  id: ticketId,
  icon: ListChecks,
  name: say.firstLine(title, 100),
  hint: `${ticketId} · ${statusNames[status].toLowerCase()}`,
  act: () => go({ view: 'reviews', ticket: ticketId }),
});

const commitItem = (row: GraphRow): ItemProps => ({
  id: row.commit.id,
  icon: GitCommitHorizontal,
  name: say.firstLine(commitName(row), 120),
  hint: `${say.shortId(row.commit.id)} · ${say.when(row.commit.createdAt)}`,
  act: () => go({ view: 'chain', commit: row.commit.id, entry: undefined }),
});

function Entries({ entries, sessions, limit, onMore }: Pick<Found, 'entries' | 'sessions'> & { limit: number; onMore: (() => void) | undefined }) {
  if (!entries) return null;
  const { hits, total, isExact } = entries;
  return (
    <>
      {hitsBySession(hits).map(([sessionId, own]) => {
        const session = sessions.find((one) => one.sessionId === sessionId);
        const name = session ? `${say.firstLine(session.title, 80)} · ${agentName(session.agent)}` : 'Without a session';
        return <Group key={sessionId} name={`${name} (${own.length})`} items={own.map(entryItem)} />;
      })}
      {onMore && hits.length >= limit && total > limit && (
        <Group
          name={`${isExact ? '' : 'Over '}${say.exact(total)} entries`}
          items={[{ name: 'Show more entries', icon: ChevronDown, stays: true, act: onMore }]}
        />
      )}
    </>
  );
}

const entryItem = (hit: SearchHit): ItemProps => ({
  id: `${hit.commit} ${hit.entryKey}`,
  icon: familyIcons[kindFamily(hit)],
  name: hit.snippet,
  shown: hitPieces(hit).map(({ at, text, isMatch }) => (isMatch ? <mark key={at}>{text}</mark> : <span key={at}>{text}</span>)),
  hint: `${speaker(hit)} · ${say.when(hit.at)}`,
  act: () => openHit(hit),
});

const sessionItem = ({ sessionId, parentSessionId, live, title, agent, lastAt, tips }: SessionRow): ItemProps => ({
  id: sessionId,
  icon: live ? Radio : MessagesSquare,
  name: say.firstLine(title, 100),
  hint: `${agentName(agent)} · ${live ? 'live' : say.when(lastAt)}`,
  act: () => go({ view: 'chain', session: parentSessionId ?? sessionId, commit: tips[0], against: undefined, entry: undefined }),
});

const projectItem = ({ dir, name }: Found['projects'][number]): ItemProps => ({
  id: dir,
  icon: FolderOpen,
  name,
  hint: dir,
  act: () => showProject(dir),
});

const sampleItem: ItemProps = { icon: Sparkles, name: 'Open the sample project', act: () => void openSample() };

const windowItems: readonly ItemProps[] = [
  { icon: Sun, name: 'Theme: light', act: () => setLook({ theme: 'light' }) },
  { icon: Moon, name: 'Theme: dark', act: () => setLook({ theme: 'dark' }) },
  { name: 'Theme: as the system', act: () => setLook({ theme: 'system' }) },
  { icon: FileInput, name: 'Imports', act: () => show({ kind: 'imports' }) },
  { icon: CircleHelp, name: 'What the words mean', act: () => show({ kind: 'words' }) },
  { icon: Keyboard, name: 'Keyboard shortcuts', keys: '?', act: () => show({ kind: 'keys' }) },
];

const Group = ({ name, items }: { name: string; items: readonly ItemProps[] }) =>
  items.length > 0 && (
    <Command.Group heading={name}>
      {items.map((item) => (
        <Item key={item.id ?? item.name} {...item} />
      ))}
    </Command.Group>
  );

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
