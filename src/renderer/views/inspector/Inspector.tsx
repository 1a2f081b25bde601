import { BookOpen, Ellipsis, GitCompareArrows, GitFork, MousePointerClick, Pencil, Play } from 'lucide-react';
import { useEffect, useMemo, useRef, useState } from 'react';
import type { ContextId, Entry, Stop } from '../../../core/contract/index.js';
import { api } from '../../client';
import {
  Answer,
  agentOf,
  agents,
  Button,
  blocksOf,
  Empty,
  Facts,
  familyOf,
  IconButton,
  Id,
  kindNames,
  MenuButton,
  markNames,
  notifyProblem,
  say,
  TokenBar,
  TokenLegend,
} from '../../parts';
import {
  entriesOf,
  go,
  jumpTo,
  move,
  notify,
  outlineOf,
  refreshProject,
  type ShownCommit,
  show,
  type TicketAtCommit,
  useChainFacts,
  useKept,
  useNavigation,
  useProject,
  useQuery,
  useRanges,
  useReading,
  useTicketsAtCommits,
} from '../../state';
import { commitActions } from '../actions';
import { seamsOf, turnsOf } from '../context';

/** Everything about what is selected: a commit, and in the context view also the entry and the turns around it. */
export function Inspector({ project }: { project: string }) {
  const { commit, view, entry, stop = 'compaction', unsent: wanted } = useNavigation(({ route }) => route);
  const revision = useProject((state) => state.revision);
  const query = useKept(
    useQuery(commit ? `${project} ${commit} ${revision}` : null, () => api.context.show({ id: commit as ContextId })),
    `${project} ${commit}`,
  );
  if (!commit) {
    return (
      <Empty title="Nothing selected" picture={<MousePointerClick size={36} strokeWidth={1} />}>
        Select a commit to see what is in it.
      </Empty>
    );
  }
  return (
    <div className="inspector">
      {view === 'context' && <Turns project={project} commit={commit} stop={stop} unsent={wanted === 'yes'} />}
      {view === 'context' && entry && <EntryFacts project={project} commit={commit} stop={stop} unsent={wanted === 'yes'} entry={entry} />}
      <Answer query={query} what={`Nothing can be said about ${say.shortId(commit)}`} loading="Reading the commit" lines={6}>
        {(shown) => <CommitFacts project={project} commit={shown} />}
      </Answer>
    </div>
  );
}

function CommitFacts({ project, commit }: { project: string; commit: ShownCommit }) {
  const { view } = useNavigation(({ route }) => route);
  const children = commit.children;
  const tickets = useTicketsAtCommits(project, [commit.id]).get(commit.id) ?? [];
  const agent = agentOf(commit.format);
  const startedBy = useChainFacts(
    project,
    useNavigation(({ route }) => route.session),
  ).callOfSubagent.get(commit.id);
  return (
    <section aria-label="Commit">
      <h2 className="inspector-head">
        <Id id={commit.id} what="commit id" />
        <span className="grow" />
        <span className="badge">{commit.type}</span>
        <MenuButton label="More" button={<IconButton small icon={Ellipsis} label="More actions" />} items={commitActions(commit)} />
      </h2>
      <SummaryOf key={commit.id} commit={commit} />
      <div className="inspector-actions">
        {view !== 'context' && (
          <Button small look="primary" icon={BookOpen} onClick={() => go({ view: 'context', commit: commit.id, entry: undefined, stop: undefined })}>
            Open
          </Button>
        )}
        <Button small icon={GitFork} onClick={() => show({ kind: 'fork', commit: commit.id, stop: 'compaction' })}>
          Fork
        </Button>
        {commit.parent && (
          <Button
            small
            icon={GitCompareArrows}
            title="Compare with parent"
            onClick={() => go({ view: 'diff', commit: commit.id, against: commit.parent ?? undefined, entry: undefined })}
          >
            Diff
          </Button>
        )}
        <Button small icon={Play} title={`Resume in ${agents[agent].name}`} onClick={() => show({ kind: 'resume', commit: commit.id, agent })}>
          Resume
        </Button>
      </div>
      <Inside project={project} commit={commit} />
      <Facts
        rows={[
          [
            'Made',
            <time key="made" dateTime={commit.createdAt}>
              {say.instant(commit.createdAt)}
            </time>,
          ],
          ['Agent', commit.template],
          commit.principal ? ['By', <Principal key="by" name={commit.principal} />] : undefined,
          commit.sessionId ? ['Session', <Id key="session" id={commit.sessionId} what="session id" />] : undefined,
          [
            'Format',
            <span key="format" className="mono">
              {commit.format}
            </span>,
          ],
          ['Cut at', commit.checkpoint.replace('_', ' ')],
          ['Holds', `${say.plural(commit.messageCount, 'message')}, ${say.tokens(commit.tokenCount)}`],
          startedBy ? ['Started by', <CallLink key="started" started={startedBy} />] : undefined,
          ['Depth', say.exact(commit.depth)],
          ['Parent', commit.parent ? <CommitLink key="parent" id={commit.parent} /> : 'none: the chain begins here'],
          children.length > 0
            ? [children.length === 1 ? 'Child' : 'Children', children.map((id) => <CommitLink key={id} id={id} />)]
            : ['Children', 'none: this is a tip'],
          tickets.length > 0 ? [tickets.length === 1 ? 'Ticket' : 'Tickets', <TicketsOf key="tickets" tickets={tickets} />] : undefined,
          commit.tags.length > 0 ? ['Tags', commit.tags.join(', ')] : undefined,
        ]}
      />
    </section>
  );
}

