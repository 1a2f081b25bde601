import { CircleStop, GitFork, Send } from 'lucide-react';
import { useEffect, useId, useRef, useState } from 'react';
import type { ReplyPart, Ticket, TicketThread } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Button, Fold, IconButton, Markdown, problemOf, say } from '../../parts';
import { go, refreshProject, show, ticketsChanged, useQuery, useTickets } from '../../state';
import { Behind } from './Behind';
import { Problem } from './writing';

const nobody = 'nobody';
const providerKey = 'stemma.answers';

/** What is being asked, which other parts of the page may begin. */
interface Question {
  readonly question: string;
  readonly onQuestion: (question: string) => void;
}

/** Whoever understood the ticket when it was written, as one can talk to: what they understood, and what was said since. */
export function Thread({ project, ticket, thread, question, onQuestion }: { project: string; ticket: Ticket; thread: TicketThread } & Question) {
  const reply = useReply(ticket.ticketId);
  const end = useRef<HTMLDivElement>(null);
  const arrived = reply.parts.length;
  useEffect(() => {
    if (thread.messages.length + arrived > 0) end.current?.scrollIntoView({ block: 'nearest' });
  }, [thread.messages.length, arrived]);
  const who = thread.answers ?? 'whoever wrote it';
  const last = thread.messages.findLast((message) => message.current);
  return (
    <aside className="thread" aria-label="Discussion">
      <header className="thread-head">
        <h2>Discussion</h2>
        <span className="muted ellipsis grow">with {who}, as they were then</span>
      </header>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a list that scrolls is reached by keyboard */}
      <section className="thread-scroll" tabIndex={0} aria-label="Messages of the discussion">
        {thread.from ? (
          <Behind
            project={project}
            contextId={thread.from}
            tip={thread.tip}
            found={ticket.versions.findLast((version) => version.contextId === thread.from)?.contextFound ?? ticket.contextFound}
          />
        ) : (
          <p className="notice-line">
            {ticket.contextId === null
              ? 'Nothing was recorded of what its writer understood, so a discussion begins with an empty context.'
              : `It was written with ${ticket.contextId}, which is not in this project: import the history that holds it to resume from there.`}
          </p>
        )}
        {thread.messages.length === 0 && !reply.running && (
          <p className="muted thread-empty">
            Nothing was asked yet. A question goes to {who} with all that they understood {thread.from ? 'at that commit' : 'and that is recorded'}.
            Each message becomes a commit on a branch of its own, so that discussions of other findings know nothing of it.
          </p>
        )}
        <ol className="thread-messages">
          {thread.messages.map((message) => (
            <Message key={message.commit} message={message} />
          ))}
          {(reply.running || arrived > 0) && <Arriving who={who} parts={reply.parts} running={reply.running} />}
        </ol>
        <div ref={end} />
      </section>
      <Asking
        who={who}
        answers={thread.answers}
        remembers={thread.from !== null}
        ticketId={ticket.ticketId}
        isAsked={last !== undefined && last.role !== 'assistant'}
        reply={reply}
        question={question}
        onQuestion={onQuestion}
      />
    </aside>
  );
}

function Message({ message }: { message: TicketThread['messages'][number] }) {
  const isAnswer = message.role === 'assistant';
  return (
    <li className={`thread-message ${isAnswer ? 'kind-assistant' : 'kind-user'}${message.current ? '' : ' aside'}`}>
      <header>
        <b>{message.by ?? 'somebody'}</b>
        <time className="muted" dateTime={message.at} title={say.instant(message.at)}>
          {say.when(message.at)}
        </time>
        {!message.current && <span className="badge">not gone on with</span>}
        <span className="grow" />
        <button
          type="button"
          className="link-button mono"
          title={`${message.commit}\nOpen the context up to here`}
          onClick={() => go({ view: 'context', commit: message.commit, entry: undefined, stop: undefined })}
        >
          {say.shortId(message.commit)}
        </button>
        <IconButton small icon={GitFork} label="Fork from here" onClick={() => show({ kind: 'fork', commit: message.commit, stop: 'compaction' })} />
      </header>
      {message.tools.length > 0 && <p className="muted thread-tools">used {message.tools.join(', ')}</p>}
      <Fold text={message.text} lines={40}>
        {(shown) => (isAnswer ? <Markdown text={shown} /> : <p className="thread-text">{shown}</p>)}
      </Fold>
    </li>
  );
}

/** A reply as it comes in; what was said about it stays until the next question. */
function Arriving({ who, parts, running }: { who: string; parts: readonly ReplyPart[]; running: boolean }) {
  const text = parts.map((part) => (part.kind === 'text' ? part.delta : '')).join('');
  const tools = parts.flatMap((part) => (part.kind === 'tool_call' ? [part.toolName ?? 'a tool'] : []));
  const notices = parts.filter((part) => part.kind === 'notice');
  return (
    <li className="thread-message kind-assistant" aria-live="polite" aria-busy={running}>
      {running && (
        <header>
          <b>{who}</b>
          <span className="muted">{text === '' ? 'is asked…' : 'answers…'}</span>
        </header>
      )}
      {tools.length > 0 && <p className="muted thread-tools">uses {tools.join(', ')}</p>}
      {running && text !== '' && <Markdown text={text} />}
      {notices.map((part) => (
        <p key={part.delta} className="notice-line">
          {part.delta}
        </p>
      ))}
    </li>
  );
}

interface Reply {
  readonly parts: readonly ReplyPart[];
  readonly running: boolean;
  readonly problem: string | undefined;
  readonly answer: (provider: string, model: string | undefined) => Promise<void>;
  readonly stop: () => void;
  readonly clear: () => void;
}

