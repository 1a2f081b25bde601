import type { CommitType, GraphRow } from '../../core/contract/index.js';
import { bold, cyan, dim, join, line, magenta, printJson, printText, red, say, type Text, terminalColumns, yellow } from '../terminal/index.js';
import { counted, firstLine, grouped, writeTime } from './numbers.js';

/** The page of the graph for `--limit`. */
export const logQuery = (limit: number): { readonly offset: number; readonly limit: number } => ({
  offset: 0,
  limit: Math.min(5_000, Math.max(1, limit)),
});

/** Prints a page of the graph. */
export function printGraph(graph: { readonly total: number; readonly rows: readonly GraphRow[] }, asJson = false): void {
  if (asJson) {
    printJson(graph);
    return;
  }
  // One text: a pipe takes each write at its own cost.
  if (graph.rows.length > 0) printText(join(drawGraph(graph.rows, terminalColumns())));
  if (graph.total === 0) say('The project is empty. `stemma import PATH…` imports a history into it.');
  else if (graph.total > graph.rows.length) say(dim(`… ${counted(graph.total - graph.rows.length, 'more commit')}; --limit shows them.`));
}

const marks: Record<CommitType, string> = { delta: '●', compaction: '✂', snapshot: '◆' };

/** Draws the graph of commits, newest first, a line each and one more where a lane bends: `│` continues, `╯` and `╮` go to another lane. */
export function drawGraph(rows: readonly GraphRow[], columns = 120, now = new Date()): Text[] {
  return rows.flatMap((row, place) => {
    const open = lanesAbove(rows[place - 1]);
    const width = Math.max(row.width, row.lane + 1);
    const cells = Array.from({ length: width }, (_, lane) => (lane === row.lane ? marks[row.commit.type] : open.has(lane) ? '│' : ' '));
    const bends = row.edges.some((edge) => edge.fromLane !== edge.toLane);
    const head = join(
      cells.map((cell, lane) => laneColor(lane)(cell)),
      ' ',
    );
    const room = Math.max(20, columns - width * 2 - 46);
    return [line`${head}  ${describeRow(row, room, now)}`, ...(bends ? [bendLine(row.edges)] : [])];
  });
}

const lanesAbove = (row: GraphRow | undefined): Set<number> => new Set(row?.edges.map((edge) => edge.toLane) ?? []);

/** Box characters by the sides that their lines reach: up, down, left and right are the bits 1, 2, 4 and 8. */
const corners = [' ', '╵', '╷', '│', '╴', '╯', '╮', '┤', '╶', '╰', '╭', '├', '─', '┴', '┬', '┼'] as const;
const [up, down, left, right] = [1, 2, 4, 8] as const;

function bendLine(edges: GraphRow['edges']): Text {
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

function describeRow(row: GraphRow, room: number, now: Date): Text {
  const { commit } = row;
  const compacted = row.replacedTokens === undefined ? '' : ` ${compactedText(row)}`;
  const badges = [
    row.tipOf === undefined ? '' : bold(`[${firstLine(row.tipOf, 40)}] `),
    commit.type === 'compaction' ? magenta(`compaction${compacted} `) : '',
    row.forked ? cyan('fork ') : '',
    row.startedBy ? cyan('subagent ') : '',
    row.errors ? red(row.errors === 1 ? '1 error ' : `${row.errors} errors `) : '',
  ];
  const title = firstLine(commit.summary ?? commit.principal ?? commit.template, room);
  const tokens = dim(tokensText(row));
  return line`${yellow(commit.id)} ${dim(writeTime(commit.createdAt, now))} ${join(badges, '')}${title} ${tokens}`;
}

/** The counted input of the commit's last call; without one, the estimate of its content. */
const tokensText = ({ countedTokens, commit }: GraphRow): string =>
  countedTokens === undefined ? `≈${grouped(commit.tokenCount)} tokens` : `${grouped(countedTokens)} tokens counted`;

/** The tokens before and after a compaction: the provider's counts, else the estimates. */
function compactedText({ compacted, replacedTokens = 0, contextTokens }: GraphRow): string {
  const side = (counted: number | undefined, estimate: number): string => (counted === undefined ? `≈${grouped(estimate)}` : grouped(counted));
  return `${side(compacted?.before, replacedTokens)} → ${side(compacted?.after, contextTokens)} tokens`;
}

const laneColors = [yellow, cyan, magenta] as const;
const laneColor = (lane: number) => laneColors[lane % laneColors.length] ?? yellow;
