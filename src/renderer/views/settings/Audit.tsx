import { useState } from 'react';
import { api } from '../../client';
import { Answer, Button, say } from '../../parts';
import { useQuery } from '../../state';

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
                      <span className="muted storage-what" title={what}>
                        {what}
                      </span>
                    )}
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
