import { CloudDownload, CloudUpload, RotateCw } from 'lucide-react';
import { useState } from 'react';
import type { TeamStatus } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Answer, Button, Checkbox, ProblemLine, RemoveButton, say, TaskProblem } from '../../parts';
import { type TaskState, useQuery, useRounds, useTask } from '../../state';
import { Connect } from './Connect';
import { Audit, Members, Retention } from './Members';

interface Exchanged {
  readonly words: string;
  readonly refused: readonly { readonly kind: string; readonly key: string; readonly reason: string }[];
}

/** The hub of the project: connects it, shows the items that would be exchanged, and pushes and pulls. */
export function Team({ onPulled }: { onPulled: () => void }) {
  const [round, reload] = useRounds();
  const [redact, setRedact] = useState(false);
  const [changed, change, forgetChange] = useTask<TeamStatus>();
  const [exchanged, exchange] = useTask<Exchanged>();
  const query = useQuery(`team ${round}`, (signal) => api.team.status({}, { signal }));
  // A form keeps its typed text unless the action succeeded.
  const changeBy = (work: () => Promise<TeamStatus>): void =>
    void change(async () => {
      const status = await work();
      reload();
      return status;
    });
  const connectForm = (place?: { hub: string; project: string }) => (
    <Connect
      place={place}
      isRunning={changed.state === 'running'}
      onConnect={(given) => changeBy(() => api.team.connect(given))}
      onSignIn={forgetChange}
    />
  );
  const push = (): Promise<void> =>
    exchange(async (signal) => {
      const { items, objects, sent, redactions } = await api.team.push({ redact }, { signal });
      const replaced = redactions ? ` Replaced ${say.plural(redactions.length, 'secret, path or address', 'secrets, paths and addresses')}.` : '';
      return { words: moved('Sent', items, objects, `, ${say.bytes(sent)}`, 'The hub has everything already.') + replaced, refused: [] };
    }).then(reload);
  const pull = (): Promise<void> =>
    exchange(async (signal) => {
      const { items, objects, kept, refused } = await api.team.pull({}, { signal });
      onPulled();
      const stayed = kept > 0 ? ` ${say.plural(kept, 'change')} of yours stayed. Push to send ${kept === 1 ? 'it' : 'them'}.` : '';
      return { words: moved('Took over', items, objects, '', 'The hub has nothing new.') + stayed, refused };
    }).then(reload);
  return (
    <section aria-label="Team">
      <h2>Team</h2>
      <p className="muted">
        A hub holds what a team shares. Push sends what the hub lacks, pull takes over what others sent. Files of agents stay here. The address and
        the token stay on this machine.
      </p>
      <Answer query={query} what="Cannot read the connection" loading="Asking the hub" lines={3}>
        {(status) =>
          status.hub === null ? (
            <>
              {connectForm()}
              <Outcome changed={changed} exchanged={exchanged} />
            </>
          ) : (
            <>
              <Connected status={status} onForget={() => changeBy(() => api.team.disconnect({}))} onRetry={reload} />
              {status.refused && status.project !== null && connectForm({ hub: status.hub, project: status.project })}
              {status.problem === undefined && (
                <Actions
                  maySend={maySend(status)}
                  isRunning={exchanged.state === 'running'}
                  redact={redact}
                  onRedact={setRedact}
                  onPush={() => void push()}
                  onPull={() => void pull()}
                />
              )}
              <Outcome changed={changed} exchanged={exchanged} problem={status.problem} />
              {status.role === 'admin' && <Members />}
              {status.role === 'admin' && <Retention days={status.retention} onChanged={reload} />}
              {status.role === 'admin' && <Audit />}
            </>
          )
        }
      </Answer>
    </section>
  );
}

interface ActionsProps {
  maySend: boolean;
  isRunning: boolean;
  redact: boolean;
  onRedact: (redact: boolean) => void;
  onPush: () => void;
  onPull: () => void;
}

