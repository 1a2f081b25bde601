import { Play, SquareTerminal } from 'lucide-react';
import type { AgentTurn, Job } from '../../../core/contract/index.js';
import { api } from '../../client';
import { beginTurn, runForm, stepForm, stepNames, stepsOf } from '../../forms';
import { Answer, attempt, Button, Code, DetailsOnDemand, FoldedText, JobLinks, say, useWorkedOn } from '../../parts';
import { ask, useProjectQuery } from '../../state';

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
