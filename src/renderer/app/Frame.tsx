import { type ReactNode, type RefObject, useRef } from 'react';
import { Group, type GroupProps, Panel, type PanelImperativeHandle, Separator, usePanelRef } from 'react-resizable-panels';
import { type Side, useOpenDir } from '../state';
import { Inspector } from '../views/inspector';
import { SessionsPane } from '../views/library';
import { Boundary } from './Boundary';
import { toggle, usePanes } from './panes';

/** What tells the panes beside the view apart. Widths in CSS pixels, or as a share of the window. */
const sides = {
  left: { label: 'Library', what: 'The sessions cannot be shown', line: 'Width of the left pane', width: 240, least: 180, most: '40%' },
  right: { label: 'Inspector', what: 'The inspector cannot be shown', line: 'Width of the inspector', width: 320, least: 220, most: '50%' },
} as const satisfies Record<Side, object>;

/** A pane's width in CSS pixels, as it was last dragged. */
const widthOf = (side: Side): number => Number(localStorage.getItem(`stemma.width.${side}`)) || sides[side].width;

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

/** Left pane, the view, right pane; where there is no room beside the view they come in over it. Whatever comes and goes beside it, the view stays. */
export function Frame({ children }: { children: ReactNode }) {
  const { left, right } = usePanes();
  const { panels, onLayoutChanged } = useKeptWidths();
  const drawer = left === 'drawer' ? 'left' : right === 'drawer' ? 'right' : undefined;
  return (
    <main className="frame">
      <Group id="stemma.frame" orientation="horizontal" onLayoutChanged={onLayoutChanged}>
        {left === 'beside' && <Beside side="left" panel={panels.left} />}
        <Panel id="center" minSize={320}>
          {children}
        </Panel>
        {right === 'beside' && <Beside side="right" panel={panels.right} />}
      </Group>
      {drawer && (
        <>
          <button type="button" className="drawer-scrim" aria-label="Close the drawer" onClick={() => toggle(drawer)} />
          <div className={`drawer ${drawer}`}>
            <Pane side={drawer} />
          </div>
        </>
      )}
    </main>
  );
}

/** A pane beside the view, and the line between them that it is dragged by. */
function Beside({ side, panel }: { side: Side; panel: RefObject<PanelImperativeHandle | null> }) {
  const { line, least, most } = sides[side];
  const separator = <Separator className="pane-line" aria-label={line} />;
  return (
    <>
      {side === 'right' && separator}
      <Panel id={side} panelRef={panel} minSize={least} maxSize={most} defaultSize={widthOf(side)} groupResizeBehavior="preserve-pixel-size">
        <Pane side={side} />
      </Panel>
      {side === 'left' && separator}
    </>
  );
}

/** What stands in a pane, wherever the pane is. */
function Pane({ side }: { side: Side }) {
  const dir = useOpenDir();
  const { label, what } = sides[side];
  return (
    <section className="pane" aria-label={label}>
      <Boundary what={what}>{dir && (side === 'left' ? <SessionsPane key={dir} /> : <Inspector project={dir} />)}</Boundary>
    </section>
  );
}
