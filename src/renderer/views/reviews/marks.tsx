import {
  Bug,
  Check,
  CircleCheck,
  CircleDashed,
  CircleDot,
  CirclePause,
  Eye,
  Flag,
  HelpCircle,
  Hourglass,
  ListTodo,
  MessageSquare,
  OctagonAlert,
  SearchCheck,
  Sparkles,
  X,
} from 'lucide-react';
import type { ContextId, Ticket, TicketRow, TicketStatus, Verdict } from '../../../core/contract/index.js';
import { type Icon, LinkButton, say, statusNames } from '../../parts';
import { go, openContext } from '../../state';
import { typeName, verdictNames } from './words';

export const statusIcons: Readonly<Record<TicketStatus, Icon>> = {
  open: CircleDashed,
  in_progress: CircleDot,
  review: Eye,
  blocked: OctagonAlert,
  deferred: CirclePause,
  closed: CircleCheck,
};

/** The colors of statuses. The others are muted. */
export const statusColors: Readonly<Partial<Record<TicketStatus, string>>> = {
  in_progress: 'var(--accent)',
  review: 'var(--tool)',
  blocked: 'var(--danger)',
  closed: 'var(--good)',
};

/** The status of a ticket with its icon. */
export function StatusMark({ status }: { status: TicketStatus }) {
  const Glyph = statusIcons[status];
  return (
    <span className="ticket-status rigid nowrap inline-row" style={{ color: statusColors[status] }}>
      <Glyph size={13} aria-hidden />
      {statusNames[status]}
    </span>
  );
}

const typeIcons: Readonly<Record<string, Icon>> = {
  task: ListTodo,
  bug: Bug,
  feature: Sparkles,
  question: HelpCircle,
  review: SearchCheck,
  review_finding: Flag,
};

/** The type of a ticket with its icon. */
export function TypeMark({ type }: { type: string }) {
  const Glyph = typeIcons[type];
  return (
    <span className="ticket-type gap-4 rigid inline-row muted small" title={typeName(type)}>
      {Glyph && <Glyph size={13} aria-hidden />}
      {typeName(type)}
    </span>
  );
}

/** A link to a ticket. */
export const TicketLink = ({ id, title }: { id: string; title?: string | undefined }) => (
  <LinkButton className="ticket-link breaks" title={title ? `${id}\n${title}` : id} onClick={() => openTicket(id)}>
    {title ? (
      <>
        <span className="mono">{say.shortId(id)}</span> {title}
      </>
    ) : (
      <span className="mono">{id}</span>
    )}
  </LinkButton>
);

/** Opens a ticket. */
export const openTicket = (ticket: string): void => go({ view: 'reviews', ticket });

/** A context id: a link if the project has the commit, else plain text. */
export function ContextLink({ id, known }: { id: string; known: boolean }) {
  if (!known)
    return (
      <span className="mono muted" title="This project does not have the commit. The id is kept as it was given">
        {say.shortId(id)}
      </span>
    );
  return (
    <LinkButton className="mono" title={`${id}\nOpen the context of that moment`} onClick={() => openContext(id as ContextId)}>
      {say.shortId(id)}
    </LinkButton>
  );
}

const verdictIcons: Readonly<Record<Verdict, Icon>> = { pending: Hourglass, approved: Check, changes_requested: X, commented: MessageSquare };

/** The colors of verdicts. The others are muted. */
export const verdictColors: Readonly<Partial<Record<Verdict, string>>> = {
  approved: 'var(--good)',
  changes_requested: 'var(--danger)',
  commented: 'var(--user)',
};

/** The reviewers, each with their verdict so far. */
export function Reviewers({ reviewers }: { reviewers: Ticket['reviewers'] }) {
  return reviewers.map(({ name, verdict }) => {
    const Glyph = verdictIcons[verdict];
    return (
      <span
        key={name}
        className="reviewer inline-row muted small"
        style={{ color: verdictColors[verdict] }}
        title={`${name}: ${verdictNames[verdict]}`}
      >
        <Glyph size={11} aria-hidden />
        <span className="unseen">{verdictNames[verdict]}: </span>
        {name}
      </span>
    );
  });
}

/** The labels for people: `from:` labels record where a ticket was imported from. */
export const shownLabels = (labels: readonly string[]): readonly string[] => labels.filter((label) => !label.startsWith('from:'));

/** The labels of a ticket, or the first ones. */
export const Labels = ({ labels, most }: { labels: readonly string[]; most?: number }) =>
  shownLabels(labels)
    .slice(0, most)
    .map((label) => (
      <span key={label} className="badge">
        {label}
      </span>
    ));

/** The number of open findings of a ticket; nothing if it has no findings. */
export function Findings({ findings }: { findings: TicketRow['findings'] }) {
  if (findings.total === 0) return null;
  const words =
    findings.open === 0 ? `all ${say.plural(findings.total, 'finding')} closed` : `${findings.open} of ${say.plural(findings.total, 'finding')} open`;
  return (
    <span className={`badge ticket-findings${findings.open > 0 ? ' open' : ''}`} title={words}>
      <Flag size={11} aria-hidden />
      <span aria-hidden>{findings.open > 0 ? `${findings.open} of ${findings.total}` : findings.total}</span>
      <span className="unseen">{words}</span>
    </span>
  );
}
