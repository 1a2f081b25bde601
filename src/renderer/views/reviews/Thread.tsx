import { CircleStop, GitFork, Send } from 'lucide-react';
import { useEffect, useId, useRef, useState } from 'react';
import type { ReplyPart, Ticket, TicketThread } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Button, Fold, IconButton, LinkButton, Markdown, Select, say, sendAtEnter, sending, TaskProblem, TextArea, When } from '../../parts';
import { openContext, readStream, refreshProject, show, ticketsChanged, useQuery, useTask, useTickets } from '../../state';
import { Behind } from './Behind';

type Provider = Pick<Awaited<ReturnType<typeof api.turn.providers>>[number], 'id' | 'title' | 'models' | 'problem'>;

const nobody = 'nobody';
const providerKey = 'stemma.answers';

/** The draft of the question. Other parts of the page may fill it in. */
interface Question {
  readonly question: string;
  readonly onQuestion: (question: string) => void;
}

/** The discussion with the author of a ticket as they were then: their context and the messages since. */
export function Thread({ project, ticket, thread, question, onQuestion }: { project: string; ticket: Ticket; thread: TicketThread } & Question) {
  const reply = useReply(ticket.ticketId);
  const end = useRef<HTMLDivElement>(null);
  const arrived = reply.parts.length;
  useEffect(() => {
    if (thread.messages.length + arrived > 0) end.current?.scrollIntoView({ block: 'nearest' });
  }, [thread.messages.length, arrived]);
  const who = thread.answers ?? 'the author';
  return (
    <aside className="thread stack shrinks" aria-label="Discussion">
      <header className="thread-head rigid line-below row baseline">
        <h2>Discussion</h2>
        <span className="muted small ellipsis grow">with {who}, as they were then</span>
      </header>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling list must be reachable by keyboard */}
      <section className="overflows" tabIndex={0} aria-label="Messages of the discussion">
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
              ? 'The context of the author was not recorded, so the discussion starts with an empty one.'
              : `The ticket was written at ${ticket.contextId}, which is not in this project. Import the history that contains it to continue from there.`}
          </p>
        )}
        {thread.messages.length === 0 && !reply.running && (
          <p className="muted thread-empty">
            No messages yet. A question goes to {who}
            {thread.from ? ' with their whole context at that commit' : ''}. Each message becomes a commit on a branch of its own, so discussions of
            other findings do not contain it.
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
      <Asking ticketId={ticket.ticketId} who={who} thread={thread} reply={reply} question={question} onQuestion={onQuestion} />
    </aside>
  );
}

function Message({ message }: { message: TicketThread['messages'][number] }) {
  const isAnswer = message.role === 'assistant';
  return (
    <li className={`thread-message ${isAnswer ? 'kind-assistant' : 'kind-user'}${message.current ? '' : ' aside'}`}>
      <header className="row baseline small">
        <b>{message.by ?? 'unknown'}</b>
        <When at={message.at} className="muted" />
        {!message.current && <span className="badge">not continued</span>}
        <span className="grow" />
        <LinkButton className="mono" title={`${message.commit}\nOpen the context up to here`} onClick={() => openContext(message.commit)}>
          {say.shortId(message.commit)}
        </LinkButton>
        <IconButton small icon={GitFork} label="Fork from here" onClick={() => show({ kind: 'fork', commit: message.commit, stop: 'compaction' })} />
      </header>
      {message.tools.length > 0 && <p className="muted small">used {message.tools.join(', ')}</p>}
      <Fold text={message.text} lines={40}>
        {(shown) => (isAnswer ? <Markdown text={shown} /> : <p className="thread-text breaks">{shown}</p>)}
      </Fold>
    </li>
  );
}

/** A reply as it arrives. Notices about it stay until the next question. */
function Arriving({ who, parts, running }: { who: string; parts: readonly ReplyPart[]; running: boolean }) {
  const text = parts.map((part) => (part.kind === 'text' ? part.delta : '')).join('');
  const tools = parts.flatMap((part) => (part.kind === 'tool_call' ? [part.toolName ?? 'a tool'] : []));
  const notices = parts.filter((part) => part.kind === 'notice');
  return (
    <li className="thread-message kind-assistant" aria-live="polite" aria-busy={running}>
      {running && (
        <header className="row baseline small">
          <b>{who}</b>
          <span className="muted">{text === '' ? 'is thinking…' : 'is answering…'}</span>
        </header>
      )}
      {tools.length > 0 && <p className="muted small">uses {tools.join(', ')}</p>}
      {running && text !== '' && <Markdown text={text} />}
      {notices.map((part) => (
        <p key={part.delta} className="notice-line">
          {part.delta}
        </p>
      ))}
    </li>
  );
}

interface AskingProps extends Question {
  readonly ticketId: string;
  readonly who: string;
  readonly thread: TicketThread;
  readonly reply: ReturnType<typeof useReply>;
}

