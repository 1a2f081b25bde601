import { ChevronDown } from 'lucide-react';
import type { ButtonHTMLAttributes, ComponentType, FormEvent, KeyboardEvent, ReactNode } from 'react';

export type Icon = ComponentType<{ size?: number | string; strokeWidth?: number | string; 'aria-hidden'?: boolean }>;

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  /** The button's text. `children` are for what is more than a text. */
  readonly label?: ReactNode;
  readonly icon?: Icon;
  readonly look?: 'primary' | 'plain' | 'danger';
  readonly small?: boolean;
  /** True if it opens a menu, which an arrow shows. */
  readonly opensMenu?: boolean;
}

/** A button with an optional icon. */
export function Button({ label, icon: Glyph, look, small, opensMenu, className, children = label, ...rest }: ButtonProps) {
  return (
    <button type="button" className={['button', look, small && 'small', className].filter(Boolean).join(' ')} {...rest}>
      {Glyph && <Glyph size={14} aria-hidden />}
      {children}
      {opensMenu && <ChevronDown size={12} aria-hidden />}
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
export const LinkButton = ({ label, className, children = label, ...rest }: Pick<ButtonProps, 'label'> & ButtonHTMLAttributes<HTMLButtonElement>) => (
  <button type="button" className={className ? `link-button ${className}` : 'link-button'} {...rest}>
    {children}
  </button>
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
