import { Input, TextArea } from '../../parts';
/** A text field with its label above and a hint below. `long` makes it a text area of `lines` lines. */
export function TextField(props: {
  id: string;
  label: string;
  value: string;
  onChange: (value: string) => void;
  hint?: string;
  long?: boolean;
  lines?: number;
}) {
  const { id, label, value, onChange, hint, long, lines = 3 } = props;
  const described = hint ? `${id}-hint` : undefined;
  return (
    <div className="ticket-field">
      <label htmlFor={id}>{label}</label>
      {long ? (
        <TextArea id={id} rows={lines} value={value} aria-describedby={described} onChange={onChange} />
      ) : (
        <Input id={id} value={value} aria-describedby={described} onChange={onChange} />
      )}
      {hint && (
        <p id={described} className="muted small">
          {hint}
        </p>
      )}
    </div>
  );
}
