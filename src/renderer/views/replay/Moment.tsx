import { CircleCheck, CircleDashed, CircleDot, FileText, Scissors } from 'lucide-react';
import { type ReactNode, useEffect, useMemo, useRef, useState } from 'react';
import type { ContextId, Kind, MomentState, ReplayStep, TurnRow, UsageContext, UsageSeries } from '../../../core/contract/index.js';
import { api } from '../../client';
import {
  colorOf,
  describeProblem,
  Estimate,
  kindNames,
  Loading,
  ProblemLine,
  type Share,
  type ShownUsage,
  say,
  shareOfPart,
  TokenLegend,
  Window,
} from '../../parts';
import { coalesced, useSeries } from '../../state';
import { TurnProof } from './TurnProof';
import { firstSteps, type ShownSteps } from './turns';

/** Without the earlier steps, the state lacks what only they did. */
interface MomentProps extends ShownSteps {
  readonly place: number;
  readonly turn: TurnRow | undefined;
  /** The file that is open beside the state. */
  readonly file: string | undefined;
  readonly onGo: (place: number) => void;
  readonly onFile: (path: string | undefined) => void;
}

/** The agent's state at a step: context window, open tool calls, tasks and files. */
export function Moment({ project, commit, before, steps, place, turn, file, onGo, onFile }: MomentProps) {
  const { state, error } = useMoment(commit, before + place + 1, before > 0 ? firstSteps : undefined);
  const counted = useCounted(project, commit, steps, place);
  return (
    <aside className="moment" aria-label="State at this step">
      {error !== undefined && <ProblemLine>Cannot load the state at this step: {describeProblem(error).message}</ProblemLine>}
      {state && (
        <>
          <WindowFacts state={state} counted={counted} added={steps[place]?.tokens ?? 0} />
          <OpenCalls state={state} steps={steps} onGo={onGo} />
          <Section name="Tasks" count={state.todos.length} none="The agent has no task list.">
            <ul className="moment-list">
              {state.todos.map((todo) => (
                <li key={todo.text} className={`todo row baseline gap-6 ${todo.status}`}>
                  <TodoMark status={todo.status} /> <span>{todo.text}</span> <span className="unseen">{todo.status}</span>
                </li>
              ))}
            </ul>
          </Section>
          <Files state={state} step={before + place + 1} file={file} onFile={onFile} />
          {state.before !== undefined && <Loading what="Loading what earlier steps opened, read and planned" lines={2} />}
        </>
      )}
      {turn && <TurnProof key={turn.turnId} project={project} turn={turn} />}
    </aside>
  );
}

function OpenCalls({ state, steps, onGo }: { state: MomentState; steps: readonly ReplayStep[]; onGo: (place: number) => void }) {
  const goTo = (key: string): void => {
    const place = steps.findIndex((step) => step.key === key);
    onGo(Math.max(0, place));
  };
  return (
    <Section name="Open tool calls" count={state.openCalls.length} none="None. Every call has a result.">
      <ul className="moment-list">
        {state.openCalls.map((call) => (
          <li key={call.toolCallId}>
            <button type="button" className="ellipsis" onClick={() => goTo(call.key)} title="Go to the call">
              <CircleDot size={12} aria-hidden /> {call.toolName ?? 'Tool'} <span className="muted mono">{call.toolCallId}</span>
            </button>
          </li>
        ))}
      </ul>
    </Section>
  );
}

function Files({ state, step, file: opened, onFile }: Pick<MomentProps, 'file' | 'onFile'> & { state: MomentState; step: number }) {
  return (
    <Section name="Files" count={state.files.length} none="The agent has not read or written a file yet.">
      <ul className="moment-list">
        {state.files
          .toSorted((a, b) => b.last.step - a.last.step)
          .map(({ path, last, known }) => (
            <li key={path}>
              <button
                type="button"
                className={`row gap-6 wide selectable moment-file${last.step === step ? ' now' : ''}`}
                aria-pressed={opened === path}
                onClick={() => onFile(opened === path ? undefined : path)}
                title={path}
              >
                <FileText size={12} aria-hidden />
                <span className="name">{lastPart(path)}</span>
                <span className="folder ellipsis muted">
                  <bdi>{path.slice(0, -lastPart(path).length)}</bdi>
                </span>
                <span className="muted rigid">{known === 'unknown' ? `${last.how}, content unknown` : last.how}</span>
              </button>
            </li>
          ))}
      </ul>
    </Section>
  );
}

const lastPart = (path: string): string => path.split(/[\\/]/).findLast((part) => part !== '') ?? path;

function Section({ name, count, none, children }: { name: string; count: number; none: string; children: ReactNode }) {
  return (
    <section className="moment-part" aria-label={name}>
      <h3 className="row baseline gap-6">
        {name} {count > 0 && <span className="muted">{count}</span>}
      </h3>
      {count === 0 ? <p className="muted">{none}</p> : children}
    </section>
  );
}

function TodoMark({ status }: { status: string }) {
  if (status === 'completed' || status === 'done') return <CircleCheck size={12} aria-hidden />;
  if (status === 'in_progress') return <CircleDot size={12} aria-hidden />;
  return <CircleDashed size={12} aria-hidden />;
}

