import { CloudUpload, Plus } from 'lucide-react';
import { useState } from 'react';
import type { TierState } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Answer, Button, RemoveButton, say } from '../../parts';
import { useQuery } from '../../state';
import { TaskProblem, useTask } from './task';

type Replicated = Awaited<ReturnType<typeof api.tier.replicate>>;

/** Where copies lie: other folders and buckets, what each holds and what it waits for. */
export function Backing({ onChanged }: { onChanged: () => void }) {
  const [round, setRound] = useState(0);
  const [adding, setAdding] = useState(false);
  const [changed, change] = useTask<readonly TierState[]>();
  const [copied, copy] = useTask<Replicated>();
  const query = useQuery(`tiers ${round}`, (signal) => api.tier.list({}, { signal }));
  const reread = (): void => {
    setRound((n) => n + 1);
    onChanged();
  };
  return (
    <section aria-label="Backing stores">
      <h3>Backing stores</h3>
      <p className="muted">Copies go there in the background; what was evicted here comes back from there when it is read.</p>
      <Answer query={query} what="The backing stores cannot be listed" loading="Reading the backing stores" lines={2}>
        {(tiers) => (
          <>
            {tiers.length === 0 && <p>None yet: everything lies in the project's folder alone.</p>}
            <ul className="storage-tiers" aria-label="Backing stores">
              {tiers.map((tier) => (
                <Tier key={tier.name} tier={tier} onRemove={() => void change(() => api.tier.remove({ name: tier.name })).then(reread)} />
              ))}
            </ul>
            <div className="storage-actions">
              {tiers.length > 0 && (
                <Button
                  icon={CloudUpload}
                  disabled={copied.state === 'running'}
                  onClick={() => void copy((signal) => api.tier.replicate({}, { signal })).then(reread)}
                >
                  {copied.state === 'running' ? 'Copying…' : 'Copy now what waits'}
                </Button>
              )}
              {!adding && (
                <Button icon={Plus} onClick={() => setAdding(true)}>
                  Add a backing store
                </Button>
              )}
            </div>
          </>
        )}
      </Answer>
      {adding && (
        <NewTier
          onCancel={() => setAdding(false)}
          onAdd={(tier) =>
            void change(async () => {
              const tiers = await api.tier.set(tier);
              setAdding(false);
              return tiers;
            }).then(reread)
          }
        />
      )}
      <div aria-live="polite">
        {copied.state === 'done' && (
          <p>
            {say.plural(copied.result.copied, 'object')} copied, {say.bytes(copied.result.bytes)}.
            {copied.result.problems.map(({ tier, message }) => (
              <span key={tier} className="storage-unsound">
                {' '}
                {tier}: {message}
              </span>
            ))}
          </p>
        )}
        <TaskProblem task={changed} />
        <TaskProblem task={copied} />
      </div>
    </section>
  );
}

function Tier({ tier: { name, place, takes, held, waiting, problem }, onRemove }: { tier: TierState; onRemove: () => void }) {
  return (
    <li>
      <span className="grow">
        <b>{name}</b>{' '}
        <span className="mono muted">
          {place.kind === 'folder' ? place.dir : [place.endpoint, place.bucket, place.prefix].filter(Boolean).join('/')}
        </span>
        <br />
        <span className="muted">
          takes {takes === 'all' ? 'everything that stays' : 'what is to be replicated'} · holds {say.plural(held, 'object')}
          {waiting > 0 && ` · ${say.exact(waiting)} waiting`}
        </span>
        {problem !== undefined && <span className="storage-unsound storage-tier-problem">Not reached when last tried: {problem}</span>}
      </span>
      <RemoveButton label={`Remove ${name}`} question={`Remove ${name}?`} onRemove={onRemove}>
        Nothing more is copied there{place.kind === 's3' && ', and its keys are forgotten'}.{' '}
        {held > 0 && `What it holds stays where it is: ${say.plural(held, 'object')}. `}
        Where it alone holds something, it is not removed.
      </RemoveButton>
    </li>
  );
}

type NewTierInput = Parameters<typeof api.tier.set>[0];

function NewTier({ onAdd, onCancel }: { onAdd: (tier: NewTierInput) => void; onCancel: () => void }) {
  const [kind, setKind] = useState<'folder' | 's3'>('folder');
  return (
    <form
      className="storage-new"
      aria-label="Add a backing store"
      onSubmit={(event) => {
        event.preventDefault();
        const given = new FormData(event.currentTarget);
        const text = (field: string): string => String(given.get(field) ?? '').trim();
        const some = (field: string): Record<string, string> => (text(field) ? { [field]: text(field) } : {});
        const hasKeys = text('accessKeyId') !== '' && text('secretAccessKey') !== '';
        onAdd({
          name: text('name'),
          takes: text('takes') === 'all' ? 'all' : 'replicate',
          place:
            kind === 'folder'
              ? { kind, dir: text('dir') }
              : { kind, bucket: text('bucket'), ...some('endpoint'), ...some('region'), ...some('prefix') },
          ...(kind === 's3' && hasKeys && { credentials: { accessKeyId: text('accessKeyId'), secretAccessKey: text('secretAccessKey') } }),
        });
      }}
    >
      <label>
        <span className="muted">Is</span>
        <select className="field" value={kind} onChange={(event) => setKind(event.target.value === 's3' ? 's3' : 'folder')}>
          <option value="folder">a folder</option>
          <option value="s3">a bucket that speaks S3</option>
        </select>
      </label>
      <Field name="name" label="Name" required pattern="[a-z0-9][a-z0-9\-]{0,63}" placeholder="backup" />
      {kind === 'folder' ? (
        <Field name="dir" label="Folder" required placeholder="/mnt/backup/stemma" />
      ) : (
        <>
          <Field name="bucket" label="Bucket" required />
          <Field name="endpoint" label="Endpoint" type="url" placeholder="of a server that is not Amazon's" />
          <Field name="region" label="Region" />
          <Field name="prefix" label="Prefix" />
          <Field name="accessKeyId" label="Access key" autoComplete="off" placeholder="else that of the environment" />
          <Field name="secretAccessKey" label="Secret" type="password" autoComplete="off" />
        </>
      )}
      <label>
        <span className="muted">Takes</span>
        <select className="field" name="takes">
          <option value="replicate">objects that are to be replicated</option>
          <option value="all">everything that stays</option>
        </select>
      </label>
      <div className="storage-actions">
        <Button type="submit" look="primary">
          Add
        </Button>
        <Button onClick={onCancel}>Cancel</Button>
      </div>
    </form>
  );
}

const Field = ({ label, ...input }: { label: string } & React.InputHTMLAttributes<HTMLInputElement>) => (
  <label>
    <span className="muted">{label}</span>
    <input className="field" spellCheck={false} {...input} />
  </label>
);
