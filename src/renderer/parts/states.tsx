import { CircleAlert, Copy, RotateCcw } from 'lucide-react';
import { type ComponentProps, isValidElement, type ReactElement, type ReactNode, useEffect, useRef } from 'react';
import { useConnection } from '../client';
import { copy, type Query, type TaskState, useOpenDir } from '../state';
import { Button, type Icon } from './buttons';
import { RepairButton } from './Damaged';
import { describeProblem, isAway } from './problem';

interface EmptyProps {
  readonly title: string;
  readonly children?: ReactNode;
  /** An icon, or another picture. */
  readonly picture?: ReactElement | Icon;
  readonly actions?: ReactNode;
  /** Actions that are buttons. */
  readonly acts?: readonly (
    | (Pick<ComponentProps<typeof Button>, 'icon' | 'look'> & { readonly name: string; readonly act: () => void })
    | undefined
  )[];
}

/** An empty state: one sentence, one action, and a faint picture of the future content. */
export function Empty({ title, children, picture: Picture, acts, actions }: EmptyProps) {
  return (
    <div className="state stack muted">
      {Picture && (
        <div className="picture" aria-hidden>
          {isValidElement(Picture) ? Picture : <Picture size={48} strokeWidth={1} />}
        </div>
      )}
      <h2>{title}</h2>
      {children && <p>{children}</p>}
      {(acts || actions) && (
        <div className="actions">
          {acts
            ?.filter((one) => one !== undefined)
            .map(({ name, act, ...look }) => (
              <Button key={name} label={name} {...look} onClick={act} />
            ))}
          {actions}
        </div>
      )}
    </div>
  );
}

/** A failure: what happened, to what, what still works, what to do, and details to copy. */
export function Failure(props: { what: string; error: unknown; stillWorks?: string; onRetry?: (() => void) | undefined; actions?: ReactNode }) {
  const { what, error, stillWorks, onRetry, actions } = props;
  const problem = describeProblem(error);
  const dir = useOpenDir();
  useRetryWhenBack(error, onRetry);
  return (
    <div className="state stack muted" role="alert">
      <CircleAlert size={28} aria-hidden color="var(--danger)" />
      <h2>{what}</h2>
      <p>{problem.message}</p>
      {stillWorks && <p>{stillWorks}</p>}
      <div className="actions">
        {/* What breaks a rule breaks it again. */}
        {onRetry && problem.code !== 'BAD_REQUEST' && <Button icon={RotateCcw} label="Try again" onClick={onRetry} />}
        {/* A project that cannot be opened has no page that repairs it. */}
        {problem.code === 'CORRUPT' && dir && <RepairButton small={false} />}
        {actions}
        <Button icon={Copy} label="Copy details" onClick={() => void copy(`${what}\n${problem.details}`, 'Copied the details')} />
      </div>
      <details>
        <summary>Details ({problem.code})</summary>
        <pre>{problem.details}</pre>
      </details>
    </div>
  );
}

/** A loading state: placeholder bars after 150 ms; a text, with the progress if it is known, and a cancel button after a second. */
export function Loading(props: { what: string; progress?: string | undefined; onCancel?: (() => void) | undefined; lines?: number | undefined }) {
  const { what, progress, onCancel, lines = 8 } = props;
  return (
    <div role="status" aria-label={what}>
      <div className="skeleton stack" aria-hidden>
        {Array.from({ length: lines }, (_, n) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the bars never change
          <i key={n} style={{ width: `${[72, 48, 88, 60, 80, 36][n % 6]}%` }} />
        ))}
      </div>
      <div className="loading-words row muted">
        <span>{what}…</span>
        {progress && <span aria-hidden>{progress}</span>}
        {onCancel && <Button small label="Cancel" onClick={onCancel} />}
      </div>
    </div>
  );
}

/** The result of a query, or its loading, failed or canceled state. */
export function Answer<T>(props: {
  query: Query<T>;
  what: string;
  loading: string;
  progress?: string | undefined;
  stillWorks?: string;
  lines?: number;
  /** More actions for a failed query. */
  actions?: ReactNode;
  children: (data: T) => ReactNode;
}) {
  const { query, what, loading, progress, stillWorks, lines, actions, children } = props;
  switch (query.status) {
    case 'idle':
      return null;
    case 'loading':
      return <Loading what={loading} progress={progress} onCancel={query.cancel} lines={lines} />;
    case 'done':
      return children(query.data);
    case 'failed':
      return <Failure what={what} error={query.error} onRetry={query.retry} actions={actions} stillWorks={stillWorks} />;
    case 'canceled':
      return (
        <Empty title="Canceled" acts={[{ name: 'Load again', act: query.retry }]}>
          {loading} was stopped.
        </Empty>
      );
  }
}

/** Repeats a query when the engine is back. */
function useRetryWhenBack(error: unknown, onRetry: (() => void) | undefined): void {
  const isBack = useConnection(({ state }) => state.phase === 'open');
  const wasAway = useRef(false);
  const retry = useRef(onRetry);
  retry.current = onRetry;
  useEffect(() => {
    if (!isBack) wasAway.current = true;
    else if (wasAway.current && isAway(error)) retry.current?.();
  }, [isBack, error]);
}

/** A one-line error next to the action that failed. */
export const ProblemLine = ({ children }: { children: ReactNode }) => (
  <p className="notice-line error" role="alert">
    {children}
  </p>
);

/** The error of a task that failed. */
export const TaskProblem = ({ task }: { task: TaskState<unknown> }) =>
  task.state === 'failed' && <ProblemLine>{describeProblem(task.error).message}</ProblemLine>;

/** A line in place of content that could not be read, or above a list that lacks such content. */
export function Unread({ what, error, onRetry }: { what: string; error: unknown; onRetry: () => void }) {
  const dir = useOpenDir();
  useRetryWhenBack(error, onRetry);
  const { message, code } = describeProblem(error);
  return (
    <div className="notice-line error" role="alert">
      <span className="grow">
        {what} could not be read: {message}
      </span>
      {code === 'CORRUPT' && dir && <RepairButton />}
      <Button small label="Try again" onClick={onRetry} />
    </div>
  );
}
