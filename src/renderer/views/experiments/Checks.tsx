import { Plus, X } from 'lucide-react';
import { useState } from 'react';
import type { ReplyCheck } from '../../../core/contract/index.js';
import { Button, Checkbox, IconButton, Input, Select, sending } from '../../parts';
import { checkFrom, checkKinds, checkText } from './checks';

/** The checks that each reply must pass. A check reads the reply and runs nothing (P5). */
export function Checks({ checks, onChange }: { checks: readonly ReplyCheck[]; onChange: (checks: readonly ReplyCheck[]) => void }) {
  const [kind, setKind] = useState<ReplyCheck['kind']>('contains');
  const [text, setText] = useState('');
  const [isAbsent, setIsAbsent] = useState(false);
  const check = checkFrom(kind, text, isAbsent);
  const problem = text.trim() !== '' && 'problem' in check ? check.problem : undefined;
  const canNegate = kind !== 'json' && kind !== 'short';
  return (
    <section className="experiment-part" aria-label="Checks">
      <h3>Checks</h3>
      <ul className="experiment-checks row wrap gap-6">
        {checks.map((each, n) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: checks have no identity but their place
          <li key={n} className="badge">
            <span className="ellipsis" title={checkText(each)}>
              {checkText(each)}
            </span>
            <IconButton small icon={X} label={`Remove check: ${checkText(each)}`} onClick={() => onChange(checks.filter((_, at) => at !== n))} />
          </li>
        ))}
        {checks.length === 0 && <li className="muted">No checks yet. Replies are judged by checks or by you. Add a check below.</li>}
      </ul>
      <form
        className="experiment-check row wrap gap-6"
        aria-label="Add a check"
        onSubmit={sending(() => {
          if (text.trim() === '' || 'problem' in check) return;
          onChange([...checks, check]);
          setText('');
        })}
      >
        <Select label="Kind of check" value={kind} options={Object.entries(checkKinds)} onChange={setKind} />
        <Input className="mono grow" label="Value of the check" value={text} onChange={setText} />
        {canNegate && <Checkbox label="Negate" checked={isAbsent} onChange={() => setIsAbsent(!isAbsent)} />}
        <Button small type="submit" icon={Plus} label="Add check" disabled={text.trim() === '' || 'problem' in check} />
      </form>
      {problem && <p className="muted">{problem}</p>}
    </section>
  );
}
