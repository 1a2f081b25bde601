import { Copy, UserPlus } from 'lucide-react';
import { useState } from 'react';
import type { OutputOf } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Answer, Button, Checkbox, RemoveButton, Select, say, TaskProblem } from '../../parts';
import { copy, useQuery, useRounds, useTask } from '../../state';
import { Field, sendingTexts } from './NewReplica';

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
  const [round, reload] = useRounds();
  const [invited, invite] = useTask<{ name: string; token: string | null }>();
  const [revoked, revoke] = useTask<unknown>();
  const [isKept, setKept] = useState(false);
  const query = useQuery(`members ${round}`, (signal) => api.team.members({}, { signal }));
  const submit = sendingTexts((text, form) => {
    const [name, role, identity] = [text('name'), text('role') as Role, text('identity') || undefined];
    void invite(async () => {
      const { token } = await api.team.invite({ name, role, identity });
      form.reset();
      return { name, token };
    }).then(reload);
  });
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

function AlsoEnds({ made, isKept, onKeep }: { made: readonly Member[]; isKept: boolean; onKeep: (isKept: boolean) => void }) {
  if (made.length === 0) return null;
  return (
    <>
      <span>
        {isKept ? 'These stay, and are yours from now on: ' : 'What they made ends, too: '}
        {made.map(({ name }) => name).join(', ')}.
      </span>
      <Checkbox label="Keep them" checked={isKept} onChange={onKeep} />
    </>
  );
}

const Token = ({ name, token }: { name: string; token: string }) => (
  <>
    The token of {name}, shown once: <code>{token}</code>{' '}
    <Button small icon={Copy} label="Copy" onClick={() => void copy(token, 'Copied the token')} />
  </>
);

function GiveAccess({ onSubmit }: { readonly onSubmit: ReturnType<typeof sendingTexts> }) {
  return (
    <form className="storage-new gap-8" aria-label="Give access" onSubmit={onSubmit}>
      <Field name="name" label="Name" required placeholder="Sarah" maxLength={200} />
      <Field name="identity" label="Signs in as" placeholder="sarah@example.com (empty: make a token)" maxLength={320} />
      <Select before="Role" name="role" defaultValue="writer" options={Object.entries(roles)} />
      <div className="storage-actions row wrap">
        <Button type="submit" icon={UserPlus} label="Give access" />
      </div>
    </form>
  );
}

/** Days to choose from; an empty value keeps everything. */
const choices: readonly (readonly [value: string, words: string])[] = [
  ['', 'For ever'],
  ['30', '30 days'],
  ['90', '90 days'],
  ['180', '180 days'],
  ['365', 'A year'],
  ['1095', '3 years'],
];

/** How long the hub keeps the contents of the project. For admins. */
export function Retention({ days, onChanged }: { readonly days: number | null; readonly onChanged: () => void }) {
  const [saved, save] = useTask<unknown>();
  const value = days === null ? '' : String(days);
  const options = choices.some(([each]) => each === value) ? choices : [...choices, [value, `${value} days`] as const];
  return (
    <section aria-label="Retention">
      <h3>Retention</h3>
      <label className="storage-actions row wrap">
        <span>Keep contents on the hub</span>
        <Select
          value={value}
          disabled={saved.state === 'running'}
          options={options}
          onChange={(chosen) => void save(() => api.team.retain({ days: chosen === '' ? null : Number(chosen) })).then(onChanged)}
        />
      </label>
      <p className="muted">
        Counted from the day they arrived. Commits, cards and tickets stay; what commits held is removed. Clones keep their copies.
      </p>
      <TaskProblem task={saved} />
    </section>
  );
}

const perPage = 25;

/** Names of actions of the hub. Other actions have self-explanatory names. */
const actions: Readonly<Record<string, (count: number) => string>> = {
  pull: (count) => `read ${say.plural(count, 'record')}`,
  push: (count) => `wrote ${say.plural(count, 'record or content', 'records and contents')}`,
  objects: (count) => `read ${say.plural(count, 'content')}`,
  outlines: (count) => `read ${say.plural(count, 'content')}`,
  create: () => 'created the project',
  retention: (count) => `removed ${say.plural(count, 'expired content')}`,
};

/** The audit log of the hub, newest first. For admins. */
export function Audit() {
  const [before, setBefore] = useState<number>();
  const query = useQuery(`audit ${before ?? 'newest'}`, (signal) => api.team.audit({ before, limit: perPage }, { signal }));
  return (
    <section aria-label="Audit log">
      <h3>Audit log</h3>
      <p className="muted">Who read and wrote what on the hub, newest first. It holds no content.</p>
      <Answer query={query} what="Cannot read the audit log" loading="Asking the hub" lines={3}>
        {(lines) => (
          <>
            <ul className="storage-replicas" aria-label="Audit log">
              {lines.map(({ no, at, by, action, count, what }) => (
                <li key={no} className="row breaks">
                  <span>
                    <b>{by}</b> {actions[action]?.(count) ?? action}{' '}
                    <span className="muted" title={say.instant(at)}>
                      {say.when(at)}
                    </span>
                    {what && (
                      <span className="muted storage-what ellipsis" title={what}>
                        {what}
                      </span>
                    )}
                  </span>
                </li>
              ))}
            </ul>
            <div className="storage-actions row wrap">
              {before !== undefined && <Button label="Show the newest" onClick={() => setBefore(undefined)} />}
              {lines.length === perPage && <Button label="Show earlier" onClick={() => setBefore(lines.at(-1)?.no)} />}
            </div>
          </>
        )}
      </Answer>
    </section>
  );
}
