import { KeyRound, Plus } from 'lucide-react';
import { useRef, useState } from 'react';
import { type ProviderAccount, type ProviderAccounts, type Wire, wires } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Answer, Button, ProblemLine, problemOf, RemoveButton, Sheet } from '../../parts';
import { dismiss, useQuery } from '../../state';

const origins: Record<ProviderAccount['from'], string> = {
  environment: 'set by the environment of the process',
  settings: 'set here',
  machine: 'looked for by itself',
};

/** What a server speaks. */
const wireNames: Record<Wire, string> = {
  openai: 'chat completions (OpenAI-compatible)',
  responses: 'the Responses API (OpenAI)',
  anthropic: 'the Messages API (Anthropic)',
  gemini: "Gemini's API (Google)",
};
/** Who can be asked, and whether there is a key for them. A key goes to the operating system and is never shown again. */
export function ProvidersSheet() {
  const query = useQuery('providers', (signal) => api.provider.list({}, { signal }));
  return (
    <Sheet title="Providers and keys" onClose={dismiss}>
      <Answer query={query} what="The providers cannot be listed" loading="Reading the providers" lines={4}>
        {(accounts) => <Accounts first={accounts} />}
      </Answer>
    </Sheet>
  );
}

function Accounts({ first }: { first: ProviderAccounts }) {
  const [accounts, setAccounts] = useState(first);
  const [problem, setProblem] = useState<string>();
  /** Whether it was taken in. */
  const take = (change: Promise<ProviderAccounts>): Promise<boolean> =>
    change.then(
      (next) => {
        setAccounts(next);
        setProblem(undefined);
        return true;
      },
      (error: unknown) => {
        setProblem(problemOf(error).message);
        return false;
      },
    );
  return (
    <div className="providers">
      <ul aria-label="Providers">
        {accounts.providers.map((account) => (
          <li key={account.id}>
            <span className="grow">
              <b>{account.title}</b> <span className="mono muted">{account.url}</span>
              <br />
              <span className="muted">
                {origins[account.from]} · {account.hasKey ? 'a key is there' : 'no key'}
              </span>
            </span>
            {account.from === 'settings' && (
              <RemoveButton
                label={`Remove ${account.title}${account.hasKey ? ' and its key' : ''}`}
                question={`Remove ${account.title}?`}
                onRemove={() => void take(api.provider.remove({ id: account.id }))}
              >
                Its address is forgotten{account.hasKey && ', and its key is taken from the operating system: it has to be typed in again'}. Replies
                that came from it stay.
              </RemoveButton>
            )}
          </li>
        ))}
      </ul>
      {problem && <ProblemLine>{problem}</ProblemLine>}
      <NewProvider noKeys={accounts.noKeys} onAdd={(account) => take(api.provider.set(account))} />
    </div>
  );
}

type NewAccount = Parameters<typeof api.provider.set>[0];

function NewProvider({ noKeys, onAdd }: { noKeys: string | null; onAdd: (account: NewAccount) => Promise<boolean> }) {
  const [wire, setWire] = useState<Wire>('openai');
  const keyField = useRef<HTMLInputElement>(null);
  return (
    <form
      className="providers-new"
      aria-label="Add a provider"
      onSubmit={(event) => {
        event.preventDefault();
        const form = event.currentTarget;
        const given = new FormData(form);
        const text = (name: string): string => String(given.get(name) ?? '').trim();
        const key = text('key');
        // The field holds a key no longer than it takes to hand it over.
        if (keyField.current) keyField.current.value = '';
        void onAdd({ title: text('title'), url: text('url'), wire, ...(key && { key }) }).then((taken) => taken && form.reset());
      }}
    >
      <h3>Add a provider</h3>
      <label>
        <span className="muted">Speaks</span>
        <select className="field" value={wire} onChange={(event) => setWire(wires.find((each) => each === event.target.value) ?? 'openai')}>
          {wires.map((each) => (
            <option key={each} value={each}>
              {wireNames[each]}
            </option>
          ))}
        </select>
      </label>
      <label>
        <span className="muted">Name</span>
        <input className="field" name="title" required maxLength={100} />
      </label>
      <label>
        <span className="muted">Address</span>
        <input
          className="field mono"
          name="url"
          type="url"
          required
          placeholder={wire === 'openai' || wire === 'responses' ? 'http://127.0.0.1:1234/v1' : 'http://127.0.0.1:1234'}
        />
      </label>
      {noKeys === null ? (
        <label>
          <span className="muted">Key</span>
          <input ref={keyField} className="field mono" name="key" type="password" autoComplete="off" spellCheck={false} />
        </label>
      ) : (
        <p className="notice-line">{noKeys}</p>
      )}
      {noKeys === null && (
        <p className="muted">
          <KeyRound size={12} aria-hidden /> A key is kept by the operating system, never in a project, and sent only to this address.
        </p>
      )}
      <Button type="submit" look="primary" icon={Plus}>
        Add
      </Button>
    </form>
  );
}
