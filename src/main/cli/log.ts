import type { CommitType, GraphRow } from '../../core/contract/index.js';
import { bold, cyan, dim, firstLine, magenta, type Paint, red, yellow } from './output.js';

const marks: Record<CommitType, string> = { delta: '●', compaction: '✂', snapshot: '◆' };

/**
 * Draws the chain for a terminal, newest first, one line a commit and, where a lane bends, one more for the bend. Lanes
 * that go on are `│`; an edge to another lane is drawn from `╯` or `╮` to the lane that it joins.
 */
export function drawGraph(rows: readonly GraphRow[], columns = 120, now = new Date()): string[] {
  return rows.flatMap((row, place) => {
    const open = lanesAbove(rows[place - 1]);
    const width = Math.max(row.width, row.lane + 1);
    const cells = Array.from({ length: width }, (_, lane) => (lane === row.lane ? marks[row.commit.type] : open.has(lane) ? '│' : ' '));
    const bends = row.edges.some((edge) => edge.fromLane !== edge.toLane);
    const head = cells.map((cell, lane) => laneColor(lane)(cell)).join(' ');
    const room = Math.max(20, columns - width * 2 - 46);
    return [`${head}  ${words(row, room, now)}`, ...(bends ? [bendLine(row.edges)] : [])];
  });
}

/** Lanes with a line that leaves the row below. */
const lanesAbove = (row: GraphRow | undefined): Set<number> => new Set(row?.edges.map((edge) => edge.toLane) ?? []);

/** Corners and crossings by the sides that a line leaves them on: up, down, left, right, in this order of bits. */
const corners = [' ', '╵', '╷', '│', '╴', '╯', '╮', '┤', '╶', '╰', '╭', '├', '─', '┴', '┬', '┼'] as const;
const [up, down, left, right] = [1, 2, 4, 8] as const;

/** The line between two rows on which lanes change places. */
function bendLine(edges: GraphRow['edges']): string {
  const columns: number[] = [];
  const add = (column: number, sides: number): void => {
    columns[column] = (columns[column] ?? 0) | sides;
  };
  for (const { fromLane, toLane } of edges) {
    add(fromLane * 2, up);
    add(toLane * 2, down);
    const [west, east] = [Math.min(fromLane, toLane) * 2, Math.max(fromLane, toLane) * 2];
    for (let column = west; column < east; column++) {
      add(column, right);
      add(column + 1, left);
    }
  }
  return dim(Array.from(columns, (sides) => corners[sides ?? 0]).join(''));
}

function words(row: GraphRow, room: number, now: Date): string {
  const { commit } = row;
  const badges = [
    row.tipOf === undefined ? '' : bold(`[${firstLine(row.tipOf, 40)}] `),
    commit.type === 'compaction'
      ? magenta(`compaction${row.replacedTokens === undefined ? '' : ` ${row.replacedTokens} → ${row.contextTokens} tok`} `)
      : '',
    row.forked ? cyan('fork ') : '',
    row.startedBy ? cyan('subagent ') : '',
    row.errors ? red(`${row.errors} errors `) : '',
  ].join('');
  const tokens = `≈${commit.tokenCount.toLocaleString('en-US')} tok`;
  return `${yellow(commit.id)} ${dim(timeOf(commit.createdAt, now))} ${badges}${firstLine(commit.summary ?? commit.principal ?? commit.template, room)} ${dim(tokens)}`;
}

const laneColors: readonly Paint[] = [yellow, cyan, magenta];
const laneColor = (lane: number): Paint => laneColors[lane % laneColors.length] as Paint;

/** `14:02` of today, else the day: in the reader's own time zone. */
export function timeOf(at: string, now: Date): string {
  const time = new Date(at);
  const two = (value: number): string => String(value).padStart(2, '0');
  const day = `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
  const clock = `${two(time.getHours())}:${two(time.getMinutes())}`;
  return time.toDateString() === now.toDateString() ? `today      ${clock}` : `${day} ${clock}`;
}
