import { ContextMenu } from '@base-ui/react/context-menu';
import { Menu } from '@base-ui/react/menu';
import { Popover } from '@base-ui/react/popover';
import { Check, ChevronDown, Trash2, X } from 'lucide-react';
import { Fragment, type KeyboardEvent, type ReactElement, type ReactNode, useState } from 'react';
import { Button, type Icon, IconButton } from './buttons';

export type MenuEntry =
  | { readonly name: string; readonly icon?: Icon; readonly keys?: string; readonly disabled?: boolean; readonly act: () => void }
  | 'line';

function Items({ items }: { items: readonly MenuEntry[] }): ReactNode {
  return items.map((item, n) => {
    // biome-ignore lint/suspicious/noArrayIndexKey: a separator has no other key
    if (item === 'line') return <Menu.Separator key={n} className="menu-line" />;
    const { name, icon: Glyph, keys, disabled, act } = item;
    return (
      <Menu.Item key={name} className="menu-item row" data-keys={keys} disabled={disabled ?? false} onClick={act}>
        {Glyph ? <Glyph size={14} aria-hidden /> : <Fragment />}
        <span className="ellipsis">{name}</span>
        {keys && <kbd>{keys}</kbd>}
      </Menu.Item>
    );
  });
}

/** Whether a key is one that a menu may show. Enter is the key of the item that is highlighted. */
const isPlain = ({ key, ctrlKey, metaKey, altKey }: KeyboardEvent): boolean => key !== 'Enter' && !ctrlKey && !metaKey && !altKey;

/** In an open menu, a key runs the item that shows it. */
function onMenuKey(event: KeyboardEvent<HTMLElement>): void {
  const shown = [...event.currentTarget.querySelectorAll<HTMLElement>('[data-keys]:not([data-disabled])')];
  const item = isPlain(event) ? shown.find(({ dataset }) => dataset.keys === event.key) : undefined;
  if (!item) return;
  event.preventDefault();
  event.stopPropagation();
  item.click();
}

/** At the button of a menu, a key does the same as in the menu. */
const onButtonKey =
  (items: readonly MenuEntry[]) =>
  (event: KeyboardEvent<HTMLElement>): void => {
    if (!isPlain(event) || !runByKey(items, event.key)) return;
    event.preventDefault();
    event.stopPropagation();
  };

/** Runs the action that a menu shows with a key. Returns whether there is one. */
export function runByKey(items: readonly MenuEntry[], key: string): boolean {
  const item = items.find((one) => one !== 'line' && one.keys === key && !one.disabled);
  if (!item || item === 'line') return false;
  item.act();
  return true;
}

/** A button that opens a menu. */
export function MenuButton(props: {
  button: ReactElement<Record<string, unknown>>;
  items: readonly MenuEntry[];
  label: string;
  align?: 'start' | 'end';
}) {
  const { button, items, label, align = 'end' } = props;
  return (
    <Menu.Root>
      <Menu.Trigger render={button} onKeyDown={onButtonKey(items)} />
      <Menu.Portal>
        <Menu.Positioner className="menu-layer" sideOffset={4} align={align}>
          <Menu.Popup className="menu" aria-label={label} onKeyDownCapture={onMenuKey}>
            <Items items={items} />
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}

/** A button that opens a popover for content that does not fit into a menu. */
export function CardButton(props: {
  button: ReactElement<Record<string, unknown>>;
  label: string;
  open: boolean;
  onOpenChange: (open: boolean) => void;
  align?: 'start' | 'end';
  children: ReactNode;
}) {
  const { button, label, open, onOpenChange, align = 'end', children } = props;
  return (
    <Popover.Root open={open} onOpenChange={onOpenChange}>
      <Popover.Trigger render={button} />
      <Popover.Portal>
        <Popover.Positioner className="menu-layer" sideOffset={4} align={align} collisionPadding={8}>
          <Popover.Popup className="card" aria-label={label}>
            {children}
          </Popover.Popup>
        </Popover.Positioner>
      </Popover.Portal>
    </Popover.Root>
  );
}

/** A context menu. `items` belong to the row that was last hovered or selected. */
export function WithContextMenu(props: { children: ReactElement<Record<string, unknown>>; items: readonly MenuEntry[]; label: string }) {
  const { children, items, label } = props;
  return (
    <ContextMenu.Root>
      <ContextMenu.Trigger render={children} />
      <ContextMenu.Portal>
        <ContextMenu.Positioner className="menu-layer">
          <ContextMenu.Popup className="menu" aria-label={label} onKeyDownCapture={onMenuKey}>
            <Items items={items} />
          </ContextMenu.Popup>
        </ContextMenu.Positioner>
      </ContextMenu.Portal>
    </ContextMenu.Root>
  );
}

/** A button for a removal that cannot be undone. The confirmation says what is removed and what stays. */
export function RemoveButton(props: { label: string; question: string; children: ReactNode; onRemove: () => void; verb?: string; small?: boolean }) {
  const { label, question, children, onRemove, verb = 'Remove', small } = props;
  const [open, setOpen] = useState(false);
  return (
    <CardButton label={question} open={open} onOpenChange={setOpen} button={<IconButton icon={Trash2} label={label} {...(small && { small })} />}>
      <h2>{question}</h2>
      <p className="muted">{children}</p>
      <div className="card-foot">
        <Button label="Keep" onClick={() => setOpen(false)} />
        <Button
          look="danger"
          icon={Trash2}
          label={verb}
          onClick={() => {
            setOpen(false);
            onRemove();
          }}
        />
      </div>
    </CardButton>
  );
}

interface ChipOption<T> {
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