/** Loads the state at a step: with `last`, from the last steps alone. During fast movement, only the last wanted step is loaded next. */
function useMoment(id: ContextId, step: number, last: number | undefined) {
  const [answer, setAnswer] = useState<{ readonly state?: MomentState; readonly error?: unknown }>({});
  const wanted = useRef({ id, step, last });
  wanted.current = { id, step, last };
  const ask = useRef(() => {});
  useEffect(() => {
    const over = new AbortController();
    const load = () =>
      api.turn.state(wanted.current).then(
        (state) => setAnswer({ state }),
        (error: unknown) => setAnswer({ error }),
      );
    ask.current = coalesced(load, { restMs: () => 0, signal: over.signal });
    return () => over.abort();
  }, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another step repeats the question
  useEffect(() => ask.current(), [id, step, last]);
  return answer;
}

/** What the provider counted as the input of the call whose reply a step belongs to or follows. */
function useCounted(project: string, commit: ContextId, steps: readonly ReplayStep[], place: number): ShownUsage {
  const query = useSeries(project, commit);
  const series = query.data;
  const places = useMemo(() => placesOfReplies(series, steps), [series, steps]);
  return useMemo(() => {
    if (query.status === 'loading') return 'loading';
    const from = places.findLast((reply) => reply.place <= place);
    // After a compaction, nothing is counted until the next call.
    const isCompacted = from === undefined || steps.slice(from.place + 1, place + 1).some(({ dropped }) => dropped !== undefined);
    return series === undefined || isCompacted ? undefined : countedUsage(series, from.call);
  }, [query.status, series, places, steps, place]);
}

type Call = UsageSeries['calls'][number];

/** The step at which the reply of each call begins. */
function placesOfReplies(series: UsageSeries | undefined, steps: readonly ReplayStep[]): { readonly place: number; readonly call: Call }[] {
  const calls = new Map(series?.calls.map((call) => [call.replyKey, call]));
  return steps.flatMap(({ key }, place) => {
    const call = calls.get(key);
    return call ? [{ place, call }] : [];
  });
}

function countedUsage({ kinds, basis }: UsageSeries, { requestId, counted, limit, parts, notRecorded }: Call): UsageContext {
  return {
    counted,
    requestId,
    estimated: parts.reduce((sum, tokens) => sum + tokens, 0),
    limit,
    model: null,
    parts: kinds.map((kind, at) => ({ kind, tokens: parts[at] ?? 0, basis })).filter(({ tokens }) => tokens > 0),
    notRecorded,
  };
}

/** The tokens in the context window at a step, what the provider counted for its reply, and what a compaction removed. The step `added` tokens. */
function WindowFacts({ state: { window, dropped }, counted, added }: { state: MomentState; counted: ShownUsage; added: number }) {
  return (
    <section className="moment-part" aria-label="Context window">
      <h3 className="row baseline gap-6">
        Context <Window usage={counted} estimate={window.tokens} />
      </h3>
      {counted === undefined || counted === 'loading' || counted.counted === null ? (
        <Shares byKind={window.byKind} total={window.tokens} />
      ) : (
        <>
          <Bar total={counted.counted} parts={partsOf(counted)} />
          <TokenLegend rows={[]} usage={counted} />
        </>
      )}
      <p className="muted">
        {say.plural(window.entries, 'entry', 'entries')}; this step added <Estimate of={added} />
      </p>
      {dropped && (
        <div className="moment-dropped">
          <p>
            <Scissors size={12} aria-hidden /> A compaction removed {say.plural(dropped.entries, 'entry', 'entries')},{' '}
            <b>
              <Estimate of={dropped.tokens} />
            </b>
            :
          </p>
          <Shares byKind={dropped.byKind} total={dropped.tokens} />
        </div>
      )}
    </section>
  );
}

/** The parts of a counted input. */
const partsOf = ({ notRecorded, parts }: UsageContext) => [
  { kind: 'none', tokens: notRecorded ?? 0 },
  ...parts.map(({ kind, tokens }) => ({ kind, tokens, color: colorOf(shareOfPart[kind]) })),
];

const Bar = ({ total, parts }: { total: number; parts: readonly { kind: string; tokens: number; color?: string }[] }) => (
  <div className="moment-bar" aria-hidden>
    {parts.map(({ kind, tokens, color }) => (
      <i key={kind} className={`kind-${kind}`} style={{ background: color && `var(${color})`, width: `${(tokens / (total || 1)) * 100}%` }} />
    ))}
  </div>
);

/** Sums are by kind only, so text of user and assistant has one color. */
const shares: Record<Kind, Share> = {
  text: 'assistant',
  thinking: 'thinking',
  tool_call: 'call',
  tool_result: 'result',
  image: 'user',
  summary: 'summary',
  event: 'system',
};

function Shares({ byKind, total }: { byKind: MomentState['window']['byKind']; total: number }) {
  return (
    <>
      <Bar total={total} parts={byKind.map(({ kind, tokens }) => ({ kind, tokens, color: colorOf(shares[kind]) }))} />
      <ul className="token-legend wrap small">
        {byKind.map(({ kind, tokens }) => (
          <li key={kind} className="inline-row">
            <i aria-hidden style={{ background: `var(${colorOf(shares[kind])})` }} />
            {kindNames[kind]}{' '}
            <b>
              <Estimate of={tokens} bare />
            </b>
          </li>
        ))}
      </ul>
    </>
  );
}
