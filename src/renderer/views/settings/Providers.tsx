import { KeyRound, Plus } from 'lucide-react';
import { useRef, useState } from 'react';
import type { ProviderAccount, ProviderAccounts, Wire } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Answer, Button, notifyProblem, RemoveButton, Select, Sheet, TaskProblem } from '../../parts';
import { dismiss, useQuery, useTask } from '../../state';
import { Field, sendingTexts } from './NewReplica';

const origins: Record<ProviderAccount['from'], string> = {
  environment: 'from environment variables',
  settings: 'added here',
  machine: 'default address',
};

const wireNames: Record<Wire, string> = {
  openai: 'Chat Completions (OpenAI-compatible)',
  responses: 'Responses API (OpenAI)',
  anthropic: 'Messages API (Anthropic)',
  gemini: 'Gemini API (Google)',
};

/** Lists, adds and removes model providers. The operating system keeps the keys; the window never shows them. */
export function Providers() {
  const query = useQuery('providers', (signal) => api.provider.list({}, { signal }));
  return (
    <Answer query={query} what="Cannot list the providers" loading="Loading the providers" lines={4}>
      {(accounts) => <Accounts first={accounts} />}
    </Answer>
  );
}

/** The list of providers as a sheet, for a form that needs a provider. */
export const ProvidersSheet = () => (
  <Sheet title="Providers and keys" onClose={dismiss}>
    <Providers />
  </Sheet>
);

function Accounts({ first }: { first: ProviderAccounts }) {
  const [accounts, setAccounts] = useState(first);
  const [changed, start] = useTask<void>();
  const change = (work: () => Promise<ProviderAccounts>): void =>
    void start(async (signal) => {
      try {
        setAccounts(await work());
      } catch (error) {
        // Another change has started: this one has no line of its own any more.
        if (signal.aborted) notifyProblem(error);
        throw error;
      }
    });
  return (
    <div className="providers">
      <ul aria-label="Providers">
        {accounts.providers.map((account) => (
          <li key={account.id} className="row">
            <span className="grow">
              <b>{account.title}</b> <span className="mono muted">{account.url}</span>
              <br />
              <span className="muted">
                {origins[account.from]} · {account.hasKey ? 'has a key' : 'no key'}
              </span>
            </span>
            {account.from === 'settings' && (
              <RemoveButton
                label={`Remove ${account.title}${account.hasKey ? ' and its key' : ''}`}
                question={`Remove ${account.title}?`}
                onRemove={() => change(() => api.provider.remove({ id: account.id }))}
              >
                Stemma forgets its address{account.hasKey && ' and deletes its key from the operating system’s key store'}. Replies from it stay.
              </RemoveButton>
            )}
          </li>
        ))}
      </ul>
      <TaskProblem task={changed} />
      <NewProvider noKeys={accounts.noKeys} onChange={change} />
    </div>
  );
}

function NewProvider({ noKeys, onChange }: { noKeys: string | null; onChange: (work: () => Promise<ProviderAccounts>) => void }) {
  const [wire, setWire] = useState<Wire>('openai');
  const keyField = useRef<HTMLInputElement>(null);
  return (
    <form
      className="providers-new gap-8 labeled stack"
      aria-label="Add a provider"
      onSubmit={sendingTexts((text, form) => {
        const [title, url, key] = [text('title'), text('url'), text('key')];
        // Clears the key from the page as soon as it is sent.
        if (keyField.current) keyField.current.value = '';
        onChange(async () => {
          const accounts = await api.provider.set({ title, url, wire, ...(key && { key }) });
          form.reset();
          return accounts;
        });
      })}
    >
      <h3>Add a provider</h3>
      <Select before="API" value={wire} options={Object.entries(wireNames)} onChange={setWire} />
      <Field name="title" label="Name" required maxLength={100} spellCheck />
      <Field
        name="url"
        label="Address"
        className="field mono"
        type="url"
        required
        placeholder={wire === 'openai' || wire === 'responses' ? 'http://127.0.0.1:1234/v1' : 'http://127.0.0.1:1234'}
      />
      {noKeys === null ? (
        <>
          <Field ref={keyField} name="key" label="Key" className="field mono" type="password" autoComplete="off" />
          <p className="muted">
            <KeyRound size={12} aria-hidden /> The operating system stores the key. It is never in a project and is sent only to this address.
          </p>
        </>
      ) : (
        <p className="notice-line">{noKeys}</p>
      )}
      <Button type="submit" look="primary" icon={Plus} label="Add provider" />
    </form>
  );
}
