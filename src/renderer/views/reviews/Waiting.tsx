import { BookOpen, Check, CirclePlay, Eye, Hand, Inbox, Play, X } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import type { ContextId, TicketEvent } from '../../../core/contract/index.js';
import { api } from '../../client';
import { runForm } from '../../forms';
import { Answer, attempt, Button, Empty, findAgent, Received, SentCall, Switch, statusNames, TaskProblem, useWorkedOn, When } from '../../parts';
import { ask, go, openContext, show, useKeptQuery, useNavigation, useQuery, useTickets } from '../../state';
import { ContextLink, TicketLink } from './marks';
import { taskNames } from './words';
import { useWriting } from './writing';

const pageSize = 100;

/** The inbox of requested starts: who should start on which ticket, and from which context. */
export function Waiting({ revision }: { revision: string }) {
  const [all, setAll] = useState(false);
  const [limit, setLimit] = useState(pageSize);
  const query = useKeptQuery(String(all), `${revision} ${all} ${limit}`, () =>
    // One row more than shown tells whether there are more.
    api.ticket.events({ newestFirst: true, limit: limit + 1, ...(!all && { state: ['waiting', 'taken'] }) }),
  );
  return (
    <Answer query={query} what="Cannot show the waiting starts" loading="Loading the waiting starts">
      {(events) => {
        const shown = events.slice(0, limit);
        return (
          <div className="rest stack">
            <header className="starts-head gap-12 rigid row">
              <p className="muted grow">
                Moves and questions leave a record of who should start. Nothing runs by itself: resume the context in an agent, answer here, or let a
                runner take it.
              </p>
              <Switch
                label="Which"
                value={all ? 'all' : 'open'}
                onChange={(which) => setAll(which === 'all')}
                options={{ open: 'Waiting', all: ['All', 'Includes starts that are done, dismissed or no longer needed'] }}
              />
            </header>
            {shown.length === 0 ? (
              <NothingWaits />
            ) : (
              <div className="starts-scroll overflows">
                <ul aria-label="Requested starts">
                  {shown.map((event) => (
                    <Start key={event.event} event={event} />
                  ))}
                </ul>
                {events.length > limit && <Button small look="plain" label={`Show ${pageSize} more`} onClick={() => setLimit(limit + pageSize)} />}
              </div>
            )}
          </div>
        );
      }}
    </Answer>
  );
}

const NothingWaits = () => (
  <Empty title="Nothing is waiting" picture={Inbox} acts={[{ name: 'Go to the board', act: () => go({ tickets: undefined }) }]}>
    When a ticket is moved, this list shows who should start next and from which context. Nothing runs by itself.
  </Empty>
);

const stateNames: Readonly<Record<TicketEvent['state'], string>> = {
  waiting: 'waiting',
  taken: 'taken',
  done: 'done',
  dismissed: 'dismissed',
  overtaken: 'no longer needed',
};

interface StartProps {
  readonly event: TicketEvent;
  /** Shown on the ticket's own page, which needs no link to itself. */
  readonly here?: boolean;
  readonly children?: ReactNode;
}

/** One requested start: who should start on which ticket, and the actions for it. */
export function Start({ event, here = false, children }: StartProps) {
  const actor = useTickets((state) => state.actor);
  const { writing, write, busy } = useWriting();
  const [reads, setReads] = useState(false);
  const isWorkedOn = useWorkedOn(useNavigation(({ route }) => route.project) ?? '');
  const isOpen = event.state === 'waiting' || event.state === 'taken';
  const acknowledge = (as: 'taken' | 'done' | 'dismissed') => write(() => api.ticket.acknowledge({ event: event.event, by: actor, as }));
  return (
    <li className={`asked-start line-above row wrap ${event.state}`}>
      <div className="start-words">
        <p>
          <b>{event.who ?? 'Anybody'}</b> should {taskNames[event.task]} {here ? 'this' : <TicketLink id={event.ticketId} title={event.title} />}
        </p>
        <p className="muted small">
          {event.contextId === null ? (
            'from a fresh context'
          ) : (
            <>
              from <ContextLink id={event.contextId} known={event.known} />
            </>
          )}
          {event.move && `, because it moved from ${statusNames[event.move.from].toLowerCase()} to ${statusNames[event.move.to].toLowerCase()}`}
          {event.by && ` by ${event.by}`}
          {' · '}
          <When at={event.at} />
          {event.answeredBy && ` · ${stateNames[event.state]} by ${event.answeredBy}`}
        </p>
        {isOpen && <Received received={event.received} what={{ eventId: event.event }} />}
        <TaskProblem task={writing} />
      </div>
      {isOpen ? (
        <div className="start-acts wrap">
          {children}
          {event.known && (
            <>
              <Button small icon={BookOpen} label="Open" onClick={() => openContext(event.contextId as ContextId)} />
              <Button small icon={Play} label="Resume…" onClick={attempt(() => resume(event.contextId as ContextId))} />
            </>
          )}
          <Button small icon={Eye} aria-expanded={reads} title="The next call of a model that works on this" onClick={() => setReads(!reads)}>
            What it reads
          </Button>
          {!isWorkedOn((what) => 'eventId' in what && what.eventId === event.event) && (
            <Button small icon={CirclePlay} label="Run here…" onClick={() => ask(runForm({ eventId: event.event }, 'Run here'))} />
          )}
          {event.state === 'waiting' && (
            <Button small icon={Hand} disabled={busy} title={`Record that ${actor} is doing this`} onClick={() => void acknowledge('taken')}>
              Take
            </Button>
          )}
          <Button small icon={Check} disabled={busy} onClick={() => void acknowledge('done')}>
            {event.task === 'verify_resolution' ? 'Verified' : 'Done'}
          </Button>
          <Button small icon={X} disabled={busy} title="This does not need to be done" onClick={() => void acknowledge('dismissed')}>
            Dismiss
          </Button>
        </div>
      ) : (
        <span className="badge">{stateNames[event.state]}</span>
      )}
      {isOpen && reads && <NextCall event={event} />}
    </li>
  );
}

/** The next call of a model that carries out a start, as it would be sent. */
function NextCall({ event: { event, at, contextId } }: { event: TicketEvent }) {
  const query = useQuery(`start ${event} ${at} ${contextId}`, () => api.ticket.preview({ event }));
  return (
    <div className="start-reads on-pane stack">
      <Answer query={query} what="Cannot compose the call" loading="Composing">
        {(call) => <SentCall call={call} />}
      </Answer>
    </div>
  );
}

async function resume(commit: ContextId): Promise<void> {
  const { format } = await api.context.show({ id: commit });
  show({ kind: 'resume', commit, agent: findAgent(format) });
}
