import { CloudUpload, Plus } from 'lucide-react';
import { useState } from 'react';
import type { ReplicaState } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Answer, Button, RemoveButton, say, TaskProblem } from '../../parts';
import { useQuery, useRounds, useTask } from '../../state';
import { NewReplica } from './NewReplica';

type Replicated = Awaited<ReturnType<typeof api.replica.replicate>>;

/** Lists and changes the replicas of the project, each with the numbers of its objects and of objects that wait to be copied. */
export function Replicas({ onChanged }: { onChanged: () => void }) {
  const [round, askAgain] = useRounds();
  const [adding, setAdding] = useState<{ readonly name?: string }>();
  const [changed, change] = useTask<readonly ReplicaState[]>();
  const [copied, copy] = useTask<Replicated>();
  const query = useQuery(`replicas ${round}`, (signal) => api.replica.list({}, { signal }));
  const reload = (): void => {
    askAgain();
    onChanged();
  };
  return (
    <section aria-label="Replicas">
      <h2>Replicas</h2>
      <p className="muted">
        A replica is a copy of objects in a folder or an S3 bucket. Stemma copies in the background and fetches an evicted object when it is read. The
        location and keys of a replica stay on this machine; the project contains only its name.
      </p>
      <Answer query={query} what="Cannot list the replicas" loading="Loading the replicas" lines={2}>
        {(replicas) => (
          <>
            {replicas.length === 0 && <p>No replicas yet. The project folder contains the only copy.</p>}
            <ul className="storage-replicas" aria-label="Replicas">
              {replicas.map((replica) => (
                <Replica
                  key={replica.name}
                  replica={replica}
                  onSet={() => setAdding({ name: replica.name })}
                  onRemove={() => void change(() => api.replica.remove({ name: replica.name })).then(reload)}
                />
              ))}
            </ul>
            <Actions
              canCopy={replicas.some(({ place }) => place !== null)}
              isCopying={copied.state === 'running'}
              onCopy={() => void copy((signal) => api.replica.replicate({}, { signal })).then(reload)}
              onAdd={adding ? undefined : () => setAdding({})}
            />
          </>
        )}
      </Answer>
      {adding && (
        <NewReplica
          key={adding.name}
          name={adding.name}
          onCancel={() => setAdding(undefined)}
          onAdd={(replica) =>
            void change(async () => {
              const replicas = await api.replica.set(replica);
              setAdding(undefined);
              return replicas;
            }).then(reload)
          }
        />
      )}
      <div aria-live="polite">
        {copied.state === 'done' && <Copied result={copied.result} />}
        <TaskProblem task={changed} />
        <TaskProblem task={copied} />
      </div>
    </section>
  );
}

function Actions(props: { canCopy: boolean; isCopying: boolean; onCopy: () => void; onAdd: (() => void) | undefined }) {
  const { canCopy, isCopying, onCopy, onAdd } = props;
  return (
    <div className="storage-actions row wrap">
      {canCopy && <Button icon={CloudUpload} label={isCopying ? 'Copying…' : 'Copy now'} disabled={isCopying} onClick={onCopy} />}
      {onAdd && <Button icon={Plus} label="Add a replica" onClick={onAdd} />}
    </div>
  );
}

const Copied = ({ result: { copied, bytes, problems } }: { result: Replicated }) => (
  <p>
    Copied {say.plural(copied, 'object')}, {say.bytes(bytes)}.
    {problems.map(({ replica, message }) => (
      <span key={`${replica} ${message}`} className="tone-bad">
        {' '}
        {replica}: {message}
      </span>
    ))}
  </p>
);

const credentialNames: Record<NonNullable<ReplicaState['credentials']>, string> = {
  none: 'no credentials',
  keys: 'keys in a private file',
  sealed: 'keys sealed by the operating system',
  environment: 'credentials from the environment',
  profile: 'credentials from an AWS profile',
  instance: 'credentials of this cloud instance',
};

function Replica({ replica, onSet, onRemove }: { replica: ReplicaState; onSet: () => void; onRemove: () => void }) {
  const { name, place, takes, credentials, held, waiting, problem } = replica;
  return (
    <li className="row breaks">
      <span className="grow">
        <b>{name}</b>{' '}
        <span className="mono muted">
          {place === null
            ? 'not set up on this machine'
            : place.kind === 'folder'
              ? place.dir
              : [place.endpoint, place.bucket, place.prefix].filter(Boolean).join('/')}
        </span>
        <br />
        <span className="muted">
          {place !== null && `copies ${takes === 'all' ? 'every object' : 'objects marked “replicate”'} · `}
          {place === null ? `expected to contain ${say.plural(held, 'object')}` : `contains ${say.plural(held, 'object')}`}
          {waiting > 0 && ` · ${say.exact(waiting)} waiting`}
          {credentials !== undefined && ` · ${credentialNames[credentials]}`}
        </span>
        {problem !== undefined && <span className="tone-bad storage-replica-problem">{problem}</span>}
      </span>
      {place === null && <Button label="Set up" onClick={onSet} />}
      <RemoveButton label={`Remove ${name}`} question={`Remove ${name}?`} onRemove={onRemove}>
        Stemma stops copying to it{place?.kind === 's3' && ' and forgets its credentials'}.{' '}
        {held > 0 && `Its copies of ${say.plural(held, 'object')} stay there. `}You cannot remove a replica that has the only copy of an object.
      </RemoveButton>
    </li>
  );
}
