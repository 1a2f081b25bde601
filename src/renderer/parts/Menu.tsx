import { ContextMenu } from '@base-ui/react/context-menu';
import { Menu } from '@base-ui/react/menu';
import { Popover } from '@base-ui/react/popover';
import { Trash2 } from 'lucide-react';
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
        <Button onClick={() => setOpen(false)}>Keep</Button>
        <Button
          look="danger"
          icon={Trash2}
          onClick={() => {
            setOpen(false);
            onRemove();
          }}
        >
          {verb}
        </Button>
      </div>
    </CardButton>
  );
}
