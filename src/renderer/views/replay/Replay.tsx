import { CirclePlay } from 'lucide-react';
import { useEffect, useMemo, useState } from 'react';
import type { ContextId, ReplayStep, TurnRow } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Empty, say } from '../../parts';
import { AnswerMemory, move, type Query, useNavigation, useQuery, useStep } from '../../state';
import { CommitAnswer, NoCommit, ToCommit } from '../NoCommit';
import { axisOf, nextSpeed } from './axis';
import { Controls } from './Controls';
import { Conversation } from './Conversation';
import { FilePane } from './FilePane';
import { type Command, commandOf } from './keys';
import { Moment } from './Moment';
import { Track } from './Track';
import { firstSteps, placeOfTurn, type ShownSteps, turnAt } from './turns';
import { usePlayer } from './usePlayer';

/** The steps of a chain, or the last of them, as the engine answers. */
interface Replay {
  readonly total: number;
  readonly steps: readonly ReplayStep[];
  readonly turns: readonly TurnRow[];
}

const replays = new AnswerMemory<Replay>(4, 'always');
async function replayOf(query: { readonly id: ContextId; readonly last?: number }, signal: AbortSignal): Promise<Replay> {
  const { packed = '' } = await api.turn.steps({ ...query, packed: true }, { signal });
  return JSON.parse(packed) as Replay;
}

/** The last steps of a chain, and then all. A step that is linked and is not among the last waits for all. */
function useReplay(project: string, commit: ContextId | undefined, entry: string | undefined): Query<Replay> {
  const id = commit as ContextId;
  const last = useQuery(commit ? `${project} ${commit} last` : null, (signal) => replayOf({ id, last: firstSteps }, signal), replays);
  const isPart = last.status === 'done' && last.data.steps.length < last.data.total;
  const whole = useQuery(commit && isPart ? `${project} ${commit}` : null, (signal) => replayOf({ id }, signal), replays);
  const isShown = !isPart || entry === undefined || last.data.steps.some(({ key }) => key === entry);
  return whole.status === 'done' || whole.status === 'failed' || !isShown ? whole : last;
}

/** Plays a chain from its first prompt to the selected commit. */
export function ReplayView({ project }: { project: string }) {
  const commit = useNavigation(({ route }) => route.commit);
  const entry = useNavigation(({ route }) => route.entry);
  const query = useReplay(project, commit, entry);
  if (!commit) {
    return (
      <NoCommit title="No commit selected" icon={CirclePlay}>
        The replay of a chain appears here, from its first prompt to the selected commit, with the agent’s state at each step.
      </NoCommit>
    );
  }
  return (
    <CommitAnswer query={query} what={`Cannot replay the chain up to ${say.shortId(commit)}`} loading="Loading the steps">
      {({ total, steps, turns }) =>
        steps.length === 0 ? (
          <Empty title="No steps to replay" picture={CirclePlay} actions={<ToCommit>Select another commit</ToCommit>}>
            A session plays here step by step. The chain up to this commit contains no entry that a model received.
          </Empty>
        ) : (
          <Player key={`${project} ${commit}`} project={project} commit={commit} before={total - steps.length} steps={steps} turns={turns} />
        )
      }
    </CommitAnswer>
  );
}

function Player({ turns: all, ...shown }: ShownSteps & Pick<Replay, 'turns'>) {
  const { commit, before, steps } = shown;
  const turns = useMemo(() => all.map((turn) => ({ ...turn, first: turn.first - before })), [all, before]);
  const entry = useNavigation(({ route }) => route.entry);
  const axis = useMemo(() => axisOf(steps), [steps]);
  const linked = useMemo(() => steps.findIndex((step) => step.key === entry), [steps, entry]);
  // Without an entry in the address, the replay shows the last step. Play then starts at the beginning.
  const player = usePlayer(axis, before, linked >= 0 ? linked : steps.length - 1);
  const { place, playing, speed, go: goTo, toggle, setSpeed } = player;
  // The address follows with a delay, and less often during playback.
  const { key, commit: at } = steps[place] ?? {};
  const [file, setFile] = useState<string>();
  useEffect(() => {
    const follow = (): void => {
      if (key) move({ entry: key });
      // The breadcrumb and the inspector show the commit of the step.
      useStep.setState({ tip: commit, commit: at });
    };
    const timer = setTimeout(follow, playing ? 600 : 120);
    return () => clearTimeout(timer);
  }, [key, at, commit, playing]);
  useEffect(() => () => useStep.setState({ tip: undefined, commit: undefined }), []);
  // Back, forward and the other panes select an entry; the playhead moves to it.
  // biome-ignore lint/correctness/useExhaustiveDependencies: only a new entry in the address moves the playhead
  useEffect(() => {
    if (linked >= 0 && linked !== place && !playing) goTo(linked);
  }, [linked]);

  const turn = turns[turnAt(turns, place)];
  const toTurn = (by: 1 | -1) => goTo(placeOfTurn(turns, steps.length, place, by));
  const onKeyDown = (event: React.KeyboardEvent) => {
    const command = commandOf(event);
    if (!command) return;
    event.preventDefault();
    event.stopPropagation();
    const acts: Record<Command, () => void> = {
      toggle,
      nextStep: () => goTo(place + 1),
      previousStep: () => goTo(place - 1),
      nextTurn: () => toTurn(1),
      previousTurn: () => toTurn(-1),
      faster: () => setSpeed(nextSpeed(speed, 1)),
      slower: () => setSpeed(nextSpeed(speed, -1)),
      first: () => goTo(0),
      last: () => goTo(steps.length - 1),
    };
    acts[command]();
  };

  return (
    <section className="replay whole stack" aria-label="Replay" onKeyDown={onKeyDown}>
      <Track steps={steps} turns={turns} axis={axis} place={place} onGo={goTo} />
      <Controls {...shown} turn={turn} player={player} axis={axis} onTurn={toTurn} />
      <div className="replay-body rest">
        {file === undefined ? (
          <Conversation {...shown} place={place} playing={playing} />
        ) : (
          <FilePane
            key={file}
            commit={commit}
            path={file}
            step={before + place + 1}
            onGo={(at) => goTo(at - before)}
            onClose={() => setFile(undefined)}
          />
        )}
        <Moment {...shown} place={place} turn={turn} file={file} onGo={goTo} onFile={setFile} />
      </div>
    </section>
  );
}
