import { memo } from 'react';
import type { GraphRow } from '../../../core/contract/index.js';
import type { SubagentLink } from './rows';

export const rowHeight = 28;
const laneWidth = 13;
/** Lanes from this number on are drawn on top of each other, to leave space for the titles. */
const laneCap = 9;

/** The color of a lane, as a CSS value. */
export const laneColor = (lane: number): string => `var(--lane-${lane % 8})`;
const x = (lane: number): number => 12 + Math.min(lane, laneCap) * laneWidth;
/** The width of a graph with this many lanes, in CSS pixels. */
export const graphWidth = (lanes: number): number => x(Math.min(lanes, laneCap + 1) - 1) + 12;

/** The path from the middle of this row to the middle of the next: straight, or bent near the branching point. */
function bendPath(from: number, to: number, bendAtTop: boolean): string {
  const [x1, x2, y1, y2] = [x(from), x(to), rowHeight / 2, rowHeight * 1.5];
  if (x1 === x2) return `M${x1} ${y1}V${y2}`;
  const turn = bendAtTop ? y1 + 2 : y2 - 18;
  return `M${x1} ${y1}V${turn}C${x1} ${turn + 12} ${x2} ${turn + 4} ${x2} ${turn + 16}V${y2}`;
}

/** The line from a subagent's chain to the commit that started it. Dotted, because that commit is not its parent. */
export function LinkLine({ link }: { link: SubagentLink }) {
  const middle = (row: number) => row * rowHeight + rowHeight / 2;
  const [x1, y1, x2, y2] = [x(link.from.lane), middle(link.from.row), x(link.to.lane), middle(link.to.row)];
  const bend = Math.sign(y2 - y1) * Math.min(20, Math.abs(y2 - y1) / 2);
  return (
    <path
      className="lane-link"
      stroke={laneColor(link.from.lane)}
      d={`M${x1} ${y1}V${y2 - bend}${x1 === x2 ? `V${y2}` : `C${x1} ${y2 - bend / 4} ${x2 + 4} ${y2} ${x2} ${y2}`}`}
    />
  );
}

interface LanesProps {
  readonly row: GraphRow;
  readonly width: number;
  /** True for a folded run of commits, which is drawn as a dotted line. */
  readonly folded?: boolean;
  /** True to draw only the dot, because neighboring rows of a filtered list are not neighbors in the chain. */
  readonly alone?: boolean;
}

/** One row of the graph: its dot and the lines to the next row. */
export const Lanes = memo(function Lanes({ row, width, folded = false, alone = false }: LanesProps) {
  const cx = x(row.lane);
  const cy = rowHeight / 2;
  const color = laneColor(row.lane);
  const { type } = row.commit;
  return (
    <svg className="lanes" width={width} height={rowHeight} aria-hidden focusable="false">
      {!alone &&
        row.edges.map((edge) => (
          <path
            key={`${edge.fromLane} ${edge.toLane}`}
            d={bendPath(edge.fromLane, edge.toLane, edge.fromLane === row.lane && edge.toLane > edge.fromLane)}
            stroke={laneColor(Math.max(edge.fromLane, edge.toLane))}
            className="lane"
          />
        ))}
      {folded ? (
        <path d={`M${cx} ${cy - 8}V${cy + 8}`} stroke={color} className="lane-fold" />
      ) : type === 'compaction' ? (
        <>
          <path d={`M${cx - 7} ${cy}H${cx + 7}`} className="lane-seam" />
          <rect x={cx - 4} y={cy - 4} width={8} height={8} transform={`rotate(45 ${cx} ${cy})`} fill="var(--ground)" stroke={color} strokeWidth={2} />
        </>
      ) : type === 'snapshot' ? (
        <rect x={cx - 4} y={cy - 4} width={8} height={8} rx={1.5} fill={color} />
      ) : row.forked ? (
        <circle cx={cx} cy={cy} r={4.5} fill="var(--ground)" stroke={color} strokeWidth={2.5} />
      ) : (
        <circle cx={cx} cy={cy} r={row.tipOf === undefined ? 3.5 : 5} fill={color} />
      )}
      {row.tipOf !== undefined && type === 'delta' && !row.forked && <circle cx={cx} cy={cy} r={2} fill="var(--ground)" />}
    </svg>
  );
});
