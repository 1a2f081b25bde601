import { BookOpen, CirclePlay, Ellipsis, Pencil } from 'lucide-react';
import { useEffect } from 'react';
import type { CommitPlace, ContextId, RowFacts } from '../../../core/contract/index.js';
import { runForm } from '../../forms';
import {
  agents,
  attempt,
  Button,
  Damaged,
  DetailsOnDemand,
  Estimate,
  Facts,
  findAgent,
  IconButton,
  Id,
  JobLinks,
  LinkButton,
  MenuButton,
  type MenuEntry,
  runByKey,
  say,
  When,
} from '../../parts';
import {
  ask,
  type ChainFacts,
  go,
  openComparison,
  openContext,
  type ShownCommit,
  show,
  type TicketAtCommit,
  useChainFacts,
  useNavigation,
  usePlace,
  useRowFacts,
  useTicketsAtCommits,
  useTurnNumbers,
  useUi,
} from '../../state';
import { commitActions, editOrFork } from '../actions';
import { CompactionLoss } from '../CompactionLoss';
import { compareWithOriginal } from '../original';
import { ContextSummary } from './ContextSummary';
import { CommitLink } from './EntryFacts';
import { FilesTouched } from './FilesTouched';
import { SummaryField, SummaryHistory } from './Summary';

/** Everything known about a commit, with the actions on it. */
export function CommitFacts({ project, commit }: { project: string; commit: ShownCommit }) {
  const { view, against } = useNavigation(({ route }) => route);
  const tickets = useTicketsAtCommits(project, [commit.id]).get(commit.id) ?? [];
  const agent = findAgent(commit.format);
  const chain = useChainFacts(project);
  const facts = useRowFacts(project, [commit.id]).get(commit.id);
  const startedBy = chain.callOfSubagent.get(commit.id);
  const forked = chain.forks.has(commit.id);
  const actions = commitActions(commit, view === 'chain' ? against : undefined, { forked });
  useShownKeys(actions);
  return (
    <section aria-label="Commit">
      <h2 className="inspector-head row gap-6 muted small">
        <Place project={project} commit={commit} />
        {forked && <span className="badge fork-badge">fork</span>}
        <span className="grow" />
        <When at={commit.createdAt} className="muted" />
        <MenuButton label="More" button={<IconButton small icon={Ellipsis} label="More actions" />} items={actions} />
      </h2>
      {commit.damaged && <Damaged />}
      <SummaryField key={commit.id} commit={commit} />
      <div className="inspector-actions row wrap gap-6">
        {view !== 'context' && <Button small look="primary" icon={BookOpen} label="Open context" onClick={() => openContext(commit.id)} />}
        <Button small icon={Pencil} label="Edit &amp; fork" title="Edit the prompt of this turn and fork" onClick={() => editOrFork(commit.id)} />
        {forked && (
          <Button
            small
            icon={CirclePlay}
            label="Run here…"
            title="Let a model or an agent answer this fork"
            onClick={() => ask(runForm({ commit: commit.id }, 'Run here'))}
          />
        )}
        {forked && <Button small label="Compare" title="Compare with the original" onClick={attempt(() => compareWithOriginal(commit.id))} />}
        <Button small label="Resume" title={`Resume in ${agents[agent].name}`} onClick={() => show({ kind: 'resume', commit: commit.id, agent })} />
      </div>
      <Handed project={project} commit={commit} />
      <WorkFacts facts={facts} commit={commit} />
      {commit.type === 'compaction' && view !== 'context' && <CompactionLoss key={`${commit.id} loss`} project={project} commit={commit.id} />}
      <ContextSummary project={project} commit={commit} />
      <FilesTouched project={project} commit={commit} facts={facts} />
      <ForksHere commit={commit} facts={chain} />
      <Facts
        rows={{
          'Started by': startedBy && <CallLink started={startedBy} />,
          [tickets.length === 1 ? 'Ticket' : 'Tickets']: tickets.length > 0 && <TicketsOf tickets={tickets} />,
          Tags: commit.tags.length > 0 && commit.tags.join(', '),
        }}
      />
      <JobLinks project={project} isOf={({ what, commits }) => commits.includes(commit.id) || ('commit' in what && what.commit === commit.id)} />
      <Provenance commit={commit} />
      <DetailsOnDemand key={`${commit.id} changes`} className="provenance" summary="Changes and starts">
        {() => <SummaryHistory project={project} commit={commit} />}
      </DetailsOnDemand>
    </section>
  );
}

