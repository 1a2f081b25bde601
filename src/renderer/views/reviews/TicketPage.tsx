import { ArrowRightLeft, ChevronLeft, Flag, MessageCircleQuestion, Pencil, UserPlus } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import {
  type Ticket,
  type TicketEvent,
  type TicketRow,
  type TicketStatus,
  type TicketThread,
  type TicketVersion,
  ticketMoves,
} from '../../../core/contract/index.js';
import { api } from '../../client';
import { Answer, Button, type Icon, IconButton, Id, JobLinks, Markdown, say, When } from '../../parts';
import { go, notify, useProjectQuery, useTickets } from '../../state';
import { MoveSheet, ReviewersSheet, VerdictSheet } from './MoveSheet';
import { ContextLink, Findings, Labels, openTicket, StatusMark, TicketLink, TypeMark, verdictColors } from './marks';
import { Thread } from './Thread';
import { TicketSheet } from './TicketSheet';
import { Start } from './Waiting';
import { changeWords, moveName, verdictNames, whyNotClosed } from './words';
import { Actor } from './writing';

type Asked =
  | { readonly kind: 'move'; readonly to: TicketStatus }
  | { readonly kind: 'edit' | 'finding' | 'child' | 'reviewers' }
  | { readonly kind: 'verdict'; readonly reviewer: string };

const childrenShown = 100;

async function read(ticketId: string, limit: number) {
  const [ticket, thread, children, events, { people }] = await Promise.all([
    api.ticket.get({ ticketId }),
    api.ticket.thread({ ticketId }),
    api.ticket.overview({ parent: ticketId, limit }),
    api.ticket.events({ ticketId }),
    api.ticket.facets({}),
  ]);
  const near = await api.ticket.overview({ ids: [...(ticket.parent ? [ticket.parent] : []), ...ticket.dependsOn] });
  return { ticket, thread, children, events, people, near: new Map(near.rows.map((each) => [each.ticketId, each])) };
}
type Read = Awaited<ReturnType<typeof read>>;

/** One ticket with its findings and versions, and beside it the discussion and the author's context. */
export function TicketPage({ project, ticketId }: { project: string; ticketId: string }) {
  const revision = useTickets((state) => state.revision);
  const [limit, setLimit] = useState(childrenShown);
  const [question, setQuestion] = useState('');
  const query = useProjectQuery('', `${project} ${ticketId} ${revision} ${limit}`, () => read(ticketId, limit));
  return (
    <section className="ticket-page whole" aria-label="Ticket">
      {query.status === 'failed' && (
        <nav className="ticket-back" aria-label="Place of this ticket">
          <AllTickets />
        </nav>
      )}
      <Answer query={query} what={`Cannot show ${ticketId}`} loading="Loading the ticket" lines={12} stillWorks="Other tickets can still be opened.">
        {(data) => (
          <>
            <Main project={project} data={data} onMore={() => setLimit(limit + childrenShown)} onAsk={setQuestion} />
            <Thread project={project} ticket={data.ticket} thread={data.thread} question={question} onQuestion={setQuestion} />
          </>
        )}
      </Answer>
    </section>
  );
}

const AllTickets = () => <Button small look="plain" icon={ChevronLeft} label="All tickets" onClick={() => go({ ticket: undefined })} />;

