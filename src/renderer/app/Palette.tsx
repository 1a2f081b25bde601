import { Dialog } from '@base-ui/react/dialog';
import { Command } from 'cmdk';
import { ChevronDown, FileInput, FolderOpen, GitCommitHorizontal, Keyboard, ListChecks, MessagesSquare, Moon, Sparkles, Sun } from 'lucide-react';
import { Children, type ReactNode, useEffect, useMemo, useState } from 'react';
import type { ContextId, GraphRow } from '../../core/contract/index.js';
import { api } from '../client';
import { familyIcons, familyOf, type Icon, say, speaker, statusNames } from '../parts';
import { chainOf, dismiss, go, setTheme, show, useKept, useNavigation, useOpenDir, useProject, useQuery, useTickets } from '../state';
import { commitActions } from '../views/actions';
import { importPaths, openSample, showProject } from '../views/library';
import { hitPieces } from './hit';
import { viewNames } from './views';

const shownCommits = 30;
const shownHits = 30;
const mostEver = 500;
const shownTickets = 8;
const searchAfterMs = 150;

/** One box to search, jump and do. */
export function Palette() {
  const [words, setWords] = useState('');
  const [mostHits, setMostHits] = useState(shownHits);
  const dir = useOpenDir();
  const revision = useProject((state) => state.revision);
  const ticketRevision = useTickets((state) => state.revision);
  const { commit, against, session } = useNavigation(({ route }) => route);
  const recent = useQuery('recent', () => api.library.recent({}));
  const sources = useKept(
    useQuery(dir ? `sources ${revision}` : null, () => api.source.list({})),
    dir,
  );
  const needle = words.trim().toLowerCase();
  const has = (text: string) => text.toLowerCase().includes(needle);
  const typedId = /^ctx-[0-9a-f]{4,64}$/.test(needle) ? (needle as ContextId) : undefined;
  const typedPath = /^(\/|~|[a-z]:[\\/])/i.test(words.trim()) ? words.trim() : undefined;

  const commits = useMemo(() => {
    if (!dir || needle.length < 2) return [];
    const rows = chainOf(dir, session, revision);
    const found: GraphRow[] = [];
    for (let n = 0; n < (rows.total() ?? 0) && found.length < shownCommits; n++) {
      const row = rows.at(n);
      if (row && `${row.commit.summary ?? ''}\n${row.tipOf ?? ''}\n${row.commit.id}`.toLowerCase().includes(needle)) found.push(row);
    }
    return found;
  }, [dir, session, revision, needle]);

  // What was said anywhere in the project; asked for when the typing rests.
  const rested = useRested(words.trim(), searchAfterMs);
  const said = useKept(
    useQuery(dir && rested.length >= 3 && /[\p{L}\p{N}]/u.test(rested) ? `${dir} ${revision} ${rested} ${mostHits}` : null, (signal) =>
      api.search.query({ text: rested, limit: mostHits }, { signal }),
    ),
    `${dir} ${rested}`,
  );
  const hits = said.status === 'done' ? said.data : undefined;
  const tickets = useQuery(dir && rested.length >= 2 ? `${dir} tickets ${ticketRevision} ${rested}` : null, (signal) =>
    api.ticket.overview({ text: rested, limit: shownTickets }, { signal }),
  );

  const shown = commit ? { id: commit, parent: null, format: '' } : undefined;
  const parent = useQuery(commit ? `show ${commit}` : null, () => api.context.show({ id: commit as ContextId }));
  const actions = shown
    ? commitActions(parent.status === 'done' ? parent.data : shown, against).filter((item) => item !== 'line' && !item.disabled && has(item.name))
    : [];

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
                setMostHits(shownHits);
              }}
              placeholder="Search entries, commits, tickets, sessions, projects, actions…"
            />
            <Command.List>
              <Command.Empty>Nothing found. Find inside a context with / while it is open.</Command.Empty>
              <Group name="Go to">
                {typedId && (
                  <Item
                    icon={GitCommitHorizontal}
                    name={`Commit ${typedId}`}
                    act={() => go({ view: 'context', commit: typedId, entry: undefined, stop: undefined })}
                  />
                )}
                {typedPath && <Item icon={FileInput} name={`Import ${typedPath}`} act={() => void importPaths([typedPath], true)} />}
                {viewNames
                  .filter(([, name]) => has(name))
                  .map(([view, name, icon, keys]) => (
                    <Item key={view} icon={icon} name={name} keys={keys} act={() => go({ view })} />
                  ))}
              </Group>
              {commit && actions.length > 0 && (
                <Group name={`Commit ${say.shortId(commit)}`}>
                  {actions.map(
                    (item) =>
                      item !== 'line' && (
                        <Item
                          key={item.name}
                          name={item.name}
                          {...(item.icon && { icon: item.icon })}
                          {...(item.keys && { keys: item.keys })}
                          act={item.act}
                        />
                      ),
                  )}
                </Group>
              )}
              <Group name="Tickets">
                {tickets.status === 'done' &&
                  tickets.data.rows.map((ticket) => (
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
              <Group name="Commits">
                {commits.map((row) => (
                  <Item
                    key={row.commit.id}
                    icon={GitCommitHorizontal}
                    name={say.firstLine(row.commit.summary ?? row.commit.id, 120)}
                    hint={`${say.shortId(row.commit.id)} · ${say.when(row.commit.createdAt)}`}
                    id={row.commit.id}
                    act={() => go({ view: 'chain', commit: row.commit.id, entry: undefined })}
                  />
                ))}
              </Group>
              <Group name={hits && hits.total > hits.hits.length ? `Entries (${hits.isExact ? '' : 'over '}${say.exact(hits.total)})` : 'Entries'}>
                {hits?.hits.map((hit) => (
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
                {hits && hits.hits.length >= mostHits && hits.total > mostHits && mostHits < mostEver && (
                  <Item name="Show more entries" icon={ChevronDown} stays act={() => setMostHits(Math.min(mostEver, mostHits * 4))} />
                )}
              </Group>
              <Group name="Sessions">
                {sources.status === 'done' &&
                  sources.data
                    .filter((source) => needle && has(`${source.title ?? ''} ${source.path}`))
                    .slice(0, 12)
                    .map((source) => (
                      <Item
                        key={source.sourceId}
                        id={source.sourceId}
                        icon={MessagesSquare}
                        name={say.firstLine(source.title ?? source.path, 100)}
                        act={() => go({ view: 'chain', session: source.sessionId, commit: source.tips.at(-1), entry: undefined })}
                      />
                    ))}
              </Group>
              <Group name="Projects">
                {recent.status === 'done' &&
                  recent.data
                    .filter((project) => !project.missing && has(`${project.name} ${project.dir}`))
                    .slice(0, 8)
                    .map((project) => (
                      <Item
                        key={project.dir}
                        id={project.dir}
                        icon={FolderOpen}
                        name={project.name}
                        hint={project.dir}
                        act={() => showProject(project.dir)}
                      />
                    ))}
                {has('Open the sample project') && <Item icon={Sparkles} name="Open the sample project" act={() => void openSample()} />}
              </Group>
              <Group name="Window">
                {has('Theme: light') && <Item icon={Sun} name="Theme: light" act={() => setTheme('light')} />}
                {has('Theme: dark') && <Item icon={Moon} name="Theme: dark" act={() => setTheme('dark')} />}
                {has('Theme: as the system') && <Item name="Theme: as the system" act={() => setTheme('system')} />}
                {has('Imports') && <Item icon={FileInput} name="Imports" act={() => show({ kind: 'imports' })} />}
                {has('Keyboard shortcuts') && <Item icon={Keyboard} name="Keyboard shortcuts" keys="?" act={() => show({ kind: 'keys' })} />}
              </Group>
            </Command.List>
          </Command>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

/** A value once it has not changed for a while. */
function useRested<T>(value: T, ms: number): T {
  const [rested, setRested] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setRested(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return rested;
}

/** A heading over nothing is not shown. */
const Group = ({ name, children }: { name: string; children: ReactNode }) =>
  Children.toArray(children).length > 0 ? <Command.Group heading={name}>{children}</Command.Group> : null;

interface ItemProps {
  readonly name: string;
  /** What stands for the name in the list. */
  readonly shown?: ReactNode;
  /** The palette stays open. */
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
