import type { RedactionKind } from '../../../core/contract/index.js';
import { Button, Checkbox, describeProblem, ProblemLine } from '../../parts';
import type { Query } from '../../state';
import type { useExport } from './useExport';

const kindNames: Record<RedactionKind, string> = { secret: 'secret', path: 'home folder', email: 'e-mail address', ip: 'IP address' };

interface Redaction {
  readonly placeholder: string;
  readonly kind: RedactionKind;
  readonly count: number;
}

/** The choice of what to redact, and the list of replacements. */
export function RedactionChoice({ exporting }: { exporting: ReturnType<typeof useExport> }) {
  const { choice, choose, format, redact, found } = exporting;
  const cannot = format !== undefined && !format.redacts;
  return (
    <>
      <Checkbox className="row gap-6" checked={redact} disabled={cannot} onChange={(on) => choose({ redact: on })}>
        Replace known patterns of secrets, home folders and e-mail addresses
      </Checkbox>
      {redact && (
        <Checkbox className="row gap-6 export-more" checked={choice.redactIps} onChange={(on) => choose({ redactIps: on })}>
          Replace IP addresses too
        </Checkbox>
      )}
      {cannot && <p className="muted">{format.name} cannot be redacted: it is not text, JSON or CBOR.</p>}
      {redact && <Redactions found={found} />}
    </>
  );
}

/** The replacements, shown before anything is written. Only placeholders are shown, never the secrets. */
function Redactions({ found }: { found: Query<readonly Redaction[]> }) {
  if (found.status === 'idle') return null;
  const button = (name: string, act: () => void) => <Button small label={name} onClick={act} />;
  if (found.status === 'loading')
    return (
      <p role="status" className="row">
        Searching for secrets… {button('Cancel', found.cancel)}
      </p>
    );
  if (found.status === 'canceled') return <p className="row">The search was stopped. {button('Search again', found.retry)}</p>;
  if (found.status === 'failed')
    return (
      <ProblemLine>
        <span className="grow">The search for secrets failed: {describeProblem(found.error).message}</span>
        {button('Try again', found.retry)}
      </ProblemLine>
    );
  if (found.data.length === 0) return <p className="muted">No known pattern was found. Read the export before you share it. {limits}</p>;
  return (
    <>
      <ul className="export-redactions" aria-label="Replacements">
        {found.data.map(({ placeholder, kind, count }) => (
          <li key={placeholder}>
            <span className="mono">{placeholder}</span>{' '}
            <span className="muted">
              {kindNames[kind]}, {count === 1 ? 'once' : `${count} times`}
            </span>
          </li>
        ))}
      </ul>
      <p className="muted">Only known patterns are found: read the export before you share it. Thinking that changes loses its signature. {limits}</p>
    </>
  );
}

const limits = 'Images and other encoded data are not searched.';
