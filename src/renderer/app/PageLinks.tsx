import { placeLink, useNavigation } from '../state';
import { viewsIn } from './views';

/** Links to the views of a place. */
export function PageLinks({ place, className }: { place: Parameters<typeof viewsIn>[0]; className: string }) {
  const shown = useNavigation(({ route }) => route.view);
  return (
    <nav className={className} aria-label="Pages">
      {viewsIn(place).map(({ id, title, keys }) => (
        <a
          key={id}
          className="page-link nav-link"
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
