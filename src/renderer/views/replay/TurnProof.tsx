import { ShieldCheck } from 'lucide-react';
import { useState } from 'react';
import type { Reproduced, TurnRow } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Answer, Button, LinkButton, say } from '../../parts';
import { go, useQuery } from '../../state';

/** Reconstructs the requests of a turn on demand and compares them with the recorded digests. */
export function TurnProof({ project, turn }: { project: string; turn: TurnRow }) {
  const [wanted, setWanted] = useState(false);
  const { turnId } = turn;
  const query = useQuery(wanted ? `${project} ${turnId} proof` : null, (signal) => api.turn.reproduce({ turnId }, { signal }));
  return (
    <section className="moment-part" aria-label="Verification of this turn">
      <h3 className="row baseline gap-6">Verification</h3>
      {!wanted && (
        <>
          <p className="muted">Reconstruct the requests of this turn and compare them with the recorded digests.</p>
          <Button small icon={ShieldCheck} label="Verify this turn" onClick={() => setWanted(true)} />
        </>
      )}
      <Answer query={query} what="Cannot verify this turn" loading="Reconstructing the requests" lines={3}>
        {(proof) => (
          <div className={`proving ${proof.identical ? 'good' : ''}`} role="status">
            <Finding proof={proof} />
            <ul className="proving-list">
              {proof.differences.map((difference) => (
                <li key={`${difference.requestId} ${difference.path ?? ''}`}>
                  <LinkButton className="mono" onClick={() => go({ view: 'calls', commit: turnId, call: difference.requestId })}>
                    {difference.path ?? difference.requestId}
                  </LinkButton>{' '}
                  {difference.reason}
                </li>
              ))}
            </ul>
            {proof.missing.length > 0 && (
              <p className="muted">
                Not recorded: <span className="mono">{proof.missing.join(', ')}</span>
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

/** The result of a verification: its sign with a word, and a sentence. */
function findingOf({ calls, identical, differences, proof }: Reproduced): readonly [mark: string, words: string] {
  const requests = say.plural(calls, 'request');
  if (calls === 0) return ['○ No request.', 'This turn has no reply.'];
  if (identical === null) {
    const [those, them] = calls === 1 ? ['this request', 'it'] : ['all of these requests', 'them'];
    return ['○ Reconstructed.', `The agent did not record ${those}. Stemma reconstructs ${requests} from the entries but cannot verify ${them}.`];
  }
  if (!identical) return ['◐ Differs.', `${differences.length} of ${requests} differ from the record:`];
  if (proof === 'recorded')
    return ['✓ As recorded.', `${calls === 1 ? 'The request contains' : `All ${calls} requests contain`} what was recorded, unchanged.`];
  return ['✓ Verified.', calls === 1 ? 'The request matches its recorded digest.' : `All ${calls} requests match their recorded digests.`];
}

function Finding({ proof }: { proof: Reproduced }) {
  const [mark, words] = findingOf(proof);
  return (
    <p>
      <b>{mark}</b> {words}
    </p>
  );
}
