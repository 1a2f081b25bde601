import { ChevronLeft } from 'lucide-react';
import { addressOf, go, isPage, useNavigation, useOpenDir } from '../state';
import { backFrom, viewOf, viewsIn } from './views';

/** The bar above a view: on a page, the way back to the view from which it was opened; in a place with several views, links to these views. */
export function PageBar() {
  const { route } = useNavigation();
  const project = useOpenDir();
  const view = viewOf(route.view);
  if (isPage(route.view)) {
    const back = backFrom(route);
    return (
      <div className="page-bar row">
        <button type="button" className="button plain muted" onClick={() => go({ view: back.id })}>
          <ChevronLeft size={14} aria-hidden />
          Back to {back.title}
        </button>
        <h1>{view.title}</h1>
      </div>
    );
  }
  const siblings = viewsIn(view.place);
  // The pane of Agents has its own links.
  if (siblings.length < 2 || (view.place === 'agents' && project !== undefined)) return null;
  return (
    <nav className="page-bar row" aria-label="Pages">
      {siblings.map(({ id, title, keys }) => (
        <a
          key={id}
          href={addressOf({ view: id })}
          className="page-link nav-link"
          title={`${title} (${keys})`}
          aria-current={id === route.view ? 'page' : undefined}
          onClick={(event) => {
            if (event.ctrlKey || event.metaKey || event.shiftKey) return;
            event.preventDefault();
            go({ view: id });
          }}
        >
          {title}
        </a>
      ))}
    </nav>
  );
}