function Main({ project, data, onMore, onAsk }: { project: string; data: Read; onMore: () => void; onAsk: (question: string) => void }) {
  const { ticket, thread, children, events, near, people } = data;
  const [asked, setAsked] = useState<Asked>();
  const findings = children.rows.filter((child) => child.type === 'review_finding');
  const others = children.rows.filter((child) => child.type !== 'review_finding');
  const parent = ticket.parent ? near.get(ticket.parent) : undefined;
  const verification = ticket.status === 'closed' ? events.findLast((event) => event.task === 'verify_resolution') : undefined;
  const waiting = events.filter((event) => isAsked(event) && event !== verification);
  const close = (): void => setAsked(undefined);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling text must be reachable by keyboard
    <section className="ticket-main" tabIndex={0} aria-label={`${ticket.ticketId}: ${ticket.title}`}>
      <nav className="ticket-way row" aria-label="Place of this ticket">
        <AllTickets />
        {parent && <TicketLink id={parent.ticketId} title={parent.title} />}
        <span className="grow" />
        <Actor people={people} />
      </nav>
      <Head ticket={ticket} onAsk={setAsked} />
      <JobLinks project={project} isOf={({ ticketId }) => ticketId === ticket.ticketId} />
      <Moves ticket={ticket} onAsk={setAsked} />
      {ticket.body.trim() ? <Markdown text={ticket.body} /> : <p className="muted">No text.</p>}
      {ticket.resolution !== null && (
        <Resolution ticket={ticket} resolution={ticket.resolution} thread={thread} verification={verification} onAsk={onAsk} />
      )}
      {ticket.reviewers.length > 0 && <ReviewersOf ticket={ticket} onAsk={setAsked} />}
      {ticket.type !== 'review_finding' && (
        <Part
          name="Findings"
          note={<Findings findings={ticket.findings} />}
          act={ticket.status !== 'closed' && { name: 'New finding', icon: Flag, act: () => setAsked({ kind: 'finding' }) }}
        >
          {findings.length === 0 ? <p className="muted">No findings yet.</p> : <Children of={findings} />}
        </Part>
      )}
      {others.length > 0 && (
        <Part name="Child tickets">
          <Children of={others} />
        </Part>
      )}
      {children.total > children.rows.length && (
        <Button small look="plain" onClick={onMore}>
          {say.exact(children.total - children.rows.length)} more child tickets: show {Math.min(childrenShown, children.total - children.rows.length)}
        </Button>
      )}
      {ticket.dependsOn.length > 0 && (
        <Part name="Depends on">
          <Children of={ticket.dependsOn.flatMap((id) => near.get(id) ?? [])} />
        </Part>
      )}
      {waiting.length > 0 && (
        <Part name="Waiting">
          <ul>
            {waiting.map((event) => (
              <Start key={event.event} event={event} here />
            ))}
          </ul>
        </Part>
      )}
      <Versions versions={ticket.versions} />
      {asked?.kind === 'move' && <MoveSheet ticketId={ticket.ticketId} to={asked.to} onClose={close} />}
      {asked?.kind === 'edit' && <TicketSheet ticket={ticket} people={people} onClose={close} onSaved={() => notify('Saved')} />}
      {asked?.kind === 'finding' && <TicketSheet parent={ticket} people={people} onClose={close} onSaved={(id) => notify(`Created ${id}`)} />}
      {asked?.kind === 'reviewers' && <ReviewersSheet ticket={ticket} onClose={close} />}
      {asked?.kind === 'verdict' && <VerdictSheet ticket={ticket} reviewer={asked.reviewer} onClose={close} />}
    </section>
  );
}

interface PartProps {
  readonly name: string;
  readonly note?: ReactNode;
  readonly act?: false | { readonly name: string; readonly icon: Icon; readonly act: () => void };
  readonly children: ReactNode;
}

/** A part of the page under its own heading, with a note and a button beside it. */
const Part = ({ name, note, act, children }: PartProps) => (
  <section aria-label={name}>
    <h3>
      {name} {note}
      {act !== undefined && <span className="grow" />}
      {act && <Button small icon={act.icon} label={act.name} onClick={act.act} />}
    </h3>
    {children}
  </section>
);

interface AskingProps {
  readonly ticket: Ticket;
  /** Opens a sheet that changes the ticket. */
  readonly onAsk: (asked: Asked) => void;
}

function Head({ ticket, onAsk }: AskingProps) {
  return (
    <>
      <header className="ticket-head gap-8">
        <h2>{ticket.title}</h2>
        <IconButton
          icon={ArrowRightLeft}
          label="Hand over to an agent"
          onClick={() => go({ view: 'handover', handovers: 'pack', turn: undefined, box: undefined })}
        />
        <IconButton icon={Pencil} label="Change the ticket" onClick={() => onAsk({ kind: 'edit' })} />
      </header>
      <p className="ticket-facts row wrap">
        <StatusMark status={ticket.status} />
        {ticket.ready && ticket.type !== 'review_finding' && <span className="badge ticket-ready">ready</span>}
        <TypeMark type={ticket.type} />
        <Id id={ticket.ticketId} what="ticket id" />
        {ticket.assignee ? <span>{ticket.assignee}</span> : <span className="muted">unassigned</span>}
        <Labels labels={ticket.labels} />
        <time className="muted" dateTime={ticket.createdAt} title={say.instant(ticket.createdAt)}>
          created {say.when(ticket.createdAt)}
        </time>
      </p>
    </>
  );
}

function usualMove({ status, type }: Ticket, isClosable: boolean): TicketStatus | undefined {
  if (status === 'closed') return undefined;
  if (status === 'review') return isClosable ? 'closed' : 'in_progress';
  if (type === 'review_finding') return 'closed';
  return status === 'in_progress' ? 'review' : 'in_progress';
}

/** The allowed moves, the usual next step first. */
function Moves({ ticket, onAsk }: AskingProps) {
  const allowed = Object.keys(ticketMoves[ticket.status]) as TicketStatus[];
  const obstacles = allowed.includes('closed') ? whyNotClosed(ticket) : [];
  const primary = usualMove(ticket, obstacles.length === 0);
  return (
    <fieldset className="ticket-moves row wrap" aria-label="Moves">
      {[...allowed]
        .sort((a, b) => Number(b === primary) - Number(a === primary))
        .map((to) => (
          <Button key={to} small look={to === primary ? 'primary' : undefined} onClick={() => onAsk({ kind: 'move', to })}>
            {ticket.type === 'review_finding' && to === 'closed' ? 'Resolve' : moveName(ticket.status, to)}
          </Button>
        ))}
      {obstacles.length > 0 && <span className="muted small">Cannot be closed yet: {obstacles.join('; ')}.</span>}
    </fieldset>
  );
}

