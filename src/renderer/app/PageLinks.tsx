import { go, nextAddress, useNavigation } from '../state';
import { viewsIn } from './views';

/** Links to the views of a place. A click with a modifier key stays the browser's. */
export function PageLinks({ place, className }: { place: Parameters<typeof viewsIn>[0]; className: string }) {
  const shown = useNavigation(({ route }) => route.view);
  return (
    <nav className={className} aria-label="Pages">
      {viewsIn(place).map(({ id, title, keys }) => (
        <a
          key={id}
          href={nextAddress({ view: id })}
          className="page-link nav-link"
          title={`${title} (${keys})`}
          aria-current={id === shown ? 'page' : undefined}
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
