import { ChevronDown } from 'lucide-react';
import { MenuButton } from '../parts';
import { useTitle } from './keys';
import { type Crumb, useCrumbs } from './useCrumbs';

/** Where the window is. Each part opens a menu of its siblings. */
export function Crumbs() {
  const crumbs = useCrumbs();
  useTitle(crumbs.map(({ name }) => name));
  return (
    <ol className="crumbs" aria-label="You are here">
      {crumbs.map((crumb, n) => (
        <li key={crumb.kind}>
          <CrumbButton crumb={crumb} isLast={n === crumbs.length - 1} />
        </li>
      ))}
    </ol>
  );
}

function CrumbButton({ crumb: { kind, name, items }, isLast }: { crumb: Crumb; isLast: boolean }) {
  return (
    <MenuButton
      label={`Siblings of ${name}`}
      align="start"
      button={
        <button type="button" title={`${kind}: ${name}`} aria-current={isLast ? 'page' : undefined}>
          <span className="ellipsis">{name}</span>
          {items.length > 0 && <ChevronDown size={12} aria-hidden />}
        </button>
      }
      items={items}
    />
  );
}
