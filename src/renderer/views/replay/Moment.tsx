import { CircleCheck, CircleDashed, CircleDot, FileText, Scissors } from 'lucide-react';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import type { ContextId, Kind, MomentState, ReplayStep, TurnRow } from '../../../core/contract/index.js';
import { api } from '../../client';
import { type Family, kindNames, ProblemLine, problemOf, say } from '../../parts';
import { File } from './File';
import { Proving } from './Proving';

interface MomentProps {
  readonly project: string;
  readonly commit: ContextId;
  readonly steps: readonly ReplayStep[];
  readonly place: number;
  readonly turn: TurnRow | undefined;
  readonly onGo: (place: number) => void;
}

/** What the agent had in front of it at this moment. */
export function Moment({ project, commit, steps, place, turn, onGo }: MomentProps) {
  const { state, error } = useMoment(commit, place + 1);
  const [file, setFile] = useState<string>();
  const step = steps[place];
  return (
    <aside className="moment" aria-label="State at this moment">
      {error !== undefined && <ProblemLine>The state at this step cannot be read: {problemOf(error).message}</ProblemLine>}
      {state && (
        <>
          <Window state={state} added={step?.tokens ?? 0} />
          <Section name="Open tool calls" count={state.openCalls.length} none="None: every call has its answer.">
            <ul className="moment-list">
              {state.openCalls.map((call) => (
                <li key={call.toolCallId}>
                  <button
                    type="button"
                    className="ellipsis"
                    onClick={() =>
                      onGo(
                        Math.max(
                          0,
                          steps.findIndex(({ key }) => key === call.key),
                        ),
                      )
                    }
                    title="To the step of the call"
                  >
                    <CircleDot size={12} aria-hidden /> {call.toolName ?? 'Tool'} <span className="muted mono">{call.toolCallId}</span>
                  </button>
                </li>
              ))}
            </ul>
          </Section>
          <Section name="Tasks" count={state.todos.length} none="The agent keeps no list of tasks.">
            <ul className="moment-list">
              {state.todos.map((todo) => (
                <li key={todo.text} className={`todo ${todo.status}`}>
                  <TodoMark status={todo.status} /> <span>{todo.text}</span> <span className="unseen">{todo.status}</span>
                </li>
              ))}
            </ul>
          </Section>
          <Section name="Files touched so far" count={state.files.length} none="No file was read or written yet.">
            <ul className="moment-list">
              {state.files
                .toSorted((a, b) => b.last.step - a.last.step)
                .map((each) => (
                  <li key={each.path}>
                    <button
                      type="button"
                      className={`moment-file${each.last.step === place + 1 ? ' now' : ''}`}
                      aria-expanded={file === each.path}
                      onClick={() => setFile(file === each.path ? undefined : each.path)}
                      title={each.path}
                    >
                      <FileText size={12} aria-hidden />
                      <span className="name">{nameOf(each.path)}</span>
                      <span className="folder ellipsis muted">
                        <bdi>{each.path.slice(0, -nameOf(each.path).length)}</bdi>
                      </span>
                      <span className="muted">{each.known === 'unknown' ? `${each.last.how}, unseen` : each.last.how}</span>
                    </button>
                    {file === each.path && <File commit={commit} path={each.path} place={place} onGo={onGo} changed={each.last.step} />}
                  </li>
                ))}
            </ul>
          </Section>
        </>
      )}
      {turn && <Proving key={turn.turnId} project={project} turn={turn} />}
    </aside>
  );
}

const nameOf = (path: string): string => path.split(/[\\/]/).findLast((part) => part !== '') ?? path;

/** The state at a step. While one moves fast, one question is under way at a time, and the last one asked is answered. */
function useMoment(id: ContextId, step: number): { state: MomentState | undefined; error: unknown } {
  const [answer, setAnswer] = useState<{ state: MomentState | undefined; error: unknown }>({ state: undefined, error: undefined });
  const wanted = useRef(step);
  const asking = useRef(false);
  const alive = useRef(true);
  useEffect(() => {
    alive.current = true;
    return () => {
      alive.current = false;
    };
  }, []);
  useEffect(() => {
    wanted.current = step;
    if (asking.current) return;
    asking.current = true;
    void (async () => {
      for (let asked = -1; asked !== wanted.current && alive.current; ) {
        asked = wanted.current;
        const next = await api.turn.state({ id, step: asked }).then(
          (state) => ({ state, error: undefined }),
          (error: unknown) => ({ state: undefined, error }),
        );
        if (alive.current) setAnswer(next);
      }
      asking.current = false;
    })();
  }, [id, step]);
  return answer;
}

function Window({ state, added }: { state: MomentState; added: number }) {
  const { window, dropped } = state;
  return (
    <section className="moment-part" aria-label="Context window">
      <h3>
        Context window <b>{say.tokens(window.tokens)}</b>
      </h3>
      <Shares byKind={window.byKind} total={window.tokens} />
      <p className="muted">
        {say.plural(window.entries, 'entry', 'entries')}; this step added {say.tokens(added)}
      </p>
      {dropped && (
        <div className="moment-dropped">
          <p>
            <Scissors size={12} aria-hidden /> A compaction took <b>{say.tokens(dropped.tokens)}</b> in{' '}
            {say.plural(dropped.entries, 'entry', 'entries')} out of the window:
          </p>
          <Shares byKind={dropped.byKind} total={dropped.tokens} />
        </div>
      )}
    </section>
  );
}

/** Sums are by kind alone: text of both sides is one of them. */
const hues: Record<Kind, Family> = {
  text: 'assistant',
  thinking: 'thinking',
  tool_call: 'tool',
  tool_result: 'tool',
  image: 'user',
  summary: 'system',
  event: 'system',
};

/** Tokens by kind, as a bar and in words. */
function Shares({ byKind, total }: { byKind: MomentState['window']['byKind']; total: number }) {
  return (
    <>
      <div className="moment-bar" aria-hidden>
        {byKind.map(({ kind, tokens }) => (
          <i key={kind} className={`kind-${hues[kind]} ${kind}`} style={{ width: `${(tokens / (total || 1)) * 100}%` }} />
        ))}
      </div>
      <ul className="token-legend">
        {byKind.map(({ kind, tokens }) => (
          <li key={kind} className={`kind-${hues[kind]} ${kind}`}>
            <i aria-hidden />
            {kindNames[kind].toLowerCase()} <b>≈ {say.compact(tokens)}</b>
          </li>
        ))}
      </ul>
    </>
  );
}

function Section({ name, count, none, children }: { name: string; count: number; none: string; children: ReactNode }) {
  return (
    <section className="moment-part" aria-label={name}>
      <h3>
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
