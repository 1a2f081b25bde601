import { type ReactNode, type RefObject, useRef } from 'react';
import { Group, type GroupProps, Panel, type PanelImperativeHandle, Separator, usePanelRef } from 'react-resizable-panels';
import { useOpenDir } from '../state';
import { Inspector } from '../views/inspector';
import { SessionsPane } from '../views/library';
import { Boundary } from './Boundary';
import { toggle, usePanes } from './panes';

type Side = 'left' | 'right';
const firstWidths: Record<Side, number> = { left: 240, right: 320 };

/** A pane's width in CSS pixels, as it was last dragged. */
const widthOf = (side: Side): number => Number(localStorage.getItem(`stemma.width.${side}`)) || firstWidths[side];

/** The panes are as wide as they were dragged to, whichever of them are out: the group itself remembers one layout for each set of panes. */
function useKeptWidths() {
  const panels: Record<Side, RefObject<PanelImperativeHandle | null>> = { left: usePanelRef(), right: usePanelRef() };
  const out = useRef('');
  const onLayoutChanged: GroupProps['onLayoutChanged'] = (layout, { isUserInteraction }) => {
    const sides = (['left', 'right'] as const).filter((side) => side in layout);
    if (isUserInteraction) {
      for (const side of sides) localStorage.setItem(`stemma.width.${side}`, String(Math.round(panels[side].current?.getSize().inPixels ?? 0)));
    } else if (out.current !== sides.join()) {
      out.current = sides.join();
      for (const side of sides) panels[side].current?.resize(widthOf(side));
    }
  };
  return { panels, onLayoutChanged };
}

/** Left pane, the view, right pane; at narrow widths the side panes come in over the view. Whatever comes and goes beside it, the view stays. */
export function Frame({ children }: { children: ReactNode }) {
  const { narrow, left, right } = usePanes();
  const dir = useOpenDir();
  const beside = { left: !narrow && left, right: !narrow && right };
  const { panels, onLayoutChanged } = useKeptWidths();
  const sessions = (
    <Pane label="Library" what="The sessions cannot be shown">
      {dir && <SessionsPane key={dir} />}
    </Pane>
  );
  const inspector = (
    <Pane label="Inspector" what="The inspector cannot be shown">
      {dir && <Inspector project={dir} />}
    </Pane>
  );
  const drawer = narrow ? (left ? 'left' : right ? 'right' : undefined) : undefined;
  return (
    <main className="frame">
      <Group id="stemma.frame" orientation="horizontal" onLayoutChanged={onLayoutChanged}>
        {beside.left && (
          <>
            <Panel
              id="left"
              panelRef={panels.left}
              minSize={180}
              maxSize="40%"
              defaultSize={widthOf('left')}
              groupResizeBehavior="preserve-pixel-size"
            >
              {sessions}
            </Panel>
            <Separator className="pane-line" aria-label="Width of the left pane" />
          </>
        )}
        <Panel id="center" minSize={320}>
          {children}
        </Panel>
        {beside.right && (
          <>
            <Separator className="pane-line" aria-label="Width of the inspector" />
            <Panel
              id="right"
              panelRef={panels.right}
              minSize={220}
              maxSize="50%"
              defaultSize={widthOf('right')}
              groupResizeBehavior="preserve-pixel-size"
            >
              {inspector}
            </Panel>
          </>
        )}
      </Group>
      {drawer && (
        <>
          <button type="button" className="drawer-scrim" aria-label="Close the drawer" onClick={() => toggle(drawer)} />
          <div className={`drawer ${drawer}`}>{drawer === 'left' ? sessions : inspector}</div>
        </>
      )}
    </main>
  );
}

const Pane = ({ label, what, children }: { label: string; what: string; children: ReactNode }) => (
  <section className="pane" aria-label={label}>
    <Boundary what={what}>{children}</Boundary>
  </section>
);
