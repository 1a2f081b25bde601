import { AlertDialog } from '@base-ui/react/alert-dialog';
import { Dialog } from '@base-ui/react/dialog';
import { Copy, FileOutput, X } from 'lucide-react';
import { type ComponentProps, type ReactNode, useId, useRef } from 'react';
import { useWriteQuestion } from '../client';
import { copy, type FormOption } from '../state';
import { Button, IconButton } from './buttons';
import { instant, shortId, when } from './numbers';

const steps: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

/** A segmented control: one of a few options, all visible. */
export function Switch<T extends string>(props: {
  label: string;
  value: T;
  /** The names of the options in their order. A hint is shown on hover. */
  options: { readonly [Option in T]?: string | readonly [name: string, hint: string] };
  /** Icons that are shown instead of the names. */
  icons?: Readonly<Record<T, ReactNode>>;
  onChange: (value: T) => void;
}) {
  const { label, value, icons, onChange } = props;
  const options = Object.entries(props.options) as [T, string | readonly [name: string, hint: string]][];
  return (
    <div className="switch" role="radiogroup" aria-label={label}>
      {options.map(([option, words], index) => {
        const [name, hint] = typeof words === 'string' ? [words] : words;
        return (
          // biome-ignore lint/a11y/useSemanticElements: a radio input cannot be drawn as a segment
          <button
            key={option}
            type="button"
            role="radio"
            aria-checked={option === value}
            tabIndex={option === value ? 0 : -1}
            title={hint ?? (icons && name)}
            aria-label={icons && name}
            onClick={() => onChange(option)}
            onKeyDown={(event) => {
              const step = steps[event.key] ?? 0;
              const place = (index + step + options.length) % options.length;
              const next = options[place];
              if (step === 0 || !next) return;
              event.preventDefault();
              event.stopPropagation();
              onChange(next[0]);
              const sibling = event.currentTarget.parentElement?.children[place];
              if (sibling instanceof HTMLElement) sibling.focus();
            }}
          >
            {icons ? icons[option] : name}
          </button>
        );
      })}
    </div>
  );
}

/** A short id. Hover shows it in full, a click copies it. */
export function Id({ id, what }: { id: string; what: string }) {
  return (
    <button type="button" className="id mono" title={`${id}\nClick to copy`} onClick={() => void copy(id, `Copied ${shortId(id)}`)}>
      <span className="unseen">Copy {what} </span>
      {shortId(id)}
      <Copy size={11} aria-hidden />
    </button>
  );
}

/** The element to focus when a sheet opens: its first input, else the sheet. */
const initialFocus = (popup: HTMLElement | null): HTMLElement | null =>
  popup?.querySelector<HTMLElement>('.sheet-body :is(input:checked, input:not([type="radio"]), textarea), .sheet-foot .primary:not(:disabled)') ??
  popup;

interface SheetProps {
  readonly title: string;
  readonly kind?: 'dialog' | 'side';
  readonly onClose: () => void;
  readonly children: ReactNode;
  /** What is below the content, before the buttons of `action`. */
  readonly footer?: ReactNode;
  /** What the sheet is for: its button, beside one that closes the sheet. */
  readonly action?: Pick<ComponentProps<typeof Button>, 'label' | 'icon' | 'disabled' | 'title' | 'type' | 'form' | 'onClick'> | undefined;
}

