import { ArrowLeft, ArrowRight, PanelRight, Search } from 'lucide-react';
import { IconButton } from '../parts';
import { show, useNavigation } from '../state';
import { Crumbs } from './Crumbs';
import { toggleInspector, useInspector } from './panes';

/** The bar at the top: history, the breadcrumb, search, and the inspector's button. */
export function TopBar() {
  const { canBack, canForward } = useNavigation();
  const inspector = useInspector();
  return (
    <header className="top-bar row">
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