function Asking({ ticketId, who, thread, reply, question, onQuestion }: AskingProps) {
  const { answers, from, messages } = thread;
  const last = messages.findLast((message) => message.current);
  const isAsked = last !== undefined && last.role !== 'assistant';
  const actor = useTickets((state) => state.actor);
  const [by, setBy] = useState(() => localStorage.getItem(providerKey) ?? 'recorded');
  const [model, setModel] = useState('');
  const [asking, ask] = useTask<void>();
  const busy = asking.state === 'running';
  const providers = useQuery('providers', () => api.turn.providers({}));
  const known = providers.status === 'done' ? providers.data : [{ id: 'recorded', title: 'As recorded', models: [] }];
  const provider = known.find(({ id }) => id === by);
  const isSelf = answers !== null && answers === actor;
  const choose = (id: string): void => {
    localStorage.setItem(providerKey, id);
    setBy(id);
    setModel('');
  };
  const answerNow = (): Promise<void> => reply.answer(by, model || provider?.models[0]);
  const speak = (): Promise<void> =>
    ask(async () => {
      await api.ticket.discuss({ ticketId, text: question.trim(), principal: actor });
      onQuestion('');
      reply.clear();
      ticketsChanged();
      if (!isSelf && by !== nobody) await answerNow();
      else await refreshProject();
    });
  return (
    <form
      className="asking gap-6 rigid line-above on-pane stack"
      onSubmit={sending(() => question.trim() !== '' && !busy && !reply.running && speak())}
    >
      <TaskProblem task={asking.state === 'failed' ? asking : reply.task} />
      <QuestionField
        label={isSelf ? 'Your answer' : `Ask ${who}`}
        placeholder={isSelf ? `Answer as ${actor}…` : `Ask ${who}${from ? ' with their full context' : ''}…`}
        {...{ question, onQuestion }}
      />
      <div className="asking-line row wrap">
        {isSelf ? (
          <span className="muted grow">You write as {actor}, so this is the answer.</span>
        ) : (
          <>
            <Answerer who={who} by={by} model={model} providers={known} onProvider={choose} onModel={setModel} />
            <span className="grow" />
          </>
        )}
        {reply.task.state === 'running' ? (
          <Button icon={CircleStop} label="Stop" onClick={reply.task.stop} />
        ) : (
          <>
            {isAsked && !isSelf && by !== nobody && question.trim() === '' && (
              <Button label="Answer the last question" disabled={busy} onClick={() => void ask(answerNow)} />
            )}
            <Button icon={Send} look="primary" type="submit" label={isSelf ? 'Answer' : 'Ask'} disabled={busy || question.trim() === ''} />
          </>
        )}
      </div>
    </form>
  );
}

interface AnswererProps {
  readonly who: string;
  readonly by: string;
  readonly model: string;
  readonly providers: readonly Provider[];
  readonly onProvider: (id: string) => void;
  readonly onModel: (model: string) => void;
}

function Answerer({ who, by, model, providers, onProvider, onModel }: AnswererProps) {
  const ids = useId();
  const provider = providers.find(({ id }) => id === by);
  return (
    <>
      <label htmlFor={`${ids}-by`} className="muted small">
        Answered by
      </label>
      <Select
        id={`${ids}-by`}
        value={by}
        options={[
          ...providers.map(({ id, title, problem: reason }) => [id, reason ? `${title} (not available)` : title, reason !== undefined] as const),
          [nobody, `Later: request that ${who} starts`],
        ]}
        onChange={onProvider}
      />
      {provider && provider.models.length > 1 && (
        <Select label="Model" value={model} options={provider.models.map((each) => [each, each])} onChange={onModel} />
      )}
    </>
  );
}

/** The text field of the discussion. Enter sends, Shift Enter starts a new line. */
function QuestionField({ label, placeholder, question, onQuestion }: Question & { label: string; placeholder: string }) {
  const field = useRef<HTMLTextAreaElement>(null);
  // Another part of the page may have filled in the question; continue in the field.
  useEffect(() => {
    if (question !== '' && document.activeElement !== field.current) field.current?.focus();
  }, [question]);
  return <TextArea ref={field} label={label} placeholder={placeholder} rows={3} value={question} onChange={onQuestion} onKeyDown={sendAtEnter} />;
}

/** Lets a provider answer the last message of a ticket's thread. The parts stay until the thread itself contains the reply. */
function useReply(ticketId: string) {
  const [parts, setParts] = useState<readonly ReplyPart[]>([]);
  const [task, start, forget] = useTask<void>();
  const clear = (): void => {
    setParts([]);
    forget();
  };
  const answer = async (provider: string, model: string | undefined): Promise<void> => {
    setParts([]);
    await start(async (signal) => {
      const received: ReplyPart[] = [];
      // The stream takes time to end after a stop.
      signal.addEventListener('abort', () => setParts([]));
      const open = (own: AbortSignal) => api.ticket.answer({ ticketId, provider, ...(model && { model }) }, { signal: own });
      await readStream(open, signal, (part) => {
        received.push(part);
        setParts([...received]);
      }).finally(() => !signal.aborted && setParts([]));
      // The thread now contains the reply, but not the notices about it.
      if (!signal.aborted) setParts(received.filter((part) => part.kind === 'notice'));
    });
    await refreshProject();
    ticketsChanged();
  };
  return { parts, task, running: task.state === 'running', answer, clear };
}
