import { useState } from 'react';
import type { Entity, MemberSpace, Run, Space } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Answer, Empty, notifyProblem, Select, Switch } from '../../parts';
import { useQuery } from '../../state';
import { AgentMind } from './AgentMind';
import { Members } from './Members';
import { Reader } from './Reader';
import { ReaderChoice } from './ReaderChoice';
import type { SpaceData } from './space';

type Side = 'reads' | 'mind' | 'members';
const sides = [
  { value: 'reads', name: 'What it reads', hint: 'The timeline that an agent reads' },
  { value: 'mind', name: 'Agent', hint: 'Goals, memories, plans, runs and waits of an agent' },
  { value: 'members', name: 'Members', hint: 'Who is in the space' },
] as const;

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
    <div className="reader-tools row small">
      <Select
        label="In space"
        value={run.activeSpaceId ?? ''}
        options={[...(run.activeSpaceId === null ? [['', 'None'] as const] : []), ...spaces.map(({ id, name }) => [id, name ?? id] as const)]}
        onChange={enter}
      />
    </div>
  );
}

/** The pane beside the chat: the timeline that an agent reads, its goals, memories and plans, or the members. */
export function Beside({ project, space, known, data, queryKey, pointed, onPoint, nameOf, onChange }: BesideProps) {
  const agents = space.members.filter(({ type }) => type === 'agent');
  const [side, setSide] = useState<Side>('reads');
  const [given, setReader] = useState<string>();
  const [budget, setBudget] = useState(50);
  const reader = given ?? (agents[0] && `agent ${agents[0].entityId}`);
  const [form, id = ''] = reader?.split(' ', 2) ?? [];
  const timeline = useQuery(reader === undefined || side !== 'reads' ? null : `${queryKey} ${reader} ${budget}`, () =>
    form === 'run' ? api.run.timeline({ runId: id, budget }) : api.run.preview({ spaceId: space.spaceId, entityId: id, budget }),
  );
  const run = form === 'run' ? data?.runs.find(({ runId }) => runId === id) : undefined;
  return (
    <div className="timeline-reader stack shrinks">
      <div className="timeline-sides">
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
          project={project}
          agents={agents}
          chosen={form === 'run' ? data?.runs.find(({ runId }) => runId === id)?.entityId : id}
          onChoose={(entityId) => setReader(`agent ${entityId}`)}
          runs={data?.runs ?? []}
          waits={data?.waits ?? []}
          nameOf={nameOf}
          onChange={onChange}
        />
      ) : (
        <>
          <ReaderChoice
            space={space}
            agents={agents}
            runs={data?.runs ?? []}
            reader={reader}
            onReader={setReader}
            budget={budget}
            onBudget={setBudget}
          />
          <Answer query={timeline} what="Cannot render the timeline" loading="Rendering">
            {({ input, rendered, ...call }) => (
              <>
                {run?.status === 'running' && <EnterSpace run={run} spaces={input.spaces} onChange={onChange} />}
                <Reader rendered={rendered} input={input} call={call} pointed={pointed} onPoint={onPoint} />
              </>
            )}
          </Answer>
        </>
      )}
    </div>
  );
}