function Actions({ maySend, isRunning, redact, onRedact, onPush, onPull }: ActionsProps) {
  return (
    <div className="storage-actions row wrap">
      {maySend && <Button icon={CloudUpload} look="primary" label="Push" disabled={isRunning} onClick={onPush} />}
      <Button icon={CloudDownload} label="Pull" disabled={isRunning} onClick={onPull} />
      {maySend && (
        <Checkbox
          label="Push redacted copies of commits only"
          title="Copies of the commits are sent, in which secrets of known patterns, home folders and e-mail addresses are replaced. Cards and tickets stay."
          checked={redact}
          onChange={onRedact}
        />
      )}
    </div>
  );
}

/** How the last actions ended. A `problem` of the hub is already shown above, and explains why an exchange failed. */
function Outcome({ changed, exchanged, problem }: { changed: TaskState<TeamStatus>; exchanged: TaskState<Exchanged>; problem?: string | undefined }) {
  return (
    <div aria-live="polite">
      {exchanged.state === 'running' && (
        <p className="muted">
          Talking with the hub… <Button small label="Stop waiting" onClick={exchanged.stop} />
        </p>
      )}
      {exchanged.state === 'done' && <Result {...exchanged.result} />}
      <TaskProblem task={changed} />
      {problem === undefined && <TaskProblem task={exchanged} />}
    </div>
  );
}

/** Names of kinds of items. Other kinds keep their own names. */
const kinds: Readonly<Record<string, string>> = {
  context: 'commit',
  box: 'box',
  agentTurn: 'agent turn',
  template: 'template',
  request: 'model call',
};

/** Numbers by kind in words: commits, tickets and cards first, the rest together. */
function inWords(items: Readonly<Record<string, number>>): string {
  const first = ['context', 'ticket', 'card', 'request'];
  const named = first.flatMap((kind) => (items[kind] ? [say.plural(items[kind], kinds[kind] ?? kind)] : []));
  const rest = Object.entries(items).reduce((sum, [kind, count]) => sum + (first.includes(kind) ? 0 : count), 0);
  const all = rest > 0 ? [...named, say.plural(rest, 'other record')] : named;
  return all.length > 0 ? all.join(', ') : 'nothing';
}

const moved = (what: string, items: Readonly<Record<string, number>>, objects: number, more: string, nothing: string): string =>
  Object.keys(items).length === 0 && objects === 0 ? nothing : `${what} ${inWords(items)} and ${say.plural(objects, 'object')}${more}.`;

/** A reader can only pull. */
const maySend = ({ role }: TeamStatus): boolean => role !== 'reader';

function Result({ words, refused }: Exchanged) {
  return (
    <>
      <p>{words}</p>
      {refused.length > 0 && (
        <ul className="storage-problems" aria-label="Not taken over">
          {refused.map(({ kind, key, reason }) => (
            <li key={`${kind} ${key}`}>
              {kinds[kind] ?? kind} {key}: {reason}
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

function Connected({ status, onForget, onRetry }: { status: TeamStatus; onForget: () => void; onRetry: () => void }) {
  const { hub, project, name, role, toPush, toPull, problem } = status;
  return (
    <>
      <ul className="storage-rows">
        <li>
          <b>Hub</b> {hub}
          <RemoveButton label="Disconnect" verb="Disconnect" question="Disconnect this project from its hub?" onRemove={onForget}>
            The address and the token are forgotten on this machine. Nothing changes on the hub or in the project.
          </RemoveButton>
        </li>
        <li>
          <b>Project there</b> {project}
        </li>
        {role !== null && (
          <li>
            <b>You are</b> {name} ({role})
          </li>
        )}
        {problem === undefined && (
          <>
            <li>
              <b>To push</b> {maySend(status) ? inWords(toPush) : 'a reader sends nothing'}
            </li>
            <li>
              <b>To pull</b> {toPull ? say.plural(toPull, 'record') : 'nothing'}
            </li>
          </>
        )}
      </ul>
      {problem !== undefined && (
        <>
          <ProblemLine>{problem}</ProblemLine>
          <div className="storage-actions row wrap">
            <Button icon={RotateCw} label="Try again" onClick={onRetry} />
          </div>
        </>
      )}
    </>
  );
}