function ReviewersOf({ ticket, onAsk }: AskingProps) {
  const isInReview = ticket.status === 'review';
  return (
    <Part name="Reviewers" act={isInReview && { name: 'Change', icon: UserPlus, act: () => onAsk({ kind: 'reviewers' }) }}>
      <ul className="reviewer-list">
        {ticket.reviewers.map(({ name, verdict }) => (
          <li key={name} className="row wrap">
            <b>{name}</b>
            <span className="reviewer inline-row muted small" style={{ color: verdictColors[verdict] }}>
              {verdictNames[verdict]}
            </span>
            <span className="grow" />
            {isInReview && (
              <Button small onClick={() => onAsk({ kind: 'verdict', reviewer: name })}>
                {verdict === 'pending' ? 'Give a verdict' : 'Change the verdict'}
              </Button>
            )}
          </li>
        ))}
      </ul>
    </Part>
  );
}

interface ResolutionProps {
  readonly ticket: Ticket;
  readonly resolution: string;
  readonly thread: TicketThread;
  /** The start that asks the author of the finding to verify this. */
  readonly verification: TicketEvent | undefined;
  readonly onAsk: (question: string) => void;
}

/** The resolution, and whether the author of the finding has verified it. They verify from the end of the discussion. */
function Resolution({ ticket, resolution, thread, verification, onAsk }: ResolutionProps) {
  const who = verification?.who ?? thread.answers;
  return (
    <section className="ticket-resolution" aria-label="Resolution">
      <h3>Resolved</h3>
      <Markdown text={resolution} />
      {verification && isAsked(verification) && (
        <ul>
          <Start event={verification} here>
            <Button
              small
              look="primary"
              icon={MessageCircleQuestion}
              label={`Ask ${who}…`}
              title={`${who} has the context of the finding${ticket.threadId ? ' and the whole discussion' : ''}`}
              onClick={() => onAsk(verifyQuestion(resolution))}
            />
          </Start>
        </ul>
      )}
      {verification?.state === 'done' && (
        <p className="muted">
          Verified by {verification.answeredBy ?? who}
          {verification.answeredAt && ` · ${say.when(verification.answeredAt)}`}
        </p>
      )}
    </section>
  );
}

const isAsked = ({ state }: TicketEvent): boolean => state === 'waiting' || state === 'taken';

const verifyQuestion = (resolution: string): string => `It was resolved like this: ${resolution}\n\nDoes this settle your finding?`;

const Children = ({ of }: { of: readonly TicketRow[] }) => (
  <ul>
    {of.map((child) => (
      <li key={child.ticketId}>
        <button type="button" className="ticket-child selectable row" onClick={() => openTicket(child.ticketId)}>
          <StatusMark status={child.status} />
          <span className="mono muted">{say.shortId(child.ticketId)}</span>
          <span className="ellipsis grow">{child.title}</span>
          {child.threadId !== null && <span className="badge">discussed</span>}
          {child.resolved !== null && <span className="muted ellipsis ticket-child-resolution small">{say.firstLine(child.resolved, 80)}</span>}
        </button>
      </li>
    ))}
  </ul>
);

const shownVersions = 8;

function Versions({ versions }: { versions: readonly TicketVersion[] }) {
  const [all, setAll] = useState(false);
  const newest = versions.map((version, n) => ({ version, n })).reverse();
  return (
    <Part name="Versions" note={<span className="muted">{versions.length}</span>}>
      <ol className="ticket-versions">
        {newest.slice(0, all ? newest.length : shownVersions).map(({ version, n }) => (
          <li key={n}>
            <When at={version.at} className="muted" />
            <div>
              <b>{version.by ?? 'unknown'}</b> {changeWords(version, n === 0).join('; ') || 'changed nothing'}
              {version.reason && <span className="muted"> · {version.reason}</span>}
            </div>
            {version.contextId === null ? (
              <span className="muted" title="No context was given or found">
                not recorded
              </span>
            ) : (
              <span>
                <ContextLink id={version.contextId} known={version.known} />{' '}
                <span className="muted">{version.contextFound === 'resolved' ? 'found' : 'given'}</span>
              </span>
            )}
          </li>
        ))}
      </ol>
      {newest.length > shownVersions && (
        <Button small look="plain" label={all ? 'Show the latest only' : `Show all ${newest.length}`} onClick={() => setAll(!all)} />
      )}
    </Part>
  );
}
