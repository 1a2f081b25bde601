import { CalendarClock, Cog, Pencil, Play, Plus, Trash2 } from 'lucide-react';
import type { ReactElement } from 'react';
import type { Entity, MessageWait, Run } from '../../../core/contract/index.js';
import { api } from '../../client';
import { dropPlan, forgetMemory, goalsForm, memoryForm, planForm, runForm, serviceForm } from '../../forms';
import { Answer, attempt, Button, type Icon, IconButton, JobLinks, LinkButton, Select, say, useWorkedOn } from '../../parts';
import { ask, type FormSpec, openContext, useKeptQuery, useRounds } from '../../state';
import { waitText } from './space';

interface AgentMindProps {
  readonly project: string;
  readonly agents: readonly Entity[];
  readonly chosen: string | undefined;
  readonly onChoose: (entityId: string) => void;
  readonly runs: readonly Run[];
  readonly waits: readonly MessageWait[];
  readonly nameOf: (entityId: string) => string;
  readonly onChange: () => void;
}

const readMind = async (entityId: string) => {
  const [goals, memories, plans] = await Promise.all([api.run.goals({ entityId }), api.run.memories({ entityId }), api.run.plans({ entityId })]);
  return { goals, memories, plans };
};
type Mind = Awaited<ReturnType<typeof readMind>>;

/** The goals, memories and plans of an agent, with its runs and waits. */
export function AgentMind({ project, agents, chosen, onChoose, runs, waits, nameOf, onChange }: AgentMindProps) {
  const [round, askAgain] = useRounds();
  const agent = agents.find(({ entityId }) => entityId === chosen) ?? agents[0];
  const query = useKeptQuery(agent?.entityId, agent ? `${project} mind ${agent.entityId} ${round}` : null, () =>
    readMind((agent as Entity).entityId),
  );
  if (!agent) return null;
  const changed = (): void => {
    askAgain();
    onChange();
  };
  return (
    <section className="mind overflows stack" aria-label="Agent">
      <div className="row">
        <Select label="Agent" value={agent.entityId} options={agents.map(({ entityId, name }) => [entityId, name])} onChange={onChoose} />
        <Button small icon={Cog} title="Starts a run as an event of a service would" onClick={() => ask(serviceForm(agent, changed))}>
          Start by a service…
        </Button>
      </div>
      <Answer query={query} what={`Cannot load what ${agent.name} knows`} loading="Loading the agent" lines={6}>
        {(mind) => <MindParts agent={agent} mind={mind} onChange={changed} />}
      </Answer>
      <Waits waits={waits.filter(({ waiterId }) => waiterId === agent.entityId)} nameOf={nameOf} />
      <Runs project={project} runs={runs.filter(({ entityId }) => entityId === agent.entityId)} name={agent.name} />
    </section>
  );
}

const memoryName = ({ topic, content }: Mind['memories'][number]): string => topic ?? say.firstLine(content, 40);

