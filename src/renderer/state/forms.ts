// Forms as data: a view describes the fields and the action of a form, and `parts/Form.tsx` draws every form in the same way.

/** A value of a form: a text, a boolean, ordered ids, or rows of fields. */
export type FormValue = string | boolean | readonly string[] | readonly FormValues[];
export interface FormValues {
  readonly [name: string]: FormValue;
}

/** The values that a form starts with. A number becomes text, and a missing value leaves the field as it would be without it. */
export interface FormStart {
  readonly [name: string]: FormValue | number | null | undefined | readonly FormStart[];
}

export interface FormOption {
  readonly value: string;
  readonly name: string;
}

export interface FormField {
  readonly name: string;
  readonly label: string;
  readonly hint?: string | undefined;
  /** `long`: several lines. `code`: several lines of JSON. `secret`: one line that is not shown. `picks`: ids in an order. `rows`: rows of fields. The default is one line of text. */
  readonly kind?: 'text' | 'secret' | 'long' | 'code' | 'number' | 'time' | 'check' | 'choice' | 'picks' | 'rows' | undefined;
  /** The options of a choice, the ids to pick from, or suggestions for a text: a list, or their names by value. */
  readonly options?: readonly FormOption[] | Readonly<Record<string, string>> | ((values: FormValues) => Promise<readonly FormOption[]>) | undefined;
  /** The fields on whose values the options depend. */
  readonly optionsBy?: readonly string[] | undefined;
  readonly placeholder?: string | undefined;
  readonly required?: boolean | undefined;
  readonly shown?: ((values: FormValues) => boolean) | undefined;
  /** The field of the procedure's input whose errors appear here. The default is the name. */
  readonly field?: string | undefined;
  /** What to say if no option exists, and the action that adds one. */
  readonly offer?: { readonly words: string; readonly name: string; readonly act: () => void } | undefined;
  /** The fields of each row, and the name of the button that adds one. */
  readonly row?: readonly FormField[] | undefined;
  readonly add?: string | undefined;
}

export interface FormSpec {
  readonly title: string;
  readonly intro?: string | undefined;
  readonly fields: readonly FormField[];
  /** The values at the start, where they are not empty or the first option of a choice. */
  readonly start?: FormStart | undefined;
  readonly action: string;
  /** The key of the form's draft, which is kept until the form is sent or discarded. Without a key, no draft is kept. */
  readonly draft?: string | undefined;
  /** Performs the action. The form shows a thrown error next to the field that the error names. */
  readonly submit: (values: FormValues) => Promise<unknown>;
}

/** A mistake in a field that the form itself finds. */
export class FieldError extends Error {
  constructor(
    readonly field: string,
    message: string,
  ) {
    super(message);
  }
}

/** The options of a field that do not come from the engine. */
export function optionsOf({ options }: FormField): readonly FormOption[] | undefined {
  if (options === undefined || typeof options === 'function') return undefined;
  return isList(options) ? options : Object.entries(options).map(([value, name]) => ({ value, name }));
}
const isList = (options: object): options is readonly FormOption[] => Array.isArray(options);

/** The values of fields before a person fills them in: the given ones, else empty, or the first option of a choice. */
export const startValues = (fields: readonly FormField[], given: FormStart = {}): FormValues =>
  Object.fromEntries(fields.map((field) => [field.name, startValue(field, given[field.name])]));

function startValue(field: FormField, given: FormStart[string]): FormValue {
  if (field.kind === 'rows') return ((given ?? []) as readonly FormStart[]).map((row) => startValues(field.row ?? [], row));
  if (given !== undefined && given !== null) return typeof given === 'number' ? String(given) : (given as FormValue);
  if (field.kind === 'check') return false;
  if (field.kind === 'picks') return [];
  return (field.kind === 'choice' && field.placeholder === undefined && optionsOf(field)?.[0]?.value) || '';
}

/** The text of a field, without spaces at its ends. */
export const textIn = (values: FormValues, name: string): string => {
  const value = values[name];
  return typeof value === 'string' ? value.trim() : '';
};

/** The text of a field; undefined if it is empty. */
export const givenIn = (values: FormValues, name: string): string | undefined => textIn(values, name) || undefined;

/** Whether a box is checked. */
export const isYes = (values: FormValues, name: string): boolean => values[name] === true;

/** The ids of a field in their order. */
export const picksIn = (values: FormValues, name: string): string[] => {
  const value = values[name];
  return Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : [];
};

/** The rows of a field. */
export const rowsIn = (values: FormValues, name: string): FormValues[] => {
  const value = values[name];
  return Array.isArray(value) ? value.filter((one): one is FormValues => typeof one === 'object') : [];
};

/** The number of a field; undefined if it is empty. @throws FieldError for other text. */
export function numberIn(values: FormValues, name: string): number | undefined {
  const text = textIn(values, name);
  if (text === '') return undefined;
  const number = Number(text);
  if (!Number.isFinite(number)) throw new FieldError(name, `“${text}” is not a number.`);
  return number;
}

/** The JSON of a field; undefined if it is empty. @throws FieldError for invalid JSON. */
export function jsonIn(values: FormValues, name: string): unknown {
  const text = textIn(values, name);
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new FieldError(name, `This is not valid JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** The JSON object of a field; undefined if it is empty. @throws FieldError for anything else. */
export function objectIn(values: FormValues, name: string): Record<string, unknown> | undefined {
  const value = jsonIn(values, name);
  if (value === undefined) return undefined;
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new FieldError(name, 'This must be a JSON object, such as {"key": 1}.');
  return value as Record<string, unknown>;
}

/** A time as text for a date and time field, in the time zone of this machine. */
export function localTime(instant: string): string {
  const date = new Date(instant);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}

/** The time that a date and time field contains; undefined if it is empty. @throws FieldError for other text. */
export function timeIn(values: FormValues, name: string): string | undefined {
  const text = textIn(values, name);
  if (text === '') return undefined;
  const date = new Date(text);
  if (Number.isNaN(date.getTime())) throw new FieldError(name, `“${text}” is not a date and time.`);
  return date.toISOString();
}

/** An error and its place in the form, such as `tasks.1.instruction`. An undefined place means the whole form. */
export interface FormProblem {
  readonly place: string | undefined;
  readonly message: string;
}

/** The first required field that is empty. */
export function missingIn(fields: readonly FormField[], values: FormValues, at = ''): FormProblem | undefined {
  for (const field of fields) {
    if (field.shown && !field.shown(values)) continue;
    const place = `${at}${field.name}`;
    const value = values[field.name];
    const isEmpty = typeof value === 'string' ? value.trim() === '' : Array.isArray(value) && value.length === 0;
    if (field.required && (value === undefined || isEmpty)) return { place, message: `${field.label} is required.` };
    if (field.kind !== 'rows' || !field.row) continue;
    const rows = rowsIn(values, field.name);
    for (const [index, row] of rows.entries()) {
      const problem = missingIn(field.row, row, `${place}.${index}.`);
      if (problem) return problem;
    }
  }
  return undefined;
}

/** The place in the form for a field of the procedure's input: the deepest form field that contains it. */
export function findField(fields: readonly FormField[], path: string): string | undefined {
  const parts = path.split('.');
  for (const field of fields) {
    const own = (field.field ?? field.name).split('.');
    if (own.some((part, index) => parts[index] !== part)) continue;
    const [index, ...rest] = parts.slice(own.length);
    if (field.row === undefined || index === undefined || !/^\d+$/.test(index)) return field.name;
    const inside = findField(field.row, rest.join('.'));
    return inside === undefined ? field.name : `${field.name}.${index}.${inside}`;
  }
  return undefined;
}
