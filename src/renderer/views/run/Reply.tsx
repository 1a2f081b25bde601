import { Ban, BookOpen, Check, CircleAlert, GitCompare, Hourglass, MessageCircleQuestionMark } from 'lucide-react';
import { useState } from 'react';
import type { ContextId, Entry } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Button, Checkbox, Code, EntryView, notifyProblem, ProblemLine, say, sending, TextArea, ToolView } from '../../parts';
import { openComparison, openContext, type Sample, type SamplePart, useEvery } from '../../state';

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
const colors: Partial<Record<Sample['state'], string>> = { failed: 'var(--danger)', done: 'var(--good)', asking: 'var(--accent)' };

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
      <header className="reply-head line-below row wrap small">
        <b>{isAlone ? 'Reply' : `Sample ${number}`}</b>
        <span className="inline-row muted" style={{ color: colors[state] }}>
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
      <div className="reply-body gap-8 stack">
        {parts.map((_, n) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: parts are only added at the end
          <Part key={n} parts={parts} n={n} isOver={['done', 'failed', 'stopped'].includes(state)} />
        ))}
        {sample.limit && <Limit reason={sample.limit.reason} until={sample.limit.until} />}
        {sample.question && <Question key={sample.question.id} {...sample.question} />}
        {sample.problem && <ProblemLine>{sample.problem}. No branch was created.</ProblemLine>}
        {state === 'stopped' && <p className="muted">Stopped before the reply was complete. No branch was created.</p>}
      </div>
      {commit && (
        <footer className="reply-foot line-above row wrap small">
          <Button small icon={BookOpen} label="Open branch" onClick={() => openContext(commit)} />
          <Button small icon={GitCompare} label="Compare" onClick={() => openComparison(commit, turnId)} />
        </footer>
      )}
    </article>
  );
}

/** A part of a reply, drawn like an entry of a context. A call stands with its result. */
function Part({ parts, n, isOver }: { parts: readonly SamplePart[]; n: number; isOver: boolean }) {
  const part = parts[n];
  if (!part) return null;
  if (part.kind === 'notice') return <p className="notice-line">{part.text}</p>;
  // The results arrive in the order of the calls, so the place of a call among the calls is that of its result among the results.
  const placeOf = (kind: SamplePart['kind']): number => parts.slice(0, n).filter((each) => each.kind === kind).length;
  if (part.kind === 'tool_result' && parts.filter(({ kind }) => kind === 'tool_call').length > placeOf('tool_result')) return null;
  if (part.kind !== 'tool_call') return <EntryView entry={entryOf(part)} />;
  const result = parts.filter(({ kind }) => kind === 'tool_result')[placeOf('tool_call')];
  const from = result && (result.from === 'person' ? 'your answer' : 'recorded result');
  return (
    <ToolView
      call={{ ...entryOf(part), ...(from && { marks: [from] }) }}
      result={result ? entryOf(result) : isOver ? null : undefined}
      noResult="No result: the reply ends with this call."
    />
  );
}

const roles = { text: 'assistant', thinking: 'assistant', tool_call: 'assistant', tool_result: 'tool' } as const;

/** A part of a reply as an entry. It is no entry of a commit yet, so its tokens are an estimate and its source is empty. */
function entryOf({ kind, text, toolName }: SamplePart): Entry {
  const of = kind === 'notice' ? 'text' : kind;
  return {
    ...{ key: '' as Entry['key'], role: roles[of], kind: of, toolName, tokens: Math.ceil(text.length / charactersPerToken) },
    ...(of === 'tool_call' ? { arguments: argumentsOf(text) } : of === 'tool_result' ? { result: text } : { text }),
    source: { commit: '' as ContextId, index: 0 },
  };
}

const charactersPerToken = 4;

/** The arguments of a call; their text while it is no JSON yet. */
function argumentsOf(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return json;
  }
}

/** Counts down to the time at which the provider accepts the next call. */
function Limit({ reason, until }: { reason: string; until: number }) {
  const [now, setNow] = useState(Date.now());
  useEvery(250, true, () => setNow(Date.now()));
  return (
    <p className="notice-line" role="status">
      <Hourglass size={13} aria-hidden /> {reason}. Retrying in {Math.max(0, Math.ceil((until - now) / 1_000))} s.
    </p>
  );
}

/** A tool call without a recorded result. The person enters the result or stops the run; the tool itself does not run (P5). */
function Question({ id, toolName, input }: { id: string; toolName: string; input: string }) {
  const [text, setText] = useState('');
  const [isError, setIsError] = useState(false);
  const [isSent, setIsSent] = useState(false);
  const send = (answer: string | undefined) => {
    setIsSent(true);
    api.turn.answer({ questionId: id, ...(answer !== undefined && { text: answer, isError }) }).catch((error: unknown) => {
      setIsSent(false);
      notifyProblem(error);
    });
  };
  return (
    <form className="reply-question gap-8 stack" aria-label={`Result of ${toolName}`} onSubmit={sending(() => send(text))}>
      <p>
        <MessageCircleQuestionMark size={13} aria-hidden /> <b>The recording has no result for this call of {toolName}.</b> Stemma does not run the
        tool. Enter its result, or stop the run here.
      </p>
      <details>
        <summary>Arguments</summary>
        <Code text={JSON.stringify(argumentsOf(input), null, 2)} language="json" />
      </details>
      <TextArea
        className="mono"
        rows={4}
        // The run waits for this answer.
        autoFocus
        label="Text of the result"
        placeholder={`Output of ${toolName}`}
        value={text}
        onChange={setText}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) send(text);
          event.stopPropagation();
        }}
      />
      <div className="row">
        <Checkbox label="The tool failed" checked={isError} onChange={() => setIsError(!isError)} />
        <span className="grow" />
        <Button small label="Stop the run" disabled={isSent} onClick={() => send(undefined)} />
        <Button small type="submit" look="primary" label="Send result" disabled={isSent} />
      </div>
    </form>
  );
}