/** Whose commit it is: a name for machines in short, a path in full. */
const Principal = ({ name }: { name: string }) =>
  say.isMachineName(name) ? <Id id={name} what="principal" /> : <span className="principal">{name}</span>;

const CommitLink = ({ id }: { id: ContextId }) => (
  <button type="button" className="link-button mono commit-link" onClick={() => go({ commit: id, entry: undefined })}>
    {say.shortId(id)}
  </button>
);

/** The tickets that were written or discussed with a commit. */
const TicketsOf = ({ tickets }: { tickets: readonly TicketAtCommit[] }) =>
  tickets.map(({ ticketId, title, how }) => (
    <button
      key={`${ticketId} ${how}`}
      type="button"
      className="link-button commit-link"
      title={`${how} here: ${title}`}
      onClick={() => go({ view: 'reviews', ticket: ticketId })}
    >
      <span className="mono">{ticketId}</span> {say.firstLine(title, 60)}
    </button>
  ));

/** The call that started a subagent, in the conversation that it was made in. */
const CallLink = ({ started }: { started: { commit: ContextId; toolCallId: string } }) => (
  <button
    type="button"
    className="link-button commit-link"
    onClick={() => go({ view: 'context', commit: started.commit, entry: undefined, stop: undefined })}
  >
    a call in <span className="mono">{say.shortId(started.commit)}</span>
  </button>
);

/** The commit's words, which a person may change: they are its name. */
function SummaryOf({ commit }: { commit: ShownCommit }) {
  const [editing, setEditing] = useState(false);
  const [text, setText] = useState(commit.summary ?? '');
  const save = async () => {
    try {
      await api.context.update({ id: commit.id, summary: text });
      setEditing(false);
      await refreshProject();
      notify('Renamed');
    } catch (error) {
      notifyProblem(error);
    }
  };
  if (!editing) {
    return (
      <div className="inspector-summary">
        <p>{commit.summary || <span className="muted">No words were recorded.</span>}</p>
        <IconButton small icon={Pencil} label="Change the name" onClick={() => setEditing(true)} />
      </div>
    );
  }
  return (
    <form
      className="inspector-rename"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <textarea
        // biome-ignore lint/a11y/noAutofocus: opened to be typed into
        autoFocus
        className="field"
        aria-label="Name of the commit"
        rows={3}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') setEditing(false);
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) void save();
          event.stopPropagation();
        }}
      />
      <Button small type="submit" look="primary">
        Save
      </Button>
      <Button small onClick={() => setEditing(false)}>
        Cancel
      </Button>
    </form>
  );
}

/** The tokens of the whole context at this commit, and what this commit itself brought: prompt, tools, last words. */
function Inside({ project, commit }: { project: string; commit: ShownCommit }) {
  // Arrowing through a list asks only for where one rests.
  const [resting, setResting] = useState<ContextId>();
  useEffect(() => {
    const timer = setTimeout(() => setResting(commit.id), 140);
    return () => clearTimeout(timer);
  }, [commit.id]);
  const query = useQuery(resting === commit.id ? `${project} ${commit.id}` : null, () => outlineOf(project, commit.id, 'compaction'));
  const outline = query.status === 'done' ? query.data : undefined;
  const own = useMemo(() => outline?.rows.filter((row) => row.commit === commit.id) ?? [], [outline, commit.id]);
  const seams = useMemo(() => seamsOf(outline?.rows ?? []), [outline]);
  const tools = useMemo(() => {
    const counts = new Map<string, number>();
    for (const row of own) if (row.kind === 'tool_call') counts.set(row.head ?? 'tool', (counts.get(row.head ?? 'tool') ?? 0) + 1);
    return [...counts].sort((a, b) => b[1] - a[1]);
  }, [own]);
  const lastWords = own.findLast((row) => row.role === 'assistant' && row.kind === 'text')?.head;
  if (query.status === 'failed') return <p className="notice-line error">Its context cannot be read.</p>;
  if (!outline) return <div className="inspector-inside placeholder" aria-hidden />;
  const firstOwn = outline.rows.findIndex((row) => row.commit === commit.id);
  return (
    <div className="inspector-inside">
      <h3>
        Context <span className="muted">{say.tokens(outline.tokens)}</span>
      </h3>
      <TokenBar
        rows={outline.rows}
        from={Math.max(0, firstOwn)}
        to={Math.max(0, firstOwn) + own.length}
        seams={seams}
        onJump={(entry) => go({ view: 'context', commit: commit.id, entry: outline.rows[entry]?.key, stop: undefined })}
      />
      <TokenLegend rows={outline.rows} />
      {tools.length > 0 && (
        <p className="muted">
          {tools.slice(0, 6).map(([name, times], n) => (
            <span key={name}>
              {n > 0 && ', '}
              <span className="mono">{name}</span>
              {times > 1 && ` × ${times}`}
            </span>
          ))}
          {tools.length > 6 && `, ${tools.length - 6} other tools`}
        </p>
      )}
      {lastWords && <p className="last-words">{lastWords}</p>}
    </div>
  );
}