/** Has the thread's last message answered, and holds what came of it until the thread itself says it. */
function useReply(ticketId: string): Reply {
  const [parts, setParts] = useState<readonly ReplyPart[]>([]);
  const [running, setRunning] = useState<AbortController>();
  const [problem, setProblem] = useState<string>();
  useEffect(() => () => running?.abort(), [running]);
  return {
    parts,
    running: running !== undefined,
    problem,
    stop: () => running?.abort(),
    clear: () => {
      setParts([]);
      setProblem(undefined);
    },
    answer: async (provider, model) => {
      const controller = new AbortController();
      setParts([]);
      setProblem(undefined);
      setRunning(controller);
      try {
        const stream = await api.ticket.answer({ ticketId, provider, ...(model && { model }) }, { signal: controller.signal });
        const came: ReplyPart[] = [];
        for (;;) {
          const step = await stream.next();
          if (step.done || controller.signal.aborted) break;
          came.push(step.value);
          setParts([...came]);
        }
        // The reply is in the thread now; what was said about it is not.
        setParts(came.filter((part) => part.kind === 'notice'));
      } catch (error) {
        if (!controller.signal.aborted) setProblem(problemOf(error).message);
        setParts([]);
      }
      setRunning(undefined);
      await refreshProject();
      ticketsChanged();
    },
  };
}

interface AskingProps extends Question {
  readonly who: string;
  readonly answers: string | null;
  /** What they understood then is here. */
  readonly remembers: boolean;
  readonly ticketId: string;
  /** The last word waits for an answer. */
  readonly isAsked: boolean;
  readonly reply: Reply;
}

function Asking({ who, answers, remembers, ticketId, isAsked, reply, question, onQuestion }: AskingProps) {
  const actor = useTickets((state) => state.actor);
  const field = useRef<HTMLTextAreaElement>(null);
  const [by, setBy] = useState(() => localStorage.getItem(providerKey) ?? 'recorded');
  const [model, setModel] = useState('');
  const [problem, setProblem] = useState<string>();
  const [busy, setBusy] = useState(false);
  const providers = useQuery('providers', () => api.turn.providers({}));
  const known = providers.status === 'done' ? providers.data : [{ id: 'recorded', title: 'As it was recorded', models: [] }];
  const provider = known.find(({ id }) => id === by);
  const isSelf = answers !== null && answers === actor;
  const ids = useId();
  const choose = (id: string): void => {
    localStorage.setItem(providerKey, id);
    setBy(id);
    setModel('');
  };
  // A question that was begun elsewhere on the page is gone on with here.
  useEffect(() => {
    if (question !== '' && document.activeElement !== field.current) field.current?.focus();
  }, [question]);
  const answerNow = (): Promise<void> => reply.answer(by, model || provider?.models[0]);
  const speak = async (): Promise<void> => {
    setBusy(true);
    setProblem(undefined);
    try {
      await api.ticket.discuss({ ticketId, text: question.trim(), principal: actor });
      onQuestion('');
      reply.clear();
      ticketsChanged();
      if (!isSelf && by !== nobody) await answerNow();
      else await refreshProject();
    } catch (error) {
      setProblem(problemOf(error).message);
    } finally {
      setBusy(false);
    }
  };
  return (
    <form
      className="asking"
      onSubmit={(event) => {
        event.preventDefault();
        if (question.trim() !== '' && !busy && !reply.running) void speak();
      }}
    >
      <Problem>{problem ?? reply.problem}</Problem>
      <textarea
        ref={field}
        className="field"
        aria-label={isSelf ? 'Your answer' : `Ask ${who}`}
        placeholder={isSelf ? `Answer as ${actor}…` : `Ask ${who}${remembers ? ', who remembers all of it' : ''}…`}
        rows={3}
        value={question}
        onChange={(event) => onQuestion(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || event.shiftKey) return;
          event.preventDefault();
          event.currentTarget.form?.requestSubmit();
        }}
      />
      <div className="asking-line">
        {isSelf ? (
          <span className="muted grow">You write as {actor}: this is the answer.</span>
        ) : (
          <>
            <label htmlFor={`${ids}-by`} className="muted">
              Answered by
            </label>
            <select id={`${ids}-by`} className="field" value={by} onChange={(event) => choose(event.target.value)}>
              {known.map(({ id, title, problem: reason }) => (
                <option key={id} value={id} disabled={reason !== undefined}>
                  {title}
                  {reason && ' (not there)'}
                </option>
              ))}
              <option value={nobody}>Nobody yet: {who} is asked to start</option>
            </select>
            {provider && provider.models.length > 1 && (
              <select className="field" aria-label="Model" value={model} onChange={(event) => setModel(event.target.value)}>
                {provider.models.map((each) => (
                  <option key={each} value={each}>
                    {each}
                  </option>
                ))}
              </select>
            )}
            <span className="grow" />
          </>
        )}
        {reply.running ? (
          <Button icon={CircleStop} onClick={reply.stop}>
            Stop
          </Button>
        ) : (
          <>
            {isAsked && !isSelf && by !== nobody && question.trim() === '' && (
              <Button disabled={busy} onClick={() => void answerNow()}>
                Answer the last question
              </Button>
            )}
            <Button icon={Send} look="primary" type="submit" disabled={busy || question.trim() === ''}>
              {isSelf ? 'Answer' : 'Ask'}
            </Button>
          </>
        )}
      </div>
    </form>
  );
}
