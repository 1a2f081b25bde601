import type { ButtonHTMLAttributes, ComponentType, FormEvent, KeyboardEvent } from 'react';

export type Icon = ComponentType<{ size?: number | string; strokeWidth?: number | string; 'aria-hidden'?: boolean }>;

/** A button with an optional icon. */
export function Button(props: ButtonHTMLAttributes<HTMLButtonElement> & { icon?: Icon; look?: 'primary' | 'plain' | 'danger'; small?: boolean }) {
  const { icon: Glyph, look, small, className, children, ...rest } = props;
  return (
    <button type="button" className={['button', look, small && 'small', className].filter(Boolean).join(' ')} {...rest}>
      {Glyph && <Glyph size={14} aria-hidden />}
      {children}
    </button>
  );
}

interface IconButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  readonly icon: Icon;
  /** The button's name, also shown on hover. */
  readonly label: string;
  readonly keys?: string;
  readonly small?: boolean;
}

/** A button with only an icon. Its label is shown on hover. */
export function IconButton({ icon: Glyph, label, keys, small, className, ...rest }: IconButtonProps) {
  return (
    <button
      type="button"
      className={['icon-button', small && 'small', className].filter(Boolean).join(' ')}
      aria-label={label}
      title={keys ? `${label} (${keys})` : label}
      {...rest}
    >
      <Glyph size={small ? 14 : 16} aria-hidden />
    </button>
  );
}

/** A button that looks like a link. */
export const LinkButton = ({ className, ...rest }: ButtonHTMLAttributes<HTMLButtonElement>) => (
  <button type="button" className={className ? `link-button ${className}` : 'link-button'} {...rest} />
);

/** The handler of a form that a button or Enter sends, without the browser's own way to send it. */
export const sending =
  (act: () => unknown) =>
  (event: FormEvent): void => {
    event.preventDefault();
    act();
  };

/** Sends the form of a text field when Enter is pressed. Shift with Enter begins a new line. */
export function sendAtEnter(event: KeyboardEvent<HTMLTextAreaElement>): void {
  if (event.key !== 'Enter' || event.shiftKey) return;
  event.preventDefault();
  event.currentTarget.form?.requestSubmit();
}
