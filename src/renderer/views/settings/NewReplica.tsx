import { type ComponentProps, type FormEvent, useState } from 'react';
import type { api } from '../../client';
import { Button, Select } from '../../parts';

type ReplicaInput = Parameters<typeof api.replica.set>[0];
const credentialNames = {
  keys: 'Access key and secret',
  environment: 'From the environment',
  profile: 'From an AWS profile',
  instance: 'From this cloud instance',
};
type Credentials = keyof typeof credentialNames;

/** The form that adds a replica, or sets up one that the project names. */
export function NewReplica({ name, onAdd, onCancel }: { name: string | undefined; onAdd: (replica: ReplicaInput) => void; onCancel: () => void }) {
  const [kind, setKind] = useState<'folder' | 's3'>('folder');
  const [credentials, setCredentials] = useState<Credentials>('keys');
  const submit = sendingTexts((text) => onAdd(replicaOf(text, kind, credentials)));
  return (
    <form className="storage-new gap-8" aria-label="Add a replica" onSubmit={submit}>
      <Select before="Kind" value={kind} options={Object.entries({ folder: 'Folder', s3: 'S3 bucket' })} onChange={setKind} />
      <Field
        name="name"
        label="Name"
        required
        pattern="[a-z0-9][a-z0-9\-]{0,63}"
        placeholder="backup"
        defaultValue={name}
        readOnly={name !== undefined}
      />
      {kind === 'folder' ? (
        <Field name="dir" label="Folder" required placeholder="/mnt/backup/stemma" />
      ) : (
        <BucketFields credentials={credentials} onCredentials={setCredentials} />
      )}
      <Select before="Copies" name="takes" options={Object.entries({ replicate: 'Objects marked “replicate”', all: 'Every object' })} />
      <div className="storage-actions row wrap">
        <Button type="submit" look="primary" label="Add replica" />
        <Button label="Cancel" onClick={onCancel} />
      </div>
    </form>
  );
}

function BucketFields({ credentials, onCredentials }: { credentials: Credentials; onCredentials: (credentials: Credentials) => void }) {
  return (
    <>
      <Field name="bucket" label="Bucket" required />
      <Field name="endpoint" label="Endpoint" type="url" placeholder="Only for servers other than Amazon S3" />
      <Field name="region" label="Region" placeholder="us-east-1" />
      <Field name="prefix" label="Prefix" />
      <Select before="Credentials" value={credentials} options={Object.entries(credentialNames)} onChange={onCredentials} />
      {credentials === 'keys' && (
        <>
          <Field name="accessKeyId" label="Access key" required autoComplete="off" />
          <Field name="secretAccessKey" label="Secret" type="password" required autoComplete="off" />
        </>
      )}
      {credentials === 'profile' && <Field name="profile" label="Profile" placeholder="default" />}
    </>
  );
}

function replicaOf(text: (field: string) => string, kind: 'folder' | 's3', credentials: Credentials): ReplicaInput {
  const some = (field: string): Record<string, string> => (text(field) ? { [field]: text(field) } : {});
  const named = { name: text('name'), takes: text('takes') === 'all' ? ('all' as const) : ('replicate' as const) };
  if (kind === 'folder') return { ...named, place: { kind, dir: text('dir') } };
  return {
    ...named,
    place: { kind, bucket: text('bucket'), ...some('endpoint'), ...some('region'), ...some('prefix') },
    credentials:
      credentials === 'keys'
        ? { accessKeyId: text('accessKeyId'), secretAccessKey: text('secretAccessKey') }
        : credentials === 'profile'
          ? { from: credentials, ...some('profile') }
          : { from: credentials },
  };
}

/** The handler of a form that is sent. `act` receives the function that reads the text of a field, without spaces at its ends, and the form. */
export const sendingTexts =
  (act: (text: (field: string) => string, form: HTMLFormElement) => void) =>
  (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const form = event.currentTarget;
    act((field) => String(new FormData(form).get(field) ?? '').trim(), form);
  };

/** A text field with its label before it. */
export const Field = ({ label, ...input }: { label: string } & ComponentProps<'input'>) => (
  <label>
    <span className="muted">{label}</span>
    <input className="field" spellCheck={false} {...input} />
  </label>
);
