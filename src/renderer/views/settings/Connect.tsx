import { Copy, ExternalLink } from 'lucide-react';
import { useRef, useState } from 'react';
import { api } from '../../client';
import { Button, TaskProblem } from '../../parts';
import { copy, show, useTask } from '../../state';
import { Field, sendingTexts } from './NewReplica';

interface Asked {
  readonly address: string;
  readonly code: string;
}

interface ConnectProps {
  /** The hub that refuses this machine, to sign in again. */
  place: { hub: string; project: string } | undefined;
  isRunning: boolean;
  onConnect: (place: { hub: string; project: string; token?: string | undefined }) => void;
  /** Called when a sign-in begins, to clear the error of a failed connection. */
  onSignIn: () => void;
}

/** The form that connects a project with a hub, with a token or a sign-in. */
export function Connect({ place, isRunning, onConnect, onSignIn }: ConnectProps) {
  const form = useRef<HTMLFormElement>(null);
  const [asked, ask] = useState<Asked>();
  const [signingIn, start, forgetSignIn] = useTask<string>();
  const submit = sendingTexts((text) => {
    forgetSignIn();
    onConnect({ hub: text('hub'), project: text('project'), token: text('token') || undefined });
  });
  const signIn = async (): Promise<void> => {
    const field = form.current?.elements.namedItem('hub');
    if (!(field instanceof HTMLInputElement) || !field.reportValidity()) return;
    ask(undefined);
    onSignIn();
    await start(async (signal) => {
      for await (const code of await api.team.signIn({ hub: field.value }, { signal })) ask(code);
      return field.value;
    });
  };
  return (
    <form className="storage-new gap-8" aria-label="Connect with a hub" ref={form} onSubmit={submit}>
      <Field name="hub" label="Hub" type="url" required defaultValue={place?.hub} placeholder="https://hub.example" />
      <Field
        name="project"
        label="Project there"
        required
        defaultValue={place?.project}
        pattern="[a-z0-9][a-z0-9._\-]{0,99}"
        placeholder="web-shop"
      />
      <Field name="token" label="Token" type="password" autoComplete="off" placeholder="stm_… (empty if you sign in)" />
      {!place && (
        <p className="muted">
          No hub yet? <code>stemma hub</code> starts one and prints its address and token.
        </p>
      )}
      <div className="storage-actions row wrap">
        <Button type="submit" look="primary" label={isRunning ? 'Connecting…' : 'Connect'} disabled={isRunning} />
        <Button label="Sign in" disabled={signingIn.state === 'running'} onClick={() => void signIn()} />
      </div>
      <div aria-live="polite">
        {signingIn.state === 'running' && asked && <Code {...asked} onCancel={signingIn.stop} />}
        {signingIn.state === 'done' && <p>Signed in at {signingIn.result}. Connect without a token.</p>}
        <TaskProblem task={signingIn} />
      </div>
    </form>
  );
}

function Code({ address, code, onCancel }: Asked & { onCancel: () => void }) {
  return (
    <>
      <p>
        Enter the code <code>{code}</code> at <code>{address}</code>.
      </p>
      <div className="storage-actions row wrap">
        <Button icon={ExternalLink} label="Open the page" onClick={() => show({ kind: 'link', href: address })} />
        <Button icon={Copy} label="Copy the code" onClick={() => void copy(code, 'Copied the code')} />
        <Button label="Cancel" onClick={onCancel} />
      </div>
    </>
  );
}