function MindParts({ agent, mind: { goals, memories, plans }, onChange }: { agent: Entity; mind: Mind; onChange: () => void }) {
  return (
    <>
      <MindPart
        name="Goals"
        none="No goals. The agent reads them at the start of every run."
        edit={{ name: 'Edit goals', icon: Pencil, form: () => goalsForm(agent, goals, onChange) }}
      >
        {goals.map((goal) => (
          <li key={goal.goalId}>
            <span className="grow">{goal.description}</span>
            {goal.longTerm && <span className="badge">long-term</span>}
            {goal.priority !== undefined && <span className="muted">priority {goal.priority}</span>}
          </li>
        ))}
      </MindPart>
      <MindPart
        name="Memories"
        none="No memories. The agent reads them in every run, in every space."
        edit={{ name: 'New memory', icon: Plus, form: () => memoryForm(agent, undefined, onChange) }}
      >
        {memories.map((memory) => {
          const name = memoryName(memory);
          return (
            <li key={memory.memoryId}>
              <span className="grow">
                {memory.topic && <b>{memory.topic}: </b>}
                {say.firstLine(memory.content, 200)}
              </span>
              <IconButton small icon={Pencil} label={`Edit the memory ${name}`} onClick={() => ask(memoryForm(agent, memory, onChange))} />
              <IconButton small icon={Trash2} label={`Delete the memory ${name}`} onClick={attempt(() => forgetMemory(agent, memory, onChange))} />
            </li>
          );
        })}
      </MindPart>
      <MindPart
        name="Plans"
        none="No plans. A plan starts a run at a time."
        edit={{ name: 'New plan', icon: Plus, form: () => planForm(agent, undefined, onChange) }}
      >
        {plans.map((plan) => (
          <li key={plan.planId}>
            <CalendarClock size={13} aria-hidden />
            <span className="grow">
              <b>{plan.name}</b>{' '}
              <span className="muted">
                {plan.cron ?? 'once'}
                {plan.nextRunAt ? `, next ${say.instant(plan.nextRunAt)}` : plan.scheduledAt ? `, ${say.instant(plan.scheduledAt)}` : ''}
              </span>
            </span>
            <IconButton small icon={Pencil} label={`Edit the plan ${plan.name}`} onClick={() => ask(planForm(agent, plan, onChange))} />
            <IconButton small icon={Trash2} label={`Delete the plan ${plan.name}`} onClick={attempt(() => dropPlan(agent, plan, onChange))} />
          </li>
        ))}
      </MindPart>
    </>
  );
}

interface MindPartProps {
  readonly name: string;
  readonly none: string;
  readonly edit: { readonly name: string; readonly icon: Icon; readonly form: () => FormSpec };
  readonly children: readonly ReactElement[];
}

const MindPart = ({ name, none, edit, children }: MindPartProps) => (
  <section aria-label={name}>
    <header className="row">
      <h3 className="grow">{name}</h3>
      <IconButton small icon={edit.icon} label={edit.name} onClick={() => ask(edit.form())} />
    </header>
    {children.length === 0 && <p className="muted">{none}</p>}
    <ul>{children}</ul>
  </section>
);

function Waits({ waits, nameOf }: { waits: readonly MessageWait[]; nameOf: (entityId: string) => string }) {
  if (waits.length === 0) return null;
  return (
    <section aria-label="Waits">
      <h3>Waits</h3>
      <ul>
        {waits.map((wait) => (
          <li key={wait.messageId}>{waitText(wait, nameOf, say.when)}</li>
        ))}
      </ul>
    </section>
  );
}

const shownRuns = 20;
const runWords: Readonly<Record<Run['status'], string>> = {
  running: 'running',
  waiting_reply: 'waiting for a reply',
  completed: 'completed',
  failed: 'failed',
  canceled: 'canceled',
};

function Runs({ project, runs, name }: { project: string; runs: readonly Run[]; name: string }) {
  const ids = new Set(runs.map(({ runId }) => runId));
  const isWorkedOn = useWorkedOn(project);
  return (
    <section aria-label="Runs">
      <h3>Runs</h3>
      <JobLinks project={project} isOf={({ what }) => 'runId' in what && ids.has(what.runId)} />
      {runs.length === 0 && <p className="muted">No runs yet. A message, a plan or a service starts one.</p>}
      <ul>
        {runs.slice(0, shownRuns).map((run) => {
          const { contextId } = run;
          return (
            <li key={run.runId}>
              <span className="grow">
                {say.when(run.createdAt)} <span className="muted">{runWords[run.status]}</span>
              </span>
              {contextId && <LinkButton label="Context" onClick={() => openContext(contextId)} />}
              {run.status === 'running' && !isWorkedOn((what) => 'runId' in what && what.runId === run.runId) && (
                <Button small icon={Play} label="Run here…" onClick={() => ask(runForm({ runId: run.runId }, `Run ${name}`))} />
              )}
            </li>
          );
        })}
      </ul>
    </section>
  );
}
