import { selectByKey } from '../../parts';

interface NameListProps {
  readonly label: string;
  readonly names: readonly { readonly id: string; readonly name: string; readonly note?: string }[];
  readonly chosen: string;
  readonly onChoose: (id: string) => void;
}

/** A short list of names. Arrows, j and k move the selection. */
export function NameList({ label, names, chosen, onChoose }: NameListProps) {
  const at = names.findIndex(({ id }) => id === chosen);
  return (
    <div
      className="name-list"
      role="listbox"
      aria-label={label}
      tabIndex={0}
      data-list
      aria-activedescendant={at < 0 ? undefined : `name-${at}`}
      onKeyDown={(event) => selectByKey(event, names, at, 8, ({ id }) => onChoose(id))}
    >
      {names.map(({ id, name, note }, place) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the list handles the keys
        // biome-ignore lint/a11y/useFocusableInteractive: the list has the focus and names the active row
        <div
          key={id}
          id={`name-${place}`}
          role="option"
          aria-selected={id === chosen}
          className="name-row selectable row"
          onClick={() => onChoose(id)}
        >
          <span className="ellipsis">{name}</span>
          {note && <span className="muted">{note}</span>}
        </div>
      ))}
    </div>
  );
}
