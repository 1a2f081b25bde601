import { Menu } from '@base-ui/react/menu';
import { Check, ChevronDown, X } from 'lucide-react';

export interface ChipOption<T> {
  readonly value: T;
  readonly name: string;
  readonly count?: number;
}

interface ChipMenuProps<T> {
  readonly label: string;
  /** The text of the chip while nothing is chosen, such as "All 5". */
  readonly all: string;
  readonly options: readonly ChipOption<T>[];
  readonly chosen: readonly T[];
  /** True if only one option can be chosen. */
  readonly single?: boolean;
  readonly onChange: (chosen: readonly T[]) => void;
  readonly className?: string;
}

/** A filter as a chip: a menu of options, and a cross that clears it. */
export function ChipMenu<T extends string | number>({ label, all, options, chosen, single = false, onChange, className = '' }: ChipMenuProps<T>) {
  const named = options.filter(({ value }) => chosen.includes(value));
  const shown = chosen.length === 0 ? all : named.length === 1 ? (named[0]?.name ?? '') : String(chosen.length);
  const toggle = (value: T): void => {
    if (chosen.includes(value)) onChange(chosen.filter((one) => one !== value));
    else onChange(single ? [value] : [...chosen, value]);
  };
  return (
    <span className={`muted small chip${chosen.length > 0 ? ' chosen' : ''} ${className}`}>
      <Menu.Root>
        <Menu.Trigger className="chip-open inline-row" disabled={options.length === 0 && chosen.length === 0}>
          {label} <b className="ellipsis">{shown}</b>
          {chosen.length === 0 && <ChevronDown size={12} aria-hidden />}
        </Menu.Trigger>
        <Menu.Portal>
          <Menu.Positioner className="menu-layer" sideOffset={4} align="start">
            <Menu.Popup className="menu" aria-label={label}>
              {options.map(({ value, name, count }) => (
                <Menu.CheckboxItem
                  key={value}
                  className="menu-item row"
                  checked={chosen.includes(value)}
                  onCheckedChange={() => toggle(value)}
                  closeOnClick={single}
                >
                  <Check size={14} aria-hidden className={chosen.includes(value) ? undefined : 'unchecked'} />
                  <span className="ellipsis">{name}</span>
                  {count !== undefined && <span className="menu-count muted small">{count}</span>}
                </Menu.CheckboxItem>
              ))}
            </Menu.Popup>
          </Menu.Positioner>
        </Menu.Portal>
      </Menu.Root>
      {chosen.length > 0 && (
        <button type="button" className="chip-clear" aria-label={`Clear ${label}`} title={`Clear ${label}`} onClick={() => onChange([])}>
          <X size={12} aria-hidden />
        </button>
      )}
    </span>
  );
}
