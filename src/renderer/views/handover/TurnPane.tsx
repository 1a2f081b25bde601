import { BookOpen, Play, SquareTerminal, X } from 'lucide-react';
import type { ReactNode } from 'react';
import type { Agent, AgentTurn, Box, Card, ContextId, Job } from '../../../core/contract/index.js';
import { api } from '../../client';
import { beginTurn, runForm, stepForm, stepNames, stepsOf } from '../../forms';
import {
  Answer,
  attempt,
  Button,
  Code,
  DetailsOnDemand,
  Facts,
  FoldedText,
  IconButton,
  Id,
  JobLinks,
  LinkButton,
  Received,
  say,
  useWorkedOn,
} from '../../parts';
import { ask, go, openBox, openContext, useProjectQuery, useQuery } from '../../state';
import { type MapTurn, toolNames } from './map';
import { Packed, type PackedRow } from './Packed';

/** A handover: its cards with their reasons, and links to the contexts of both agents. */
export function TurnPane({ project, turn, agents }: { project: string; turn: MapTurn; agents: readonly Agent[] }) {
  const { contextBoxId: boxId } = turn;
  const query = useQuery(`${project} ${boxId}`, () => Promise.all([api.box.get({ boxId }), api.box.cards({ boxId })]));
  const name = (agentId: string | undefined): string => agents.find((agent) => agent.agentId === agentId)?.displayName ?? agentId ?? 'unknown';
  const boxLink = (boxId: string): ReactNode => <LinkButton className="mono" label={say.shortId(boxId)} onClick={() => openBox(boxId)} />;
  const contextLink = (commit: ContextId | undefined, label: string) =>
    commit && <Button small icon={BookOpen} label={label} onClick={() => openContext(commit)} />;
  return (
    <aside className="turn-pane stack" aria-label="Handover">
      <header className="thing-head bar wrap">
        <h2 className="grow ellipsis">
          {name(turn.sourceAgentId)} {toolNames[turn.tool] ?? turn.tool} {name(turn.agentId)}
        </h2>
        <IconButton small icon={X} label="Close" onClick={() => go({ turn: undefined })} />
      </header>
      <div className="turn-body overflows stack gap-12">
        <div className="row wrap gap-6">
          {contextLink(turn.fromCommit, `Context of ${name(turn.sourceAgentId)}`)}
          {contextLink(turn.startCommit, `Input of ${name(turn.agentId)}`)}
          {contextLink(turn.endCommit, `Result of ${name(turn.agentId)}`)}
        </div>
        <Facts
          rows={{
            Status: turn.status,
            'Handed over': say.instant(turn.createdAt),
            Ended: turn.endedAt && say.instant(turn.endedAt),
            Target: `${strategyNames[turn.strategy]}: ${name(turn.agentId)}`,
            Turn: <Id id={turn.agentTurnId} what="turn id" />,
            'Context box': boxLink(turn.contextBoxId),
            'Output box': boxLink(turn.outputBoxId),
            'Waiting for': turn.waiting?.join(', '),
            Error: turn.error,
          }}
        />
        <Received received={turn.received} what={{ turnId: turn.agentTurnId }} />
        <TurnConsole project={project} turn={turn} />
        <TurnsOf project={project} turn={turn} />
        <h3>Cards</h3>
        <Answer query={query} what="Cannot load the cards" loading="Loading the cards" lines={4}>
          {([box, { cards }]) => <Packed rows={packedRows(box, cards)} dropped={box.packed?.dropped ?? []} />}
        </Answer>
      </div>
    </aside>
  );
}

function TurnsOf({ project, turn }: { project: string; turn: MapTurn }) {
  const query = useQuery(`${project} turns ${turn.agentId} ${turn.status}`, () => api.agent.turns({ agentId: turn.agentId }));
  const others = (query.data ?? []).filter(({ agentTurnId }) => agentTurnId !== turn.agentTurnId);
  if (others.length === 0) return null;
  return (
    <details>
      <summary>{say.plural(others.length, 'other turn')} of this agent</summary>
      <ul>
        {others.map((other) => (
          <li key={other.agentTurnId}>
            <LinkButton label={say.instant(other.createdAt)} onClick={() => go({ turn: other.agentTurnId })} />{' '}
            <span className="muted">{other.status}</span>
          </li>
        ))}
      </ul>
    </details>
  );
}

const strategyNames = { new: 'New agent', reuse: 'Existing agent', clone: 'Clone' } as const;

