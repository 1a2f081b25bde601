import { CirclePlay } from 'lucide-react';
import { useEffect, useMemo } from 'react';
import type { ContextId, ReplayStep, TurnRow } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Answer, Empty, say } from '../../parts';
import { move, useNavigation, useQuery } from '../../state';
import { NoCommit, ToCommit } from '../NoCommit';
import { axisOf, nextSpeed } from './axis';
import { Controls } from './Controls';
import { Conversation } from './Conversation';
import { Moment } from './Moment';
import { Track } from './Track';
import { usePlayer } from './usePlayer';

/** A chain, played: from its first prompt to the chosen commit. */
export function ReplayView({ project }: { project: string }) {
  const commit = useNavigation(({ route }) => route.commit);
  const query = useQuery(commit ? `${project} ${commit} replay` : null, async (signal) => {
    const id = commit as ContextId;
    const [{ steps }, turns] = await Promise.all([api.turn.steps({ id }, { signal }), api.turn.list({ id }, { signal })]);
    return { steps, turns };
  });
  if (!commit) {
    return (
      <NoCommit title="Nothing to play yet" icon={CirclePlay}>
        A replay goes from the first prompt to the commit that you choose, step by step, with what the agent knew at each.
      </NoCommit>
    );
  }
  return (
    <Answer
      query={query}
      what={`The chain up to ${say.shortId(commit)} cannot be played`}
      loading="Reading the steps"
      stillWorks="The chain and other commits still work."
      actions={<ToCommit />}
      lines={14}
    >
      {({ steps, turns }) =>
        steps.length === 0 ? (
          <Empty title="There is nothing to play" picture={<CirclePlay size={48} strokeWidth={1} />}>
            Nothing up to this commit was sent to a model.
          </Empty>
        ) : (
          <Playing key={`${project} ${commit}`} project={project} commit={commit} steps={steps} turns={turns} />
        )
      }
    </Answer>
  );
}

interface PlayingProps {
  readonly project: string;
  readonly commit: ContextId;
  readonly steps: readonly ReplayStep[];
  readonly turns: readonly TurnRow[];
}

function Playing({ project, commit, steps, turns }: PlayingProps) {
  const entry = useNavigation(({ route }) => route.entry);
  const axis = useMemo(() => axisOf(steps), [steps]);
  const linked = useMemo(() => steps.findIndex((step) => step.key === entry), [steps, entry]);
  // Without a moment in the address, one looks at the end; play begins again from the start.
  const player = usePlayer(axis, linked >= 0 ? linked : steps.length - 1);
  const { place, playing, speed, go: goTo, toggle, setSpeed } = player;

  // The address follows a little later: while it plays, not every step is worth a write.
  const key = steps[place]?.key;
  useEffect(() => {
    const timer = setTimeout(() => key && move({ entry: key }), playing ? 600 : 120);
    return () => clearTimeout(timer);
  }, [key, playing]);
  // Back, forward and the other panes choose an entry: the playhead goes there.
  // biome-ignore lint/correctness/useExhaustiveDependencies: only a new wish moves the playhead
  useEffect(() => {
    if (linked >= 0 && linked !== place && !playing) goTo(linked);
  }, [linked]);

  const turnAt = (at: number): number =>
    Math.max(
      0,
      turns.findLastIndex((turn) => turn.first <= at && turn.entries > 0),
    );
  const turnIndex = turnAt(place);
  const turn = turns[turnIndex];
  const toTurn = (by: 1 | -1) => {
    // Back goes to the beginning of this turn first, as in every player.
    const to = by < 0 && turn && place > turn.first ? turnIndex : turnIndex + by;
    const next = turns[Math.max(0, Math.min(turns.length - 1, to))];
    if (next) goTo(by > 0 && to >= turns.length ? steps.length - 1 : next.first);
  };

  const onKeyDown = (event: React.KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { target } = event;
    if (target instanceof HTMLSelectElement || target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement) return;
    if ((event.key === ' ' || event.key === 'Enter') && target instanceof HTMLButtonElement) return;
    const named = event.shiftKey && event.key.startsWith('Arrow') ? `Shift${event.key}` : event.key;
    const act = {
      ' ': toggle,
      ArrowRight: () => goTo(place + 1),
      ArrowLeft: () => goTo(place - 1),
      '.': () => goTo(place + 1),
      ',': () => goTo(place - 1),
      ShiftArrowRight: () => toTurn(1),
      ShiftArrowLeft: () => toTurn(-1),
      ']': () => toTurn(1),
      '[': () => toTurn(-1),
      '>': () => setSpeed(nextSpeed(speed, 1)),
      '<': () => setSpeed(nextSpeed(speed, -1)),
      Home: () => goTo(0),
      End: () => goTo(steps.length - 1),
    }[named];
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  };

  return (
    <section className="replay" aria-label="Replay" onKeyDown={onKeyDown}>
      <Track steps={steps} turns={turns} axis={axis} place={place} onGo={goTo} />
      <Controls
        steps={steps}
        turns={turns}
        turnIndex={turnIndex}
        player={player}
        axis={axis}
        onTurn={toTurn}
        actions={turn && { commit, turn: turn.turnId }}
      />
      <div className="replay-body">
        <Conversation project={project} commit={commit} steps={steps} place={place} playing={playing} />
        <Moment project={project} commit={commit} steps={steps} place={place} turn={turn} onGo={goTo} />
      </div>
    </section>
  );
}
