import { Plus, X } from 'lucide-react';
import { useState } from 'react';
import type { ReplyCheck } from '../../../core/contract/index.js';
import { Button, IconButton } from '../../parts';
import { checkFrom, checkInWords, checkKinds } from './words';

/** What every reply must be. Checks look at a reply; none of them runs anything. */
export function Checks({ checks, onChange }: { checks: readonly ReplyCheck[]; onChange: (checks: readonly ReplyCheck[]) => void }) {
  const [kind, setKind] = useState<ReplyCheck['kind']>('contains');
  const [text, setText] = useState('');
  const [isAbsent, setIsAbsent] = useState(false);
  const made = checkFrom(kind, text, isAbsent);
  const problem = text.trim() !== '' && 'problem' in made ? made.problem : undefined;
  const canTurn = kind !== 'json' && kind !== 'short';
  return (
    <section className="experiment-part" aria-label="Checks">
      <h3>A good reply…</h3>
      <ul className="experiment-checks">
        {checks.map((check, n) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: checks have no name but their place
          <li key={n} className="badge">
            <span className="ellipsis" title={checkInWords(check)}>
              {checkInWords(check)}
            </span>
            <IconButton
              small
              icon={X}
              label={`Remove the check: ${checkInWords(check)}`}
              onClick={() => onChange(checks.filter((_, at) => at !== n))}
            />
          </li>
        ))}
        {checks.length === 0 && <li className="muted">No checks: you say which replies are good.</li>}
      </ul>
      <form
        className="experiment-check"
        aria-label="Add a check"
        onSubmit={(event) => {
          event.preventDefault();
          if (text.trim() === '' || 'problem' in made) return;
          onChange([...checks, made]);
          setText('');
        }}
      >
        <select className="field" aria-label="Kind of check" value={kind} onChange={(event) => setKind(event.target.value as ReplyCheck['kind'])}>
          {Object.entries(checkKinds).map(([each, name]) => (
            <option key={each} value={each}>
              {name}
            </option>
          ))}
        </select>
        <input className="field mono grow" aria-label="What is checked" value={text} onChange={(event) => setText(event.target.value)} />
        {canTurn && (
          <label>
            <input type="checkbox" checked={isAbsent} onChange={() => setIsAbsent(!isAbsent)} /> must not
          </label>
        )}
        <Button small type="submit" icon={Plus} disabled={text.trim() === '' || 'problem' in made}>
          Add the check
        </Button>
      </form>
      {problem && <p className="muted">{problem}</p>}
    </section>
  );
}
