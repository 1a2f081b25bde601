import { type ReactNode, useRef } from 'react';
import { Group, type GroupProps, Panel, Separator, usePanelRef } from 'react-resizable-panels';
import { useOpenDir } from '../state';
import { Inspector } from '../views/inspector';
import { Boundary } from './Boundary';
import { toggleInspector, useInspector } from './panes';

/** The widths of the inspector in CSS pixels. A width that the person chose is remembered. */
const width = { initial: 336, least: 220, most: '50%' } as const;
const keptWidth = (): number => Number(localStorage.getItem('stemma.width.right')) || width.initial;

/** Keeps the inspector's width across layouts. The panel library alone would remember one layout per set of panes. */
function useKeptWidth() {
  const panel = usePanelRef();
  const wasOut = useRef(false);
  const onLayoutChanged: GroupProps['onLayoutChanged'] = (layout, { isUserInteraction }) => {
    const isOut = 'right' in layout;
    if (isOut && isUserInteraction) localStorage.setItem('stemma.width.right', String(Math.round(panel.current?.getSize().inPixels ?? 0)));
    else if (isOut && !wasOut.current) panel.current?.resize(keptWidth());
    wasOut.current = isOut;
  };
  return { panel, onLayoutChanged };
}

/** The view with the inspector beside it. In a narrow window, the inspector opens over the view. The view is never mounted again. */
export function Frame({ children }: { children: ReactNode }) {
  const inspector = useInspector();
  const { panel, onLayoutChanged } = useKeptWidth();
  return (
    <main className="frame rest">
      <Group id="stemma.frame" orientation="horizontal" onLayoutChanged={onLayoutChanged}>
        {/* The views scroll by themselves. A scrolling panel would show a scroll bar for a fraction of a pixel. */}
        <Panel id="center" minSize={320} style={{ overflow: 'hidden' }}>
          {children}
        </Panel>
        {inspector === 'beside' && (
          <>
            <Separator className="pane-line" aria-label="Width of the inspector" />
            <Panel
              id="right"
              panelRef={panel}
              minSize={width.least}
              maxSize={width.most}
              defaultSize={keptWidth()}
              groupResizeBehavior="preserve-pixel-size"
            >
              <InspectorPane />
            </Panel>
          </>
        )}
      </Group>
      {inspector === 'drawer' && (
        <>
          <button type="button" className="drawer-scrim" aria-label="Close the drawer" onClick={toggleInspector} />
          <div className="drawer on-pane">
            <InspectorPane />
          </div>
        </>
      )}
    </main>
  );
}

function InspectorPane() {
  const dir = useOpenDir();
  return (
    <section className="pane on-pane" aria-label="Inspector">
      <Boundary what="Cannot show the inspector">{dir && <Inspector project={dir} />}</Boundary>
    </section>
  );
}
