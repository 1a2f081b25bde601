import { Ban, BookOpen, Check, CircleAlert, GitCompare, Hourglass, MessageCircleQuestionMark } from 'lucide-react';
import { useEffect, useState } from 'react';
import type { ContextId } from '../../../core/contract/index.js';
import { Button, Code, Fold, Markdown, notifyProblem, ProblemLine, say } from '../../parts';
import { answerQuestion, go, type Sample, type SamplePart } from '../../state';

const stateNames: Record<Sample['state'], string> = {
  waiting: 'waiting',
  streaming: 'replying',
  limited: 'rate limited',
  asking: 'waiting for you',
  done: 'done',
  failed: 'failed',
  stopped: 'stopped',
};
const icons = { failed: CircleAlert, done: Check, limited: Hourglass, asking: MessageCircleQuestionMark, stopped: Ban } as const;

/** One reply as it arrives. */
export function Reply({ sample, number, isAlone, turnId }: { sample: Sample; number: number; isAlone: boolean; turnId: ContextId }) {
  const { state, parts, tokens, cost, commit, startedAt, endedAt } = sample;
  const Glyph = state in icons ? icons[state as keyof typeof icons] : undefined;
  return (
    <article
      className={`reply stack ${state}`}
      aria-label={isAlone ? 'Reply' : `Reply ${number}`}
      aria-busy={state === 'streaming' || state === 'waiting'}
    >
      <header className="reply-head row wrap small">
        <b>{isAlone ? 'Reply' : `Sample ${number}`}</b>
        <span className="reply-state inline-row muted">
          {Glyph ? <Glyph size={12} aria-hidden /> : <i className="reply-dot" aria-hidden />} {stateNames[state]}
        </span>
        <span className="grow" />
        <span className="muted">
          {[
            tokens?.output != null && `${say.compact(tokens.output)} tok out`,
            tokens?.input != null && `${say.compact(tokens.input)} in`,
            cost !== undefined && `$${cost.toFixed(4)}`,
            startedAt && endedAt && say.duration(endedAt - startedAt),
          ]
            .filter(Boolean)
            .join(' · ')}
        </span>
      </header>
      <div className="reply-body stack">
        {parts.map((part, n) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: parts are only added at the end
          <Part key={n} part={part} />
        ))}
        {sample.limit && <Limit reason={sample.limit.reason} until={sample.limit.until} />}
        {sample.question && <Question key={sample.question.id} {...sample.question} />}
        {sample.problem && <ProblemLine>{sample.problem}. No branch was created.</ProblemLine>}
        {state === 'stopped' && <p className="muted">Stopped before the reply was complete. No branch was created.</p>}
      </div>
      {commit && (
        <footer className="reply-foot row wrap small">
          <Button small icon={BookOpen} onClick={() => go({ view: 'context', commit, entry: undefined, stop: undefined })}>
            Open branch
          </Button>
          <Button small icon={GitCompare} onClick={() => go({ view: 'compare', commit, against: turnId, entry: undefined })}>
            Compare
          </Button>
        </footer>
      )}
    </article>
  );
}

function Part({ part }: { part: SamplePart }) {
  switch (part.kind) {
    case 'text':
      return <Markdown text={part.text} />;
    case 'thinking':
      return (
        <details className="reply-thinking kind-thinking">
          <summary>Thinking</summary>
          <Markdown text={part.text} />
        </details>
      );
    case 'tool_call':
      return (
        <div className="reply-call kind-tool">
          <b>{part.toolName ?? 'Tool'}</b>
          <Code text={indented(part.text)} language="json" />
        </div>
      );
    case 'tool_result':
      return (
        <div className="reply-result kind-tool">
          <span className="muted">{part.from === 'person' ? 'Your answer' : 'Recorded result'}</span>
          <Fold text={part.text || '(empty)'} lines={8}>
            {(shown) => <pre className="output">{shown}</pre>}
          </Fold>
        </div>
      );
    case 'notice':
      return <p className="notice-line">{part.text}</p>;
  }
}

const indented = (json: string): string => {
  try {
    return JSON.stringify(JSON.parse(json), null, 2);
  } catch {
    return json;
  }
};

/** Counts down to the time at which the provider accepts the next call. */
function Limit({ reason, until }: { reason: string; until: number }) {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 250);
    return () => clearInterval(timer);
  }, []);
  return (
    <p className="notice-line" role="status">
      <Hourglass size={13} aria-hidden /> {reason}. Retrying in {Math.max(0, Math.ceil((until - now) / 1_000))} s.
    </p>
  );
}

/** A tool call without a recorded result. The person enters the result or stops the run; the tool itself never runs. */
function Question({ id, toolName, input }: { id: string; toolName: string; input: string }) {
  const [text, setText] = useState('');
  const [isError, setIsError] = useState(false);
  const [isSent, setIsSent] = useState(false);
  const send = (answer: string | undefined) => {
    setIsSent(true);
    answerQuestion(id, answer, isError).catch((error: unknown) => {
      setIsSent(false);
      notifyProblem(error);
    });
  };
  return (
    <form
      className="reply-question stack"
      aria-label={`Result of ${toolName}`}
      onSubmit={(event) => {
        event.preventDefault();
        send(text);
      }}
    >
      <p>
        <MessageCircleQuestionMark size={13} aria-hidden /> <b>The recording has no result for this call of {toolName}.</b> Stemma does not run the
        tool. Enter its result, or stop the run here.
      </p>
      <details>
        <summary>Arguments</summary>
        <Code text={indented(input)} language="json" />
      </details>
      <textarea
        className="field mono"
        rows={4}
        // biome-ignore lint/a11y/noAutofocus: the run waits for this answer
        autoFocus
        aria-label="Text of the result"
        placeholder={`Output of ${toolName}`}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) send(text);
          event.stopPropagation();
        }}
      />
      <div className="row">
        <label>
          <input type="checkbox" checked={isError} onChange={() => setIsError(!isError)} /> The tool failed
        </label>
        <span className="grow" />
        <Button small disabled={isSent} onClick={() => send(undefined)}>
          Stop the run
        </Button>
        <Button small type="submit" look="primary" disabled={isSent}>
          Send result
        </Button>
      </div>
    </form>
  );
}
