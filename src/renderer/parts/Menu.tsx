import { ContextMenu } from '@base-ui/react/context-menu';
import { Menu } from '@base-ui/react/menu';
import { Popover } from '@base-ui/react/popover';
import { Fragment, type ReactElement, type ReactNode } from 'react';
import type { Icon } from './buttons';

export type MenuEntry =
  | { readonly name: string; readonly icon?: Icon; readonly keys?: string; readonly disabled?: boolean; readonly act: () => void }
  | 'line';

function Items({ items }: { items: readonly MenuEntry[] }): ReactNode {
  return items.map((item, n) => {
    // biome-ignore lint/suspicious/noArrayIndexKey: a separator has no other key
    if (item === 'line') return <Menu.Separator key={n} className="menu-line" />;
    const { name, icon: Glyph, keys, disabled, act } = item;
    return (
      <Menu.Item key={name} className="menu-item row" disabled={disabled ?? false} onClick={act}>
        {Glyph ? <Glyph size={14} aria-hidden /> : <Fragment />}
        <span className="ellipsis">{name}</span>
        {keys && <kbd>{keys}</kbd>}
      </Menu.Item>
    );
  });
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
      <Menu.Trigger render={button} />
      <Menu.Portal>
        <Menu.Positioner className="menu-layer" sideOffset={4} align={align}>
          <Menu.Popup className="menu" aria-label={label}>
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
export function WithContextMenu({
  children,
  items,
  label,
}: {
  children: ReactElement<Record<string, unknown>>;
  items: readonly MenuEntry[];
  label: string;
}) {
  return (
    <ContextMenu.Root>
      <ContextMenu.Trigger render={children} />
      <ContextMenu.Portal>
        <ContextMenu.Positioner className="menu-layer">
          <ContextMenu.Popup className="menu" aria-label={label}>
            <Items items={items} />
          </ContextMenu.Popup>
        </ContextMenu.Positioner>
      </ContextMenu.Portal>
    </ContextMenu.Root>
  );
}
