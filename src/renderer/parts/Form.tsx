import { type FormEvent, useEffect, useId, useMemo, useRef, useState } from 'react';
import {
  FieldError,
  type FormField,
  type FormProblem,
  type FormSpec,
  type FormValue,
  type FormValues,
  findField,
  keepDraft,
  loadDrafts,
  missingIn,
  rowsIn,
  startValues,
  useDrafts,
  useOpenDir,
} from '../state';
import { Button } from './buttons';
import { Sheet } from './controls';
import { FieldView } from './FormFields';
import { describeProblem, fieldOf } from './problem';
import { ProblemLine } from './states';

/** The error of a refused form, placed at the field that it names. */
function problemIn(fields: readonly FormField[], error: unknown): FormProblem {
  if (error instanceof FieldError) return { place: findField(fields, error.field) ?? error.field, message: error.message };
  const path = fieldOf(error);
  const { message } = describeProblem(error);
  if (path === undefined) return { place: undefined, message };
  const place = findField(fields, path);
  // An error with a place appears at its field; otherwise, the message names the field.
  const plain = place !== undefined && message.toLowerCase().startsWith(`${path.toLowerCase()}: `) ? message.slice(path.length + 2) : message;
  return { place, message: plain };
}

function useValues({ start: given, draft, fields }: FormSpec) {
  const dir = useOpenDir();
  const key = draft === undefined ? undefined : `form\n${dir ?? ''}\n${draft}`;
  const kept = useDrafts(({ drafts }) => (key === undefined ? undefined : drafts.get(key)));
  const [own, setOwn] = useState<FormValues>();
  const start = useMemo(() => startValues(fields, given), [fields, given]);
  useEffect(() => {
    if (key !== undefined) void loadDrafts();
  }, [key]);
  const values = own ?? keptValues(kept, start, fields) ?? start;
  return {
    values,
    isChanged: values !== start,
    set: (next: FormValues) => {
      setOwn(next);
      if (key !== undefined) keepDraft(key, JSON.stringify(next));
    },
    reset: () => {
      setOwn(start);
      if (key !== undefined) keepDraft(key, null);
    },
    forget: () => key !== undefined && kept !== undefined && keepDraft(key, null),
  };
}

/** The values of a draft; undefined if a field of the form has another shape in it. */
function keptValues(text: string | undefined, start: FormValues, fields: readonly FormField[]): FormValues | undefined {
  if (text === undefined) return undefined;
  try {
    const kept = JSON.parse(text) as FormValues;
    const fits = fields.every(({ name }) => typeof kept[name] === typeof start[name] && Array.isArray(kept[name]) === Array.isArray(start[name]));
    return fits ? { ...start, ...kept } : undefined;
  } catch {
    return undefined;
  }
}

function useForm(spec: FormSpec, onDone: () => void) {
  const form = useRef<HTMLFormElement>(null);
  const { values, isChanged, set, reset, forget } = useValues(spec);
  const [problem, setProblem] = useState<FormProblem>();
  const [busy, setBusy] = useState(false);
  // The field with the error gets the focus.
  useEffect(() => {
    if (problem?.place !== undefined) form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [problem]);
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    event.stopPropagation();
    if (busy) return;
    const missing = missingIn(spec.fields, values);
    setProblem(missing);
    if (missing) return;
    setBusy(true);
    try {
      await spec.submit(values);
      forget();
      onDone();
    } catch (error) {
      setProblem(problemIn(spec.fields, error));
    } finally {
      setBusy(false);
    }
  };
  const change = (name: string, value: FormValue): void => {
    set({ ...values, [name]: value });
    setProblem(undefined);
  };
  return { form, values, isChanged, reset, problem, busy, submit, change };
}

/** A form as a sheet. */
export function FormSheet({ form: spec, onClose }: { form: FormSpec; onClose: () => void }) {
  const id = useId();
  const { form, values, isChanged, reset, problem, busy, submit, change } = useForm(spec, onClose);
  return (
    <Sheet
      title={spec.title}
      onClose={onClose}
      footer={
        <>
          {spec.draft !== undefined && isChanged && <Button look="plain" label="Start over" onClick={reset} />}
          <span className="grow" />
        </>
      }
      action={{ label: spec.action, type: 'submit', form: id, disabled: busy }}
    >
      <form id={id} ref={form} className="form stack gap-12" aria-label={spec.title} onSubmit={(event) => void submit(event)} noValidate>
        {spec.intro && <p className="muted">{spec.intro}</p>}
        <Fields fields={spec.fields} values={values} problem={problem} onChange={change} />
      </form>
    </Sheet>
  );
}

interface FieldsProps {
  readonly fields: readonly FormField[];
  readonly values: FormValues;
  readonly problem: FormProblem | undefined;
  readonly onChange: (name: string, value: FormValue) => void;
}

/** The applicable fields, and an error that belongs to no field. */
function Fields({ fields, values, problem, onChange }: FieldsProps) {
  const shown = fields.filter((field) => field.shown?.(values) ?? true);
  const isPlaced = problem?.place !== undefined && shown.some(({ name }) => problem.place === name || problem.place?.startsWith(`${name}.`));
  return (
    <>
      {shown.map((field) =>
        field.kind === 'rows' ? (
          <RowsField
            key={field.name}
            field={field}
            rows={rowsIn(values, field.name)}
            problem={problem}
            onChange={(rows) => onChange(field.name, rows)}
          />
        ) : (
          <FieldView
            key={field.name}
            field={field}
            value={values[field.name]}
            values={values}
            problem={problem?.place === field.name ? problem.message : undefined}
            onChange={(value) => onChange(field.name, value)}
          />
        ),
      )}
      {problem && !isPlaced && <ProblemLine>{problem.message}</ProblemLine>}
    </>
  );
}

interface RowsFieldProps {
  readonly field: FormField;
  readonly rows: readonly FormValues[];
  readonly problem: FormProblem | undefined;
  readonly onChange: (rows: readonly FormValues[]) => void;
}

function RowsField({ field, rows, problem, onChange }: RowsFieldProps) {
  const own = problem?.place === field.name ? problem.message : undefined;
  const inside = field.row ?? [];
  return (
    <fieldset className="form-rows gap-8 stack">
      <legend>{field.label}</legend>
      {field.hint && <p className="muted">{field.hint}</p>}
      {rows.map((row, index) => {
        const at = `${field.name}.${index}.`;
        const below = problem?.place?.startsWith(at) ? { ...problem, place: problem.place.slice(at.length) } : undefined;
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: rows have no identity but their place
          <fieldset key={index} className="form-row gap-8 stack" aria-label={`${field.label} ${index + 1}`}>
            <Fields fields={inside} values={row} problem={below} onChange={(name, value) => onChange(rows.with(index, { ...row, [name]: value }))} />
            <Button small look="plain" label={`Remove ${index + 1}`} onClick={() => onChange(rows.filter((_, place) => place !== index))} />
          </fieldset>
        );
      })}
      {own && <ProblemLine>{own}</ProblemLine>}
      <Button small label={field.add ?? 'Add'} onClick={() => onChange([...rows, startValues(inside)])} />
    </fieldset>
  );
}