/** The turns of the open context, as its outline. */
function Turns({ project, commit, stop, unsent }: { project: string; commit: ContextId; stop: Stop; unsent: boolean }) {
  const query = useQuery(`${project} ${commit} ${stop} ${unsent}`, () => outlineOf(project, commit, stop, unsent));
  const rows = query.status === 'done' ? query.data.rows : undefined;
  const session = useNavigation(({ route }) => route.session);
  const { summaries } = useChainFacts(project, session);
  const turns = useMemo(() => (rows ? turnsOf(rows, blocksOf(rows), summaries) : []), [rows, summaries]);
  const from = useReading((reading) => reading.from);
  const current = Math.max(
    0,
    turns.findLastIndex((turn) => turn.firstEntry <= from),
  );
  const list = useRef<HTMLOListElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the list follows what is read
  useEffect(() => {
    list.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' });
  }, [current, turns]);
  if (turns.length === 0) return null;
  return (
    <nav aria-label="Turns" className="turns">
      <h3>
        Turns <span className="muted">{turns.length}</span>
      </h3>
      <ol ref={list}>
        {turns.map((turn, n) => (
          <li key={turn.commit}>
            <button
              type="button"
              className="turn"
              aria-current={n === current || undefined}
              title={turn.head}
              onClick={() => {
                jumpTo(turn.firstEntry);
                move({ entry: rows?.[turn.firstEntry]?.key });
              }}
            >
              <span className="turn-number muted">{n + 1}</span>
              <span className={`ellipsis grow${turn.summary ? ' turn-summary' : ''}`}>{say.firstLine(turn.head, 90)}</span>
              {turn.errors > 0 && <span className="chain-errors">{turn.errors}</span>}
              <span className="muted turn-tokens">{say.compact(turn.tokens)}</span>
            </button>
          </li>
        ))}
      </ol>
    </nav>
  );
}

function EntryFacts({
  project,
  commit,
  stop,
  unsent,
  entry: key,
}: {
  project: string;
  commit: ContextId;
  stop: Stop;
  unsent: boolean;
  entry: string;
}) {
  const query = useQuery(`${project} ${commit} ${stop} ${unsent}`, () => outlineOf(project, commit, stop, unsent));
  const index = query.status === 'done' ? query.data.rows.findIndex((row) => row.key === key) : -1;
  const entry: Entry | undefined = useRanges(entriesOf(project, commit, stop, unsent)).at(Math.max(0, index));
  if (index < 0 || !entry) return null;
  const { marks = [] } = entry;
  return (
    <section aria-label="Entry" className={`kind-${familyOf(entry)}`}>
      <h3>
        <span className="entry-name">{kindNames[entry.kind]}</span>{' '}
        <span className="muted">
          {say.exact(index + 1)} of {query.status === 'done' ? say.exact(query.data.total) : ''}
        </span>
      </h3>
      <Facts
        rows={[
          ['Key', <Id key="key" id={entry.key} what="entry key" />],
          ['Role', entry.role],
          entry.toolName ? ['Tool', entry.toolName] : undefined,
          entry.toolCallId ? ['Call', <Id key="call" id={entry.toolCallId} what="call id" />] : undefined,
          entry.author ? ['Author', entry.author] : undefined,
          ['Tokens', `≈ ${say.exact(entry.tokens)}`],
          ['Time', entry.at ? say.instant(entry.at) : 'not recorded'],
          ['Commit', <CommitLink key="commit" id={entry.source.commit} />],
          marks.length > 0 ? ['Marks', marks.map((mark) => markNames[mark] ?? mark).join(', ')] : undefined,
        ]}
      />
    </section>
  );
}