/** A modal dialog. It holds the focus until it is closed. */
export function Sheet({ title, kind = 'dialog', onClose, children, footer, action }: SheetProps) {
  const popup = useRef<HTMLDivElement>(null);
  return (
    <Dialog.Root open onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="sheet-scrim" />
        <Dialog.Popup ref={popup} className={`sheet ${kind}`} initialFocus={() => initialFocus(popup.current)}>
          <div className="sheet-head row">
            <Dialog.Title className="grow ellipsis">{title}</Dialog.Title>
            <Dialog.Close className="icon-button" aria-label="Close" title="Close (Esc)">
              <X size={16} aria-hidden />
            </Dialog.Close>
          </div>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what is longer than the sheet is scrolled by keys too */}
          <div className="sheet-body" tabIndex={0}>
            {children}
          </div>
          {(footer || action) && (
            <div className="sheet-foot row wrap">
              {footer}
              {action && (
                <>
                  <Button label="Cancel" onClick={onClose} />
                  <Button look="primary" {...action} />
                </>
              )}
            </div>
          )}
          <ConfirmWrite />
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

/** A list of names and values; pairs where a name can repeat. A value that is false or undefined is left out. */
export function Facts({ rows }: { rows: Readonly<Record<string, ReactNode>> | readonly (readonly [name: string, value: ReactNode])[] }) {
  return (
    <dl className="facts">
      {(Array.isArray(rows) ? rows : Object.entries(rows)).map(
        ([name, value], at) =>
          value !== undefined &&
          value !== false && (
            // biome-ignore lint/suspicious/noArrayIndexKey: a name can repeat
            <div key={at}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ),
      )}
    </dl>
  );
}

/** A path or command with a copy button. */
export function Copyable({ text, label }: { text: string; label: string }) {
  const id = useId();
  return (
    <div className="copyable">
      <span id={id} className="muted">
        {label}
      </span>
      <output aria-labelledby={id} className="mono">
        {text}
      </output>
      <IconButton icon={Copy} label={`Copy ${label.toLowerCase()}`} small onClick={() => void copy(text, `Copied the ${label.toLowerCase()}`)} />
    </div>
  );
}

interface Labels {
  /** The name of the field, if no element labels it. */
  readonly label?: string;
  /** Words before the field, which label it. */
  readonly before?: string;
}

interface SelectProps<V extends string> extends Labels, Omit<ComponentProps<'select'>, 'onChange' | 'value'> {
  readonly value?: V;
  readonly options: readonly (readonly [value: string, name: string, isDisabled?: boolean])[];
  readonly onChange?: (value: V) => void;
}

/** A field whose value is one of the options. */
export const Select = <V extends string>({ label, before, className, options, onChange, ...rest }: SelectProps<V>) =>
  labeled(
    before,
    <select className={fieldClass(className)} aria-label={label} onChange={(event) => onChange?.(event.target.value as V)} {...rest}>
      {options.map(([value, name, isDisabled]) => (
        <option key={value} value={value} disabled={isDisabled}>
          {name}
        </option>
      ))}
    </select>,
  );

type TextProps<Tag extends 'input' | 'textarea'> = Labels & Omit<ComponentProps<Tag>, 'onChange'> & { readonly onChange: (text: string) => void };

const fieldClass = (className: string | undefined): string => (className ? `field ${className}` : 'field');

const labeled = (before: string | undefined, field: ReactNode) =>
  before === undefined ? (
    field
  ) : (
    // biome-ignore lint/a11y/noLabelWithoutControl: the field is the control
    <label>
      <span className="muted">{before}</span>
      {field}
    </label>
  );

/** A field for one line of text. `suggestions` are texts to choose from. */
export function Input(props: TextProps<'input'> & { suggestions?: readonly (string | FormOption)[] | undefined }) {
  const { label, before, className, suggestions, onChange, ...rest } = props;
  const id = useId();
  const list = suggestions && id;
  return labeled(
    before,
    <>
      <input className={fieldClass(className)} aria-label={label} list={list} onChange={(event) => onChange(event.target.value)} {...rest} />
      {suggestions && (
        <datalist id={list}>
          {suggestions.map((one) =>
            typeof one === 'string' ? (
              <option key={one} value={one} />
            ) : (
              <option key={one.value} value={one.value}>
                {one.name}
              </option>
            ),
          )}
        </datalist>
      )}
    </>,
  );
}

/** A field for several lines of text. */
export const TextArea = ({ label, className, onChange, ...rest }: TextProps<'textarea'>) => (
  <textarea className={fieldClass(className)} aria-label={label} onChange={(event) => onChange(event.target.value)} {...rest} />
);

/** A field for words to search or filter by. */
export const SearchField = (props: TextProps<'input'>) => <Input type="search" placeholder={props.label} {...props} />;

interface CheckboxProps extends Omit<ComponentProps<'input'>, 'onChange' | 'type'> {
  /** The words beside the box; `children` if they are long. */
  readonly label?: ReactNode;
  readonly onChange: (isOn: boolean) => void;
}

/** A box to check, with its words beside it. */
export const Checkbox = ({ className, title, label, onChange, children = label, ...rest }: CheckboxProps) => (
  <label className={className} title={title}>
    <input type="checkbox" onChange={(event) => onChange(event.target.checked)} {...rest} /> {children}
  </label>
);

/** A moment in short words; its tooltip has the exact time. */
export const When = ({ at, className }: { at: string; className?: string }) => (
  <time className={className} dateTime={at} title={instant(at)}>
    {when(at)}
  </time>
);

/**
 * Asks before the engine writes a file to a folder in which this window has not written before. The transcripts in the window are hostile, so the
 * person sees the full path. A sheet renders this question inside itself, because a separate dialog would count as a click outside and close the
 * sheet.
 */
export function ConfirmWrite() {
  const { question, answer } = useWriteQuestion();
  if (!question) return null;
  return (
    <AlertDialog.Root open onOpenChange={(open) => !open && answer(false)}>
      <AlertDialog.Portal>
        <AlertDialog.Backdrop className="sheet-scrim over-sheet" forceRender />
        <AlertDialog.Popup className="sheet dialog confirm-write">
          <div className="sheet-head row">
            <AlertDialog.Title>Write this file?</AlertDialog.Title>
          </div>
          <div className="sheet-body">
            <output className="exact-text mono">{question.path}</output>
            <AlertDialog.Description className="muted">
              Stemma asks before it first writes to a folder. It then writes other new files directly in <b className="mono">{question.folder}</b>{' '}
              without asking, until Stemma stops. Existing files are never overwritten.
            </AlertDialog.Description>
          </div>
          <div className="sheet-foot row wrap">
            <Button label="Cancel" onClick={() => answer(false)} />
            <Button look="primary" icon={FileOutput} label="Allow and write" onClick={() => answer(true)} />
          </div>
        </AlertDialog.Popup>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
}

/** A setting: its name with a hint, and its control. */
export const Setting = ({ name, hint, children }: { name: string; hint?: string; children?: ReactNode }) => (
  <div className="settings-row row line-below">
    <span>
      {name} {hint && <span className="muted">{hint}</span>}
    </span>
    {children}
  </div>
);
