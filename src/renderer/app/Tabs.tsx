import { ChevronDown } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { MenuButton } from '../parts';
import { go, useNavigation } from '../state';
import { viewGroups, viewNames } from './views';

/** The first of each group but the first has a line before it. */
const begins = new Set(viewGroups.slice(1).map(([first]) => first?.[0]));

/** The views as tabs. Where they do not all fit, the strip scrolls and a menu at its end names every one. */
export function Tabs() {
  const chosen = useNavigation(({ route }) => route.view);
  const strip = useRef<HTMLDivElement>(null);
  const overflows = useOverflow(strip);
  // Where the strip begins to scroll there is less room for the chosen one than before.
  // biome-ignore lint/correctness/useExhaustiveDependencies: brought into view again
  useEffect(() => {
    document.getElementById(`tab-${chosen}`)?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [chosen, overflows]);
  return (
    <div className="tab-row">
      <div ref={strip} className={`tabs${overflows ? ' overflowing' : ''}`} role="tablist" aria-label="Views">
        {viewNames.map(([view, name, Glyph, keys], place) => (
          <button
            key={view}
            type="button"
            role="tab"
            className={begins.has(view) ? 'begins' : undefined}
            id={`tab-${view}`}
            aria-selected={chosen === view}
            aria-controls="view"
            tabIndex={chosen === view ? 0 : -1}
            title={`${name} (${keys})`}
            onClick={() => go({ view })}
            onKeyDown={(event) => {
              const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
              if (!step) return;
              event.preventDefault();
              const next = viewNames[(place + step + viewNames.length) % viewNames.length];
              if (next) document.getElementById(`tab-${next[0]}`)?.focus();
            }}
          >
            <Glyph size={14} aria-hidden />
            {name}
          </button>
        ))}
      </div>
      {overflows && (
        <MenuButton
          label="All views"
          button={
            <button type="button" className="button plain all-views" aria-label="All views" title="All views">
              <ChevronDown size={14} aria-hidden />
            </button>
          }
          items={viewNames.flatMap(([view, name, icon, keys]) => [
            ...(begins.has(view) ? (['line'] as const) : []),
            { name, icon, keys, act: () => go({ view }) },
          ])}
        />
      )}
    </div>
  );
}

/** Whether an element's content is wider than the element, now and after every change of its width. */
function useOverflow(element: React.RefObject<HTMLElement | null>): boolean {
  const [over, setOver] = useState(false);
  useEffect(() => {
    const watched = element.current;
    if (!watched) return;
    // The menu's button takes room itself: measured against the row, it does not flicker at the edge.
    const row = watched.parentElement ?? watched;
    const measure = () => setOver(watched.scrollWidth > row.clientWidth);
    const observer = new ResizeObserver(measure);
    observer.observe(row);
    return () => observer.disconnect();
  }, [element]);
  return over;
}
