import { ArrowDown, ArrowUp, X } from 'lucide-react';
import { type InputHTMLAttributes, useId, useState } from 'react';
import { type FormField, type FormOption, type FormValue, type FormValues, optionsOf, picksIn, useProject, useQuery } from '../state';
import { IconButton, LinkButton } from './buttons';
import { Checkbox, Input, SearchField, Select, TextArea } from './controls';
import { describeProblem } from './problem';

interface FieldProps {
  readonly field: FormField;
  readonly value: FormValue | undefined;
  /** The values of the whole form. */
  readonly values: FormValues;
  readonly problem: string | undefined;
  readonly onChange: (value: FormValue) => void;
}

/** A field with its label, its hint and its error. */
export function FieldView({ field, value, values, problem, onChange }: FieldProps) {
  const id = useId();
  const notes = `${id}-notes`;
  const options = useOptions(field, values);
  const described = { 'aria-describedby': notes, 'aria-invalid': problem !== undefined || undefined, 'aria-required': field.required };
  if (field.kind === 'check')
    return (
      <div className="form-field stack">
        <Checkbox className="form-check row gap-6" label={field.label} checked={value === true} {...described} onChange={onChange} />
        <Notes id={notes} hint={field.hint} problem={problem} />
      </div>
    );
  if (field.kind === 'picks')
    return (
      <fieldset className="form-field stack form-picks">
        <legend>{field.label}</legend>
        <Picks label={field.label} options={options.list} picks={picksIn(values, field.name)} onChange={onChange} isInvalid={problem !== undefined} />
        <Notes id={notes} hint={field.hint} problem={problem ?? options.problem} />
      </fieldset>
    );
  return (
    <div className="form-field stack">
      <label htmlFor={id}>
        {field.label}
        {field.required && <span className="muted"> (required)</span>}
      </label>
      <Control {...{ id, field, described, onChange }} value={typeof value === 'string' ? value : ''} options={options.list} />
      {field.offer && options.list?.length === 0 && options.problem === undefined && (
        <p className="form-offer small">
          {field.offer.words} <LinkButton label={field.offer.name} onClick={field.offer.act} />
        </p>
      )}
      <Notes id={notes} hint={field.hint} problem={problem ?? options.problem} />
    </div>
  );
}

interface ControlProps {
  readonly id: string;
  readonly field: FormField;
  readonly value: string;
  readonly options: readonly FormOption[] | undefined;
  readonly described: Readonly<Record<string, unknown>>;
  readonly onChange: (value: string) => void;
}

/** How the fields of one line differ. */
const inputs: Partial<Record<NonNullable<FormField['kind']>, InputHTMLAttributes<HTMLInputElement>>> = {
  secret: { type: 'password', autoComplete: 'off' },
  number: { inputMode: 'decimal' },
  time: { type: 'datetime-local', step: 1 },
};

function Control({ id, field, value, options, described, onChange }: ControlProps) {
  const { placeholder } = field;
  const common = { id, value, ...described, onChange };
  const rows = (most: number): number => Math.max(4, Math.min(most, value.split('\n').length + 1));
  switch (field.kind) {
    case 'long':
      return <TextArea rows={rows(16)} placeholder={placeholder} {...common} />;
    case 'code':
      return <TextArea className="mono" rows={rows(20)} spellCheck={false} wrap="off" placeholder={placeholder} {...common} />;
    case 'choice': {
      const all = options?.map((option) => [option.value, option.name] as const) ?? [];
      if (!all.some(([known]) => known === value)) all.unshift([value, options ? value || (placeholder ?? 'Choose…') : 'Loading…']);
      else if (placeholder) all.unshift(['', placeholder]);
      return <Select options={all} {...common} />;
    }
    default:
      return <Input suggestions={options} placeholder={placeholder} {...inputs[field.kind ?? 'text']} {...common} />;
  }
}

/** The options of a field. Options from the engine are loaded when the form opens, and when the value that they depend on changes. */
function useOptions(field: FormField, values: FormValues): { readonly list: readonly FormOption[] | undefined; readonly problem?: string } {
  const { options, optionsBy, name } = field;
  const revision = useProject((state) => state.revision);
  const by = JSON.stringify(optionsBy?.map((one) => values[one]) ?? []);
  const load = typeof options === 'function' && (() => options(values));
  const query = useQuery(load ? `options ${name} ${by} ${revision}` : null, load || (async () => []));
  if (!load) return { list: optionsOf(field) };
  if (query.status === 'failed') return { list: [], problem: `The choices cannot be loaded: ${describeProblem(query.error).message}` };
  return { list: query.status === 'done' ? query.data : undefined };
}

function Notes({ id, hint, problem }: { id: string; hint: string | undefined; problem: string | undefined }) {
  return (
    <div id={id} className="form-notes small">
      {problem && (
        <p className="form-problem" role="alert">
          {problem}
        </p>
      )}
      {hint && <p className="muted">{hint}</p>}
    </div>
  );
}

interface PicksProps {
  readonly label: string;
  readonly options: readonly FormOption[] | undefined;
  readonly picks: readonly string[];
  readonly isInvalid: boolean;
  readonly onChange: (picks: readonly string[]) => void;
}

const maxMatches = 40;

function Picks({ label, options, picks, isInvalid, onChange }: PicksProps) {
  const [words, setWords] = useState('');
  const names = new Map((options ?? []).map(({ value, name }) => [value, name]));
  const needle = words.trim().toLowerCase();
  const open = (options ?? []).filter(({ value, name }) => !picks.includes(value) && `${name}\n${value}`.toLowerCase().includes(needle));
  const move = (from: number, to: number): void => {
    const moved = [...picks];
    moved.splice(to, 0, ...moved.splice(from, 1));
    onChange(moved);
  };
  return (
    <>
      <ol className="picked" aria-label={`${label}, in order`}>
        {picks.map((pick, place) => {
          const name = names.get(pick) ?? pick;
          return (
            <li key={pick}>
              <span className="ellipsis grow" title={name}>
                {name}
              </span>
              <IconButton small icon={ArrowUp} label={`Move ${name} up`} disabled={place === 0} onClick={() => move(place, place - 1)} />
              <IconButton
                small
                icon={ArrowDown}
                label={`Move ${name} down`}
                disabled={place === picks.length - 1}
                onClick={() => move(place, place + 1)}
              />
              <IconButton small icon={X} label={`Remove ${name}`} onClick={() => onChange(picks.filter((_, at) => at !== place))} />
            </li>
          );
        })}
      </ol>
      <SearchField
        label={`Find what to add to ${label}`}
        aria-invalid={isInvalid || undefined}
        placeholder={options ? 'Find what to add' : 'Loading…'}
        value={words}
        onChange={setWords}
      />
      <ul className="picks" aria-label={`What can be added to ${label}`}>
        {open.slice(0, maxMatches).map(({ value, name }) => (
          <li key={value}>
            <LinkButton className="ellipsis" onClick={() => onChange([...picks, value])}>
              Add <span>{name}</span>
            </LinkButton>
          </li>
        ))}
        {open.length > maxMatches && <li className="muted">And {open.length - maxMatches} more. Type to find them.</li>}
        {options && open.length === 0 && <li className="muted">{needle ? 'Nothing matches.' : 'Everything is added.'}</li>}
      </ul>
    </>
  );
}
