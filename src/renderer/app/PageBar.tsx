import { ChevronLeft } from 'lucide-react';
import { go, isPage, placeLink, useNavigation, useOpenDir } from '../state';
import { backFrom, requireView, viewsIn } from './views';

/** The bar above a view: on a page, the way back to the view from which it was opened; in a place with several views, links to these views. */
export function PageBar() {
  const { route } = useNavigation();
  const project = useOpenDir();
  const view = requireView(route.view);
  if (isPage(route.view)) {
    const back = backFrom(route);
    return (
      <div className="page-bar rigid nowrap line-below row">
        <button type="button" className="button plain muted" onClick={() => go({ view: back.id })}>
          <ChevronLeft size={14} aria-hidden />
          Back to {back.title}
        </button>
        <h1>{view.title}</h1>
      </div>
    );
  }
  // The pane of Agents has its own links.
  if (viewsIn(view.place).length < 2 || (view.place === 'agents' && project !== undefined)) return null;
  return <PageLinks place={view.place} className="page-bar rigid nowrap line-below row" />;
}

/** Links to the views of a place. */
export function PageLinks({ place, className }: { place: Parameters<typeof viewsIn>[0]; className: string }) {
  const shown = useNavigation(({ route }) => route.view);
  return (
    <nav className={className} aria-label="Pages">
      {viewsIn(place).map(({ id, title, keys }) => (
        <a
          key={id}
          className="page-link row nav-link"
          title={`${title} (${keys})`}
          aria-current={id === shown ? 'page' : undefined}
          {...placeLink({ view: id })}
        >
          {title}
        </a>
      ))}
    </nav>
  );
}