function packedRows({ cardIds, packed }: Box, cards: readonly Card[]): PackedRow[] {
  const known = new Map(cards.map((card) => [card.cardId, card]));
  const reasons = (packed?.runs ?? []).flatMap(({ cards: count, ...run }) => Array.from({ length: count }, () => run));
  return cardIds.map((cardId, place) => {
    const card = known.get(cardId);
    return {
      cardId,
      ...(reasons[place] ?? { reason: 'inherited' }),
      type: card?.type ?? 'unknown',
      role: card?.metadata.role ?? 'user',
      content: card?.content,
      state: card ? (card.deletedAt !== undefined ? 'deleted' : card.expired ? 'expired' : undefined) : 'missing',
    };
  });
}

/** The actions of a person in a turn, and the current input of its model. */
export function TurnConsole({ project, turn }: { project: string; turn: AgentTurn }) {
  const steps = stepsOf(turn);
  const isOpen = turn.endedAt === undefined;
  const isOfTurn = (what: Job['what']) => 'turnId' in what && what.turnId === turn.agentTurnId;
  const isWorkedOn = useWorkedOn(project)(isOfTurn);
  return (
    <section aria-label="Turn console" className="stack gap-8">
      {isOpen && (
        <>
          <p className="muted">
            {turn.status === 'suspended' ? `The turn waits for ${say.plural(turn.waiting?.length ?? 0, 'result')}.` : stateTexts[turn.status]}
          </p>
          <div className="row wrap gap-6">
            {turn.status === 'dispatched' && (
              <Button small look="primary" icon={SquareTerminal} label="Begin by hand" onClick={attempt(() => beginTurn(turn))} />
            )}
            {turn.status !== 'queued' && !isWorkedOn && (
              <Button small icon={Play} label="Run here…" onClick={() => ask(runForm({ turnId: turn.agentTurnId }, 'Run this turn'))} />
            )}
            {steps.map((step) => (
              <Button key={step} small label={`${stepNames[step]}…`} onClick={() => ask(stepForm(turn, step))} />
            ))}
          </div>
        </>
      )}
      <JobLinks project={project} isOf={({ what }) => isOfTurn(what)} />
      {turn.batchId !== undefined && <BatchResults project={project} batchId={turn.batchId} />}
      <DetailsOnDemand className="turn-input" summary="What its model sees">
        {() => <InputMessages project={project} agentTurnId={turn.agentTurnId} />}
      </DetailsOnDemand>
    </section>
  );
}

const stateTexts: Readonly<Partial<Record<AgentTurn['status'], string>>> = {
  queued: 'The agent works on an earlier turn. This one waits.',
  dispatched: 'Nobody works on this turn yet. Begin it by hand, or let a model or an agent run it.',
  running: 'The turn is open: cards can be written into its output box.',
};

function BatchResults({ project, batchId }: { project: string; batchId: string }) {
  const query = useProjectQuery(batchId, `${project} ${batchId}`, () => api.handover.batch({ batchId }));
  return (
    <Answer query={query} what="Cannot load the results of the fork" loading="Loading the results" lines={3}>
      {(batch) => (
        <>
          <h3>
            Joined results <span className="muted">{batch.status}</span>
          </h3>
          <ol className="batch">
            {batch.results.map((result) => (
              <li key={result.agentTurnId}>
                <b>{result.label}</b> <span className={`status-${result.status}`}>{result.status}</span>
                {(result.summary ?? result.error) && <p className="muted">{result.summary ?? result.error}</p>}
              </li>
            ))}
          </ol>
          {batch.deadline && <p className="muted">Deadline: {say.instant(batch.deadline)}</p>}
        </>
      )}
    </Answer>
  );
}

/** The input that the model of the turn would get now. Showing it records no call. */
function InputMessages({ project, agentTurnId }: { project: string; agentTurnId: string }) {
  const query = useProjectQuery(agentTurnId, `input ${project} ${agentTurnId}`, () => api.agent.input({ agentTurnId, preview: true }));
  return (
    <Answer query={query} what="Cannot show the input of this turn" loading="Loading the input" lines={4}>
      {({ messages, tools, parameters }) => (
        <>
          <ol className="turn-messages" aria-label="Messages to the model">
            {messages.map((message, place) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: messages have no identity but their place
              <li key={place} className={`kind-${message.role}`}>
                <b className="card-type">{message.role}</b>
                <FoldedText text={message.content} lines={6} />
              </li>
            ))}
          </ol>
          <p className="muted">{say.plural(tools?.length ?? 0, 'tool')}. Parameters:</p>
          <Code text={JSON.stringify(parameters, null, 2)} language="json" />
        </>
      )}
    </Answer>
  );
}
