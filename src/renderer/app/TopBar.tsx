import { ArrowLeft, ArrowRight, ChevronDown, PanelRight, Search } from 'lucide-react';
import { IconButton, MenuButton } from '../parts';
import { placeLink, show, useNavigation } from '../state';
import { useTitle } from './keys';
import { toggleInspector, useInspector } from './panes';
import { useCrumbs } from './useCrumbs';

/** The bar at the top: history, the breadcrumb, search, and the inspector's button. */
export function TopBar() {
  const { canBack, canForward } = useNavigation();
  const inspector = useInspector();
  return (
    <header className="top-bar gap-4 line-below on-pane row">
      <IconButton icon={ArrowLeft} label="Back" keys="Alt ←" disabled={!canBack} onClick={() => history.back()} />
      <IconButton icon={ArrowRight} label="Forward" keys="Alt →" disabled={!canForward} onClick={() => history.forward()} />
      <Crumbs />
      <button type="button" className="search-box row" onClick={() => show({ kind: 'palette' })} title="Search or jump to (Ctrl K)">
        <Search size={14} aria-hidden />
        <span className="grow ellipsis">Search or jump to</span>
        <kbd>Ctrl K</kbd>
      </button>
      {inspector !== undefined && (
        <IconButton icon={PanelRight} label="Inspector" keys="Ctrl J" aria-pressed={inspector !== 'hidden'} onClick={toggleInspector} />
      )}
    </header>
  );
}

function Crumbs() {
  const crumbs = useCrumbs();
  useTitle(crumbs.map(({ name }) => name));
  return (
    <ol className="crumbs grow" aria-label="You are here">
      {crumbs.map(({ kind, name, to, items }, n) => (
        <li key={kind} className={name.length <= 16 ? 'rigid' : undefined}>
          <a className="ellipsis" title={`${kind}: ${name}`} aria-current={n === crumbs.length - 1 ? 'page' : undefined} {...placeLink(to)}>
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
        </li>
      ))}
    </ol>
  );
}
