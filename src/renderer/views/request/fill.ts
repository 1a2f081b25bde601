import type { Cause, RequestPoint } from '../../../core/contract/index.js';

/** The causes from the bottom of the chart to its top: what never changes lies lowest, what grows stands on it. */
export const layers: readonly { readonly cause: Cause; readonly name: string; readonly color: string }[] = [
  { cause: 'system', name: 'System prompt', color: '--system' },
  { cause: 'tools', name: 'Tools', color: '--tool' },
  { cause: 'summary', name: 'Summaries', color: '--lane-5' },
  { cause: 'reminders', name: 'Put in by the agent', color: '--thinking' },
  { cause: 'files', name: 'Files', color: '--user' },
  { cause: 'results', name: 'Tool results', color: '--lane-0' },
  { cause: 'talk', name: 'Talk', color: '--assistant' },
];

export interface Stack {
  /** The number of each call among all of them, from 1. */
  readonly numbers: readonly number[];
  readonly points: readonly RequestPoint[];
  /** Of each layer, how high it reaches at each call: its own tokens and those of all layers below it. */
  readonly heights: readonly (readonly number[])[];
  readonly counted: readonly (number | null)[];
  /** Places at which the conversation was shortened: a compaction, a rewind. */
  readonly cuts: readonly number[];
}

/** One conversation's calls out of a series: the main one's, or those of the subagent that is named. */
export function stackOf(series: readonly RequestPoint[], agentId: string | undefined): Stack {
  const own = series.flatMap((point, at) => (point.agentId === agentId ? [{ point, number: at + 1 }] : []));
  const points = own.map(({ point }) => point);
  let below = points.map(() => 0);
  const heights = layers.map(({ cause }) => {
    below = below.map((height, at) => height + (points[at]?.causes[cause] ?? 0));
    return below;
  });
  return {
    numbers: own.map(({ number }) => number),
    points,
    heights,
    counted: points.map((point) => point.counted),
    cuts: points.flatMap((point, at) => (at > 0 && point.messageCount < (points[at - 1]?.messageCount ?? 0) ? [at] : [])),
  };
}

export const totalOf = ({ causes }: RequestPoint): number => layers.reduce((sum, { cause }) => sum + causes[cause], 0);