/** The keys that the inspector's menu shows, wherever the focus is. Enter and keys that the view needs for itself stay with them. */
function useShownKeys(actions: readonly MenuEntry[]): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      const { target, key, ctrlKey, metaKey, altKey } = event;
      if (event.defaultPrevented || key === 'Enter' || ctrlKey || metaKey || altKey || useUi.getState().sheet) return;
      if (!(target instanceof HTMLElement) || (target === document.body && document.querySelector('[data-list]'))) return;
      if (target.isContentEditable || target.closest('input, textarea, select, [role="menu"], [role="dialog"], [role="alertdialog"]')) return;
      if (runByKey(actions, key)) event.preventDefault();
    };
    addEventListener('keydown', onKeyDown);
    return () => removeEventListener('keydown', onKeyDown);
  }, [actions]);
}

/** The kind of a commit in words: its turn on its branch, or a compaction or snapshot. */
function Place({ project, commit }: { project: string; commit: ShownCommit }) {
  const { numbers, of } = useTurnNumbers(project, commit.id);
  if (commit.type === 'compaction') return <>Compaction</>;
  if (commit.type === 'snapshot') return <>Snapshot</>;
  const turn = numbers.get(commit.id);
  return <>{turn === undefined ? 'Commit' : `Turn ${turn} of ${of}`}</>;
}

/** The work of the agent in this commit, and its cost. */
function WorkFacts({ facts, commit }: { facts: RowFacts | undefined; commit: ShownCommit }) {
  if (!facts)
    return (
      <div className="work-facts placeholder">
        <p className="loading-words muted">Loading the figures…</p>
      </div>
    );
  const { model, ms, counted, cost, tools } = facts;
  const missing = commit.type === 'delta' ? 'not recorded' : 'none';
  return (
    <div className="work-facts">
      <Facts
        rows={{
          Model: model ?? <span className="muted">{missing}</span>,
          Duration: ms === null ? <span className="muted">not recorded</span> : say.duration(ms),
          Cost: cost ? (
            <span title={`The calls of this commit, at API prices of ${cost.priceDate}`}>{say.money(cost)}</span>
          ) : (
            <span className="muted">{counted ? 'no price' : missing}</span>
          ),
          'Tool calls': tools === 0 ? 'none' : say.exact(tools),
        }}
      />
    </div>
  );
}

const kindWords: Readonly<Record<ShownCommit['type'], string>> = {
  delta: 'delta: adds to its parent',
  compaction: 'compaction: replaces what came before by a summary',
  snapshot: 'snapshot: holds a whole context',
};

const folded = 'stemma.provenance';

/** Ids, formats and positions in the chain, folded until a person opens them. */
function Provenance({ commit }: { commit: ShownCommit }) {
  const { children } = commit;
  return (
    <details
      className="provenance"
      open={localStorage.getItem(folded) === 'open'}
      onToggle={({ currentTarget }) => localStorage.setItem(folded, currentTarget.open ? 'open' : 'closed')}
    >
      <summary>Ids and format</summary>
      <Facts
        rows={{
          Commit: <Id id={commit.id} what="commit id" />,
          Kind: kindWords[commit.type],
          Created: <time dateTime={commit.createdAt}>{say.instant(commit.createdAt)}</time>,
          Agent: commit.template,
          By: commit.principal ? <Principal name={commit.principal} /> : false,
          Machine: commit.machine || false,
          Session: commit.sessionId ? <Id id={commit.sessionId} what="session id" /> : false,
          Format: <span className="mono">{commit.format}</span>,
          Checkpoint: commit.checkpoint.replace('_', ' '),
          Contains: (
            <span>
              {say.plural(commit.messageCount, 'message')}, <Estimate of={commit.tokenCount} />
            </span>
          ),
          Depth: say.exact(commit.depth),
          Parent: commit.parent ? <CommitLink id={commit.parent} /> : 'none (first commit)',
          [children.length === 1 ? 'Child' : 'Children']:
            children.length > 0 ? children.map((id) => <CommitLink key={id} id={id} />) : 'none (newest of its branch)',
        }}
      />
    </details>
  );
}

