import { runtimes, type SessionChange, type SessionRow } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Failure, Loading, Sheet, say, TaskProblem } from '../../parts';
import { dismiss, go, refreshProject, show, useOpenDir, useQuery, useTask } from '../../state';

const kinds: Readonly<Record<string, string>> = {
  orphan_result: 'A result without its call',
  unanswered_call: 'A call without a result',
  empty_thinking: 'Empty thinking',
  unsigned_thinking: 'Thinking without a signature',
  empty_text: 'An empty text',
  lone_surrogate: 'Half of a character',
  nul: 'NUL characters',
  large_image: 'An image that is too large',
  torn_line: 'A torn line',
  broken_parent: 'A missing parent',
};

/** The kinds of entries, with which the text of an entry begins. */
const entryKind = /^(?:text|thinking|tool_call|tool_result|image|summary|event) ?/;
const ofLines: ReadonlySet<string> = new Set(['torn_line', 'broken_parent']);

function Change({ change: { kind, before, after } }: { change: SessionChange }) {
  const outcome = kind === 'broken_parent' ? 'follows the record before it' : after === null ? 'is left out' : 'becomes';
  const text = before.replace(entryKind, '');
  return (
    <li>
      <strong>{kinds[kind] ?? kind}</strong> <span className="muted">{outcome}</span>
      {after !== null && <p className="mono">{after.replace(entryKind, '')}</p>}
      {text !== '' && <p className={ofLines.has(kind) ? 'muted small' : 'mono muted'}>{after === null ? text : `before: ${text}`}</p>}
    </li>
  );
}

/** Shows each change of a repair before it is made, makes a fork with only these changes, and hands it to the agent. */
export function RepairSheet({ session }: { session: SessionRow }) {
  const { sessionId, agent } = session;
  const dir = useOpenDir();
  const [repaired, start] = useTask<void>();
  const planned = useQuery(dir === undefined ? null : `${dir} ${sessionId} repair`, () => api.session.repair({ sessionId, dryRun: true }));
  const repair = async (): Promise<void> => {
    const { commit } = await api.session.repair({ sessionId });
    dismiss();
    await refreshProject();
    if (!commit) return;
    go({ view: 'chain', session: sessionId, commit: commit.id });
    show({ kind: 'resume', commit: commit.id, agent: runtimes.find((one) => one === agent) ?? 'claude-code' });
  };
  const changes = planned.status === 'done' ? planned.data.changes : [];
  return (
    <Sheet
      title="Repair & continue"
      onClose={dismiss}
      action={{ label: 'Repair & continue', disabled: changes.length === 0, onClick: () => void start(repair) }}
    >
      {planned.status === 'loading' && <Loading what="Looking for what a model would refuse" lines={3} />}
      {planned.status === 'failed' && <Failure what="The session cannot be examined" error={planned.error} onRetry={planned.retry} />}
      {planned.status === 'done' && (
        <>
          <p className="muted">
            {changes.length === 0
              ? 'Nothing in this session would be refused by a model.'
              : `The fork gets ${say.plural(changes.length, 'change')}. The session itself stays as it is.`}
          </p>
          <ul className="repair-changes">
            {changes.map((change) => (
              <Change key={`${change.key} ${change.kind}`} change={change} />
            ))}
          </ul>
        </>
      )}
      <TaskProblem task={repaired} />
    </Sheet>
  );
}
