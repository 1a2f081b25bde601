import { useState } from 'react';
import { api } from '../../client';
import { Answer, Button, say } from '../../parts';
import { useQuery } from '../../state';

const perPage = 25;

/** The words for actions of the hub; others say what they do. */
const actions: Readonly<Record<string, string>> = {
  pull: 'read records',
  push: 'wrote',
  objects: 'read contents',
  outlines: 'read contents',
  create: 'created the project',
  retention: 'removed expired contents',
};

/** Who read and wrote what on the hub, newest first. For admins. */
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
                <li key={no}>
                  <span>
                    <b>{by}</b> {actions[action] ?? action}
                    {what ? `: ${what}` : count > 1 && ` (${say.exact(count)})`}{' '}
                    <span className="muted" title={say.instant(at)}>
                      {say.when(at)}
                    </span>
                  </span>
                </li>
              ))}
            </ul>
            <div className="storage-actions">
              {before !== undefined && <Button onClick={() => setBefore(undefined)}>Show the newest</Button>}
              {lines.length === perPage && <Button onClick={() => setBefore(lines.at(-1)?.no)}>Show earlier</Button>}
            </div>
          </>
        )}
      </Answer>
    </section>
  );
}
