import type { redactionKinds } from '../../../core/contract/index.js';
import { Button, ProblemLine, problemOf } from '../../parts';
import type { Query } from '../../state';

const kindNames = { secret: 'secret', path: 'home folder', email: 'e-mail address' } as const;

interface Redaction {
  readonly placeholder: string;
  readonly kind: (typeof redactionKinds)[number];
  readonly count: number;
}

/** What would be taken out, before anything is written. What it is called by is all that is shown: a secret stays one here too. */
export function Redactions({ found }: { found: Query<readonly Redaction[]> }) {
  if (found.status === 'idle') return null;
  if (found.status === 'loading')
    return (
      <p role="status" className="export-looking">
        Looking for secrets…{' '}
        <Button small onClick={found.cancel}>
          Cancel
        </Button>
      </p>
    );
  if (found.status === 'canceled')
    return (
      <p className="export-looking">
        The search was stopped.{' '}
        <Button small onClick={found.retry}>
          Search again
        </Button>
      </p>
    );
  if (found.status === 'failed')
    return (
      <ProblemLine>
        <span className="grow">Secrets could not be looked for: {problemOf(found.error).message}</span>
        <Button small onClick={found.retry}>
          Try again
        </Button>
      </ProblemLine>
    );
  if (found.data.length === 0) return <p className="muted">Nothing was found that would be taken out. Pictures are not searched.</p>;
  return (
    <>
      <ul className="export-redactions" aria-label="What is taken out">
        {found.data.map(({ placeholder, kind, count }) => (
          <li key={placeholder}>
            <span className="mono">{placeholder}</span>{' '}
            <span className="muted">
              {kindNames[kind]}, {count === 1 ? 'once' : `${count} times`}
            </span>
          </li>
        ))}
      </ul>
      <p className="muted">Thinking that changes loses its signature. Pictures are not searched.</p>
    </>
  );
}
