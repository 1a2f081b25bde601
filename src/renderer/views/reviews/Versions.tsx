import { useState } from 'react';
import type { TicketVersion } from '../../../core/contract/index.js';
import { Button, When } from '../../parts';
import { ContextLink } from './marks';
import { changeWords } from './words';

const shownVersions = 8;

/** Every change of a ticket: who, when, and with which context. */
export function Versions({ versions }: { versions: readonly TicketVersion[] }) {
  const [all, setAll] = useState(false);
  const newest = versions.map((version, n) => ({ version, n })).reverse();
  return (
    <section aria-label="Versions">
      <h3>
        Versions <span className="muted">{versions.length}</span>
      </h3>
      <ol className="ticket-versions">
        {newest.slice(0, all ? newest.length : shownVersions).map(({ version, n }) => (
          <li key={n}>
            <When at={version.at} className="muted" />
            <div>
              <b>{version.by ?? 'unknown'}</b> {changeWords(version, n === 0).join('; ') || 'changed nothing'}
              {version.reason && <span className="muted"> · {version.reason}</span>}
            </div>
            {version.contextId === null ? (
              <span className="muted" title="No context was given or found">
                not recorded
              </span>
            ) : (
              <span>
                <ContextLink id={version.contextId} known={version.known} />{' '}
                <span className="muted">{version.contextFound === 'resolved' ? 'found' : 'given'}</span>
              </span>
            )}
          </li>
        ))}
      </ol>
      {newest.length > shownVersions && (
        <Button small look="plain" onClick={() => setAll(!all)}>
          {all ? 'Show the latest only' : `Show all ${newest.length}`}
        </Button>
      )}
    </section>
  );
}
