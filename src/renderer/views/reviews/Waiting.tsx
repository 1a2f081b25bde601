import { BookOpen, Check, Hand, Play, X } from 'lucide-react';
import { useState } from 'react';
import type { ContextId, TicketEvent } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Answer, agentOf, Button, notifyProblem, Switch, say } from '../../parts';
import { go, show, useKept, useQuery, useTickets, useTicketsAtCommits } from '../../state';
import { ContextLink, TicketLink } from './marks';
import { NothingWaits } from './Reviews';
import { statusNames, taskNames } from './words';
import { Problem, useWriting } from './writing';

/** Who should start, with what, from which context: an inbox that a person or a runner acts on. */
export function Waiting({ project, revision }: { project: string; revision: string }) {
  const [all, setAll] = useState(false);
  const query = useKept(useQuery(revision, () => api.ticket.events({})));
  return (
    <Answer query={query} what="What waits cannot be shown" loading="Reading what waits">
      {(events) => {
        const shown = events.filter((event) => all || event.state === 'waiting' || event.state === 'taken').toReversed();
        return (
          <div className="waiting">
            <header className="waiting-head">
              <p className="muted grow">
                Moves and questions ask somebody to start. Nothing runs by itself: resume the context in an agent, answer here, or let a runner take
                it.
              </p>
              <Switch
                label="Which"
                value={all ? 'all' : 'open'}
                onChange={(which) => setAll(which === 'all')}
                options={[
                  { value: 'open', name: 'Waiting' },
                  { value: 'all', name: 'All', hint: 'Also what was done, dismissed or overtaken' },
                ]}
              />
            </header>
            {shown.length === 0 ? (
              <NothingWaits />
            ) : (
              <ul className="waiting-list" aria-label="Starts that were asked for">
                {shown.map((event) => (
                  <Start key={event.event} project={project} event={event} />
                ))}
              </ul>
            )}
          </div>
        );
      }}
    </Answer>
  );
}

const stateNames: Readonly<Record<TicketEvent['state'], string>> = {
  waiting: 'waiting',
  taken: 'taken',
  done: 'done',
  dismissed: 'dismissed',
  overtaken: 'overtaken',
};

export function Start({ project, event }: { project: string; event: TicketEvent }) {
  const actor = useTickets((state) => state.actor);
  const known = useTicketsAtCommits(project);
  const { busy, problem, write } = useWriting();
  const isOpen = event.state === 'waiting' || event.state === 'taken';
  const isKnown = event.contextId !== null && known.has(event.contextId as ContextId);
  const acknowledge = (as: 'taken' | 'done' | 'dismissed') => write(() => api.ticket.acknowledge({ event: event.event, by: actor, as }));
  return (
    <li className={`asked-start ${event.state}`}>
      <div className="start-words">
        <p>
          <b>{event.who ?? 'Anybody'}</b> should {taskNames[event.task]} <TicketLink id={event.ticketId} title={event.title} />
        </p>
        <p className="muted start-why">
          {event.contextId === null ? (
            'from a fresh context'
          ) : (
            <>
              from <ContextLink id={event.contextId} known={isKnown} />
            </>
          )}
          {event.move && `, since it went from ${statusNames[event.move.from].toLowerCase()} to ${statusNames[event.move.to].toLowerCase()}`}
          {event.by && ` by ${event.by}`}
          {' · '}
          <time dateTime={event.at} title={say.instant(event.at)}>
            {say.when(event.at)}
          </time>
          {event.answeredBy && ` · ${stateNames[event.state]} by ${event.answeredBy}`}
        </p>
        <Problem>{problem}</Problem>
      </div>
      {isOpen ? (
        <div className="start-acts">
          {isKnown && (
            <>
              <Button
                small
                icon={BookOpen}
                onClick={() => go({ view: 'context', commit: event.contextId as ContextId, entry: undefined, stop: undefined })}
              >
                Open
              </Button>
              <Button small icon={Play} onClick={() => void resume(event.contextId as ContextId)}>
                Resume…
              </Button>
            </>
          )}
          {event.state === 'waiting' && (
            <Button small icon={Hand} disabled={busy} title={`Says that ${actor} does this`} onClick={() => void acknowledge('taken')}>
              Take
            </Button>
          )}
          <Button small icon={Check} disabled={busy} onClick={() => void acknowledge('done')}>
            Done
          </Button>
          <Button small icon={X} disabled={busy} title="Nobody needs to do this" onClick={() => void acknowledge('dismissed')}>
            Dismiss
          </Button>
        </div>
      ) : (
        <span className="badge">{stateNames[event.state]}</span>
      )}
    </li>
  );
}

async function resume(commit: ContextId): Promise<void> {
  try {
    const { format } = await api.context.show({ id: commit });
    show({ kind: 'resume', commit, agent: agentOf(format) });
  } catch (error) {
    notifyProblem(error);
  }
}
