import { Copy, UserPlus } from 'lucide-react';
import { type FormEvent, useState } from 'react';
import type { OutputOf } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Answer, Button, Checkbox, RemoveButton, Select } from '../../parts';
import { copy, useQuery } from '../../state';
import { Field } from './NewReplica';
import { TaskProblem, useTask } from './task';

const roles = {
  reader: 'Reader: pulls',
  reviewer: 'Reviewer: pulls, and pushes tickets',
  writer: 'Writer: pulls and pushes',
  admin: 'Admin: also gives access',
  pusher: 'Pusher: for machines that only push',
} as const;
type Role = keyof typeof roles;

/** The members of the project on the hub. For admins. */
export function Members() {
  const [round, setRound] = useState(0);
  const [invited, invite] = useTask<{ name: string; token: string | null }>();
  const [revoked, revoke] = useTask<unknown>();
  const [isKept, setKept] = useState(false);
  const query = useQuery(`members ${round}`, (signal) => api.team.members({}, { signal }));
  const reload = (): void => setRound((n) => n + 1);
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const form = event.currentTarget;
    const given = new FormData(form);
    const name = String(given.get('name') ?? '').trim();
    void invite(async () => {
      const identity = String(given.get('identity') ?? '').trim() || undefined;
      const { token } = await api.team.invite({ name, role: given.get('role') as Role, identity });
      form.reset();
      return { name, token };
    }).then(reload);
  };
  return (
    <section aria-label="Members">
      <h3>Members</h3>
      <Answer query={query} what="Cannot list the members" loading="Asking the hub" lines={2}>
        {(members) => (
          <ul className="storage-replicas" aria-label="Members">
            {members
              .filter((member) => !member.revoked)
              .map(({ id, name, role, project, expiresAt, isLink, identity }) => (
                <li key={id} className="row breaks">
                  <span>
                    <b>{name}</b>{' '}
                    <span className="muted">
                      {isLink ? `share link, ${role}` : role}
                      {identity && `, signs in as ${identity}`}
                      {project === null && ', every project'}
                      {expiresAt !== null && `, until ${expiresAt.slice(0, 10)}`}
                    </span>
                  </span>
                  <RemoveButton
                    label={`Revoke ${name}`}
                    verb="Revoke"
                    question={isLink ? `Revoke ${name}?` : `Revoke the access of ${name}?`}
                    onRemove={() => {
                      const keep = isKept ? madeBy(members, id).map((made) => made.id) : [];
                      setKept(false);
                      void revoke(() => api.team.revoke({ id, keep })).then(reload);
                    }}
                  >
                    It stops working at once. What was sent with it stays on the hub.
                    <AlsoEnds made={madeBy(members, id)} isKept={isKept} onKeep={setKept} />
                  </RemoveButton>
                </li>
              ))}
          </ul>
        )}
      </Answer>
      <GiveAccess onSubmit={submit} />
      <div aria-live="polite">
        {invited.state === 'done' && (
          <p>
            {invited.result.token === null ? (
              <>{invited.result.name} has access after signing in.</>
            ) : (
              <Token {...invited.result} token={invited.result.token} />
            )}
          </p>
        )}
        <TaskProblem task={invited} />
        <TaskProblem task={revoked} />
      </div>
    </section>
  );
}

type Member = OutputOf<'team.members'>[number];

/** The valid tokens and links that a member made, and those that these made. */
function madeBy(members: readonly Member[], id: number): Member[] {
  const found = new Set([id]);
  for (let size = 0; size < found.size; ) {
    size = found.size;
    for (const { id: made, madeBy: maker, revoked } of members) if (!revoked && maker != null && found.has(maker)) found.add(made);
  }
  return members.filter((member) => member.id !== id && found.has(member.id));
}

function AlsoEnds({
  made,
  isKept,
  onKeep,
}: {
  readonly made: readonly Member[];
  readonly isKept: boolean;
  readonly onKeep: (isKept: boolean) => void;
}) {
  if (made.length === 0) return null;
  return (
    <>
      <span>
        {isKept ? 'These stay, and are yours from now on: ' : 'What they made ends, too: '}
        {made.map(({ name }) => name).join(', ')}.
      </span>
      <Checkbox checked={isKept} onChange={onKeep}>
        Keep them
      </Checkbox>
    </>
  );
}

const Token = ({ name, token }: { name: string; token: string }) => (
  <>
    The token of {name}, shown once: <code>{token}</code>{' '}
    <Button small icon={Copy} onClick={() => void copy(token, 'Copied the token')}>
      Copy
    </Button>
  </>
);

function GiveAccess({ onSubmit }: { readonly onSubmit: (event: FormEvent<HTMLFormElement>) => void }) {
  return (
    <form className="storage-new" aria-label="Give access" onSubmit={onSubmit}>
      <Field name="name" label="Name" required placeholder="Sarah" maxLength={200} />
      <Field name="identity" label="Signs in as" placeholder="sarah@example.com (empty: make a token)" maxLength={320} />
      <Select before="Role" name="role" defaultValue="writer" options={Object.entries(roles)} />
      <div className="storage-actions">
        <Button type="submit" icon={UserPlus}>
          Give access
        </Button>
      </div>
    </form>
  );
}