/** The principal of a commit. A name without meaning to people is shortened; a path is shown in full. */
const Principal = ({ name }: { name: string }) =>
  say.isMachineName(name) ? <Id id={name} what="principal" /> : <span className="principal">{name}</span>;

const TicketsOf = ({ tickets }: { tickets: readonly TicketAtCommit[] }) =>
  tickets.map(({ ticketId, title, how }) => (
    <LinkButton
      key={`${ticketId} ${how}`}
      className="commit-link"
      title={`${how} here: ${title}`}
      onClick={() => go({ view: 'reviews', ticket: ticketId })}
    >
      <span className="mono">{say.shortId(ticketId)}</span> {say.firstLine(title, 60)}
    </LinkButton>
  ));

const CallLink = ({ started }: { started: { commit: ContextId; toolCallId: string } }) => (
  <LinkButton className="commit-link" onClick={() => openContext(started.commit)}>
    call in <span className="mono">{say.shortId(started.commit)}</span>
  </LinkButton>
);

/** What became of a fork, or of a context that an agent was asked to continue. */
function Handed({ project, commit }: { project: string; commit: ShownCommit }) {
  const handed = usePlace(project, commit.id).data?.handed;
  const words = handed ? handedWords(handed, commit.children.length === 0) : [];
  if (words.length === 0) return null;
  return (
    <section className="small" aria-label="What happened">
      {words.map((text) => (
        <p key={text} className="muted">
          {text}
        </p>
      ))}
    </section>
  );
}

/** What became of a fork in words. `isEnd`: nothing continues it yet. */
export function handedWords({ waiting, ends, fileGone }: NonNullable<CommitPlace['handed']>, isEnd: boolean): readonly string[] {
  const words: string[] = [];
  if (isEnd && ends === 'prompt')
    words.push(waiting > 0 ? 'An agent was asked to continue here and has not answered yet.' : 'Nobody has answered this prompt yet.');
  if (isEnd && ends === 'work') words.push('The agent is still at work, or it was stopped in the middle.');
  if (fileGone) words.push('The session file of the agent is gone. What was read from it stays here.');
  return words;
}

/** The forks that replace or continue a commit, each with a link to the comparison. */
function ForksHere({ commit, facts }: { commit: ShownCommit; facts: ChainFacts }) {
  const after = (id: ContextId | null): readonly ContextId[] => (id === null ? [] : (facts.forksAfter.get(id) ?? []));
  // The answer to a fork is the fork's own turn.
  const forks = facts.forks.has(commit.id) ? after(commit.id) : [...after(commit.id), ...after(commit.parent)];
  if (forks.length === 0) return null;
  return (
    <section className="commit-list" aria-label="Forks of this turn">
      <h3>
        Forks of this turn <span className="muted">{say.exact(forks.length)}</span>
      </h3>
      <ul className="small">
        {forks.map((id) => (
          <li key={id} className="row gap-6">
            <LinkButton className="ellipsis grow" title={facts.summaries.get(id) ?? id} onClick={() => go({ commit: id, entry: undefined })}>
              {say.firstLine(facts.summaries.get(id) ?? 'No title', 80)}
            </LinkButton>
            <LinkButton label="Compare" onClick={() => openComparison(id, commit.id)} />
          </li>
        ))}
      </ul>
    </section>
  );
}
