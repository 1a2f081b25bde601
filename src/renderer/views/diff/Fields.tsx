import type { ContextId, Entry, FieldChange, Stop } from '../../../core/contract/index.js';
import { api } from '../../client';
import { say, showValue } from '../../parts';
import { useQuery } from '../../state';
import { Changed, MarkedText, usePieces } from './Changed';
import type { DiffLayout } from './parts';

interface FieldsProps {
  readonly a: ContextId;
  readonly b: ContextId;
  readonly stop: Stop;
  /** The places of the two calls in their contexts. */
  readonly pair: { readonly a: number; readonly b: number };
  readonly before: Entry;
  readonly after: Entry;
  readonly layout: DiffLayout;
}

/** Two tool calls compared by their arguments, field by field. */
export function Fields({ a, b, stop, pair, before, after, layout }: FieldsProps) {
  const query = useQuery(`${a} ${b} ${stop} ${pair.a} ${pair.b}`, (signal) =>
    api.context.diffCalls({ a, b, stop, pairs: [{ a: pair.a, b: pair.b }] }, { signal }),
  );
  const fields = query.status === 'done' ? query.data[0]?.fields : undefined;
  // While the fields load, and if they cannot be loaded, the calls are compared as text.
  if (!fields) return <Changed a={before} b={after} layout={layout} />;
  const names = before.toolName === after.toolName ? before.toolName : `${before.toolName} → ${after.toolName}`;
  return (
    <article className="entry kind-tool diff-call" aria-label={`Call of ${names}, field by field`}>
      <header className="entry-head row small">
        <span className="entry-name">{names}</span>
        <span className="muted">{fields.length === 0 ? 'same arguments' : `${say.plural(fields.length, 'field')} changed`}</span>
      </header>
      {fields.map((field) => (
        <Field key={field.path} field={field} layout={layout} />
      ))}
    </article>
  );
}

function Field({ field, layout }: { field: FieldChange; layout: DiffLayout }) {
  const [a, b] = [field.op === 'added' ? '' : showValue(field.a), field.op === 'removed' ? '' : showValue(field.b)];
  const pieces = usePieces(a, b);
  return (
    <div className="diff-field">
      <h4 className="mono">
        {field.path || 'all arguments'} {field.op !== 'changed' && <span className="muted">{field.op}</span>}
      </h4>
      <div className={layout === 'split' ? 'diff-columns' : undefined}>
        <div>{field.op !== 'added' && <MarkedText text={a} pieces={field.op === 'changed' ? pieces?.a : undefined} kind="removed" />}</div>
        <div>{field.op !== 'removed' && <MarkedText text={b} pieces={field.op === 'changed' ? pieces?.b : undefined} kind="added" />}</div>
      </div>
    </div>
  );
}
