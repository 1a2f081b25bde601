import { LogOut, UserPlus } from 'lucide-react';
import { useState } from 'react';
import type { Entity, MemberSpace, Run, Space } from '../../../core/contract/index.js';
import { api } from '../../client';
import { joinForm, leaveSpace } from '../../forms';
import { Answer, attempt, Button, DamagedMark, describeProblem, Empty, IconButton, Input, notifyProblem, Select, Switch, say } from '../../parts';
import { ask, useQuery } from '../../state';
import { AgentMind } from './AgentMind';
import { Reader } from './Reader';
import type { SpaceData } from './space';

const sides = {
  reads: ['What it reads', 'The timeline that an agent reads'],
  mind: ['Agent', 'Goals, memories, plans, runs and waits of an agent'],
  members: ['Members', 'Who is in the space'],
} as const;

/** The messages in a history without a setting of the project. */
const defaultBudget = 50;

interface BesideProps {
  readonly project: string;
  readonly space: Space;
  readonly known: readonly Entity[];
  readonly data: SpaceData | undefined;
  /** A value that changes when the space was reloaded. */
  readonly queryKey: string;
  readonly pointed: string | undefined;
  readonly onPoint: (messageId: string | undefined) => void;
  readonly nameOf: (entityId: string) => string;
  readonly onChange: () => void;
}

/** Lets a running agent enter another of its spaces. Its next call reads the history of that space. */
function EnterSpace({ run, spaces, onChange }: { run: Run; spaces: readonly MemberSpace[]; onChange: () => void }) {
  const enter = (spaceId: string): void => {
    api.run.enterSpace({ runId: run.runId, spaceId }).then(onChange, notifyProblem);
  };
  return (
    <div className="reader-tools gap-12 rigid line-below row small">
      <Select
        label="In space"
        value={run.activeSpaceId ?? ''}
        options={[...(run.activeSpaceId === null ? [['', 'None'] as const] : []), ...spaces.map(({ id, name }) => [id, name ?? id] as const)]}
        onChange={enter}
      />
    </div>
  );
}

interface ReadsProps extends Pick<BesideProps, 'space' | 'data' | 'queryKey' | 'pointed' | 'onPoint' | 'onChange'> {
  readonly agents: readonly Entity[];
  /** `agent ID` for the next call of an agent, `run ID` for one of its runs. */
  readonly reader: string;
  readonly onReader: (reader: string) => void;
}

/** The timeline that an agent reads in its next call, or read in a run. */
function Reads({ space, data, queryKey, pointed, onPoint, onChange, agents, reader, onReader }: ReadsProps) {
  const [budget, setBudget] = useState<number>();
  const [form, id = ''] = reader.split(' ', 2);
  const isRun = form === 'run';
  const timeline = useQuery(`${queryKey} ${reader} ${budget}`, async () =>
    isRun
      ? { ...(await api.run.timeline({ runId: id, budget })), note: null }
      : await api.run.preview({ spaceId: space.spaceId, entityId: id, budget }),
  );
  const shown = timeline.status === 'done' ? timeline.data : undefined;
  const runs = data?.runs ?? [];
  const run = isRun ? runs.find(({ runId }) => runId === id) : undefined;
  const waiting = runs.find(({ entityId, status }) => !isRun && entityId === id && status === 'waiting_reply');
  const problem = timeline.status === 'failed' ? describeProblem(timeline.error) : undefined;
  return (
    <>
      <ReaderChoice {...{ space, agents, runs, reader, onReader }} budget={budget ?? shown?.input.budget ?? defaultBudget} onBudget={setBudget} />
      {problem?.code === 'CONFLICT' ? (
        <Empty title="No next call">{problem.message}</Empty>
      ) : (
        <Answer query={timeline} what="Cannot render the timeline" loading="Rendering">
          {({ input, rendered, note, ...call }) => (
            <>
              {note !== null && (
                <p className="reader-tools gap-12 rigid line-below row small">
                  <span className="grow">{note}</span>
                  {waiting && <Button small label="Show the waiting run" onClick={() => onReader(`run ${waiting.runId}`)} />}
                </p>
              )}
              {run?.status === 'running' && <EnterSpace run={run} spaces={input.spaces} onChange={onChange} />}
              <Reader rendered={rendered} input={input} call={call} pointed={pointed} onPoint={onPoint} />
            </>
          )}
        </Answer>
      )}
    </>
  );
}

