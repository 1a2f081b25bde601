import { ShieldCheck } from 'lucide-react';
import { useState } from 'react';
import type { TurnRow } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Answer, Button } from '../../parts';
import { go, useQuery } from '../../state';

/** Builds the calls of the turn again and holds them against what was recorded, when one asks for it. */
export function Proving({ project, turn }: { project: string; turn: TurnRow }) {
  const [wanted, setWanted] = useState(false);
  const { turnId } = turn;
  const query = useQuery(wanted ? `${project} ${turnId} proof` : null, (signal) => api.turn.reproduce({ turnId }, { signal }));
  return (
    <section className="moment-part" aria-label="Proof of this turn">
      <h3>Can this turn be reproduced?</h3>
      {!wanted && (
        <>
          <p className="muted">Its requests are built again from the store and held against what was recorded.</p>
          <Button small icon={ShieldCheck} onClick={() => setWanted(true)}>
            Prove turn {turn.number}
          </Button>
        </>
      )}
      <Answer query={query} what="The turn cannot be proved now" loading="Building its requests again" lines={3}>
        {(proof) => (
          <div className={`proving ${proof.identical ? 'good' : ''}`} role="status">
            {proof.identical ? (
              <p>
                <b>✓ Identical.</b> {proof.calls === 1 ? 'Its request has' : `All ${proof.calls} requests have`} the digest that was recorded when it
                was sent.
              </p>
            ) : proof.calls === 0 ? (
              <p>
                <b>○ Not recorded.</b> No request of this turn was written down, so there is nothing to hold it against. What was sent can be rebuilt
                from the entries, and is called no more than that.
              </p>
            ) : (
              <p>
                <b>◐ Not proved whole.</b> {proof.differences.length} of {proof.calls} {proof.calls === 1 ? 'request' : 'requests'} cannot be shown to
                be what was sent:
              </p>
            )}
            <ul className="proving-list">
              {proof.differences.map((difference) => (
                <li key={`${difference.requestId} ${difference.path ?? ''}`}>
                  <button
                    type="button"
                    className="link-button mono"
                    onClick={() => go({ view: 'request', commit: turnId, call: difference.requestId })}
                  >
                    {difference.path ?? difference.requestId}
                  </button>{' '}
                  {difference.reason}
                </li>
              ))}
            </ul>
            {proof.missing.length > 0 && (
              <p className="muted">
                Never recorded: <span className="mono">{proof.missing.join(', ')}</span>
              </p>
            )}
            {proof.requestHash && (
              <p className="muted">
                Digest <span className="mono">{proof.requestHash.slice(0, 16)}…</span>
                {proof.recordedHash && proof.recordedHash !== proof.requestHash && (
                  <>
                    , recorded <span className="mono">{proof.recordedHash.slice(0, 16)}…</span>
                  </>
                )}
              </p>
            )}
          </div>
        )}
      </Answer>
    </section>
  );
}
