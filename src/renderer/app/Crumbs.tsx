import { ChevronDown } from 'lucide-react';
import { MenuButton } from '../parts';
import { placeLink } from '../state';
import { useTitle } from './keys';
import { type Crumb, useCrumbs } from './useCrumbs';

/** The breadcrumb. Each part is a link with a menu of its siblings. */
export function Crumbs() {
  const crumbs = useCrumbs();
  useTitle(crumbs.map(({ name }) => name));
  return (
    <ol className="crumbs grow" aria-label="You are here">
      {crumbs.map((crumb, n) => (
        <li key={crumb.kind}>
          <CrumbLink crumb={crumb} isLast={n === crumbs.length - 1} />
        </li>
      ))}
    </ol>
  );
}

function CrumbLink({ crumb: { kind, name, to, items }, isLast }: { crumb: Crumb; isLast: boolean }) {
  return (
    <>
      <a className="ellipsis" title={`${kind}: ${name}`} aria-current={isLast ? 'page' : undefined} {...placeLink(to)}>
        {name}
      </a>
      {items.length > 0 && (
        <MenuButton
          label={`Siblings of ${name}`}
          align="start"
          button={
            <button type="button" aria-label={`Switch ${kind.toLowerCase()}`} title={`Switch ${kind.toLowerCase()}`}>
              <ChevronDown size={12} aria-hidden />
            </button>
          }
          items={items}
        />
      )}
    </>
  );
}