/** The pane beside the chat: the timeline that an agent reads, its goals, memories and plans, or the members. */
export function Beside({ project, space, known, data, queryKey, pointed, onPoint, nameOf, onChange }: BesideProps) {
  const agents = space.members.filter(({ type }) => type === 'agent');
  const [side, setSide] = useState<keyof typeof sides>('reads');
  const [given, setReader] = useState<string>();
  const reader = given ?? (agents[0] && `agent ${agents[0].entityId}`);
  const [form, id = ''] = reader?.split(' ', 2) ?? [];
  return (
    <div className="timeline-reader stack shrinks">
      <div className="timeline-sides rigid line-below">
        <Switch label="Beside the chat" value={side} onChange={setSide} options={sides} />
      </div>
      {side === 'members' ? (
        <Members space={space} known={known} onChange={onChange} />
      ) : reader === undefined ? (
        <Empty title="No agent in this space">
          {side === 'reads' ? 'The timeline that an agent reads' : 'What an agent works towards, remembers and plans'} appears here once an agent is a
          member.
        </Empty>
      ) : side === 'mind' ? (
        <AgentMind
          {...{ project, agents, nameOf, onChange }}
          chosen={form === 'run' ? data?.runs.find(({ runId }) => runId === id)?.entityId : id}
          onChoose={(entityId) => setReader(`agent ${entityId}`)}
          runs={data?.runs ?? []}
          waits={data?.waits ?? []}
        />
      ) : (
        <Reads {...{ space, data, queryKey, pointed, onPoint, onChange, agents, reader }} onReader={setReader} />
      )}
    </div>
  );
}

const kindNames: Readonly<Record<Entity['type'], string>> = { human: 'person', agent: 'agent', service: 'service' };

function Members({ space, known, onChange }: { space: Space; known: readonly Entity[]; onChange: () => void }) {
  return (
    <section className="mind overflows stack" aria-label="Members">
      <ul>
        {space.members.map((member) => (
          <li key={member.entityId}>
            <span className="grow ellipsis">
              {member.name} <span className="muted">{kindNames[member.type]}</span>
            </span>
            {known.some(({ entityId, damaged }) => damaged && entityId === member.entityId) && <DamagedMark />}
            <IconButton
              small
              icon={LogOut}
              label={`Remove ${member.name} from the space`}
              onClick={attempt(() => leaveSpace(space, member, onChange))}
            />
          </li>
        ))}
      </ul>
      {space.members.length === 0 && <p className="muted">This space has no members.</p>}
      <div>
        <Button icon={UserPlus} label="Add a member…" onClick={() => ask(joinForm(space, known, onChange))} />
      </div>
    </section>
  );
}

const maxBudget = 10_000;
const shownRuns = 50;

interface ReaderChoiceProps extends Pick<ReadsProps, 'space' | 'agents' | 'reader' | 'onReader'> {
  readonly runs: readonly Run[];
  readonly budget: number;
  readonly onBudget: (budget: number) => void;
}

/** Chooses whose timeline is shown (the next call of an agent, or a run) and how many messages it contains. */
function ReaderChoice({ space, agents, runs, reader, onReader, budget, onBudget }: ReaderChoiceProps) {
  const nameOf = (entityId: string) => space.members.find((member) => member.entityId === entityId)?.name;
  return (
    <header className="timeline-head gap-12 rigid line-below row small">
      <label className="timeline-field gap-6 inline-row">
        <span className="muted">Timeline of</span>
        <select className="field" value={reader} onChange={(event) => onReader(event.target.value)}>
          <optgroup label="The next call of an agent">
            {agents.map((agent) => (
              <option key={agent.entityId} value={`agent ${agent.entityId}`}>
                {agent.name}
              </option>
            ))}
          </optgroup>
          {runs.length > 0 && (
            <optgroup label="A run">
              {runs.slice(0, shownRuns).map((run) => (
                <option key={run.runId} value={`run ${run.runId}`}>
                  {nameOf(run.entityId)}, {say.when(run.invokedAt)} ({run.runId})
                </option>
              ))}
            </optgroup>
          )}
        </select>
      </label>
      <label className="timeline-field gap-6 inline-row" title="How many messages the timeline contains">
        <span className="muted">Messages</span>
        <Input
          className="timeline-budget rigid"
          type="number"
          min={1}
          max={maxBudget}
          value={budget}
          onChange={(text) => onBudget(Math.max(1, Math.min(maxBudget, Number(text) || 1)))}
        />
      </label>
    </header>
  );
}
