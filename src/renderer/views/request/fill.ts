import type { PartKind, UsageSeries } from '../../../core/contract/index.js';
import { colorOf, shareNames, shareOfPart, shares } from '../../parts';

const partKinds = Object.keys(shareOfPart) as PartKind[];

/** The layers of the chart from its bottom to its top, in the colors of entry kinds. The last one fills the gap to the counted total. */
export const layers: readonly { readonly kinds: readonly PartKind[]; readonly name: string; readonly color: string }[] = [
  ...shares.map((share) => ({ kinds: partKinds.filter((kind) => shareOfPart[kind] === share), name: shareNames[share], color: colorOf(share) })),
  { kinds: [], name: 'Not recorded', color: '--f-none' },
];
export const unrecorded = layers.length - 1;

export interface Stack {
  readonly ids: readonly string[];
  /** For each call, the tokens of each layer. */
  readonly tokens: readonly (readonly number[])[];
  /** For each layer, its top at each call: its own tokens plus those of all layers below it. */
  readonly heights: readonly (readonly number[])[];
  readonly counted: readonly (number | null)[];
  readonly windows: readonly (number | null)[];
  /** The window of the last call. */
  readonly limit: number | null;
  /** Places of the first calls after a compaction. */
  readonly cuts: readonly number[];
  readonly basis: UsageSeries['basis'];
}

/** Adds up the parts of each call by layer. */
export function stackOf({ kinds, calls, basis }: UsageSeries): Stack {
  const tokens = calls.map(({ parts, counted }) => {
    const own = layers.map(({ kinds: of }) => of.reduce((sum, kind) => sum + (parts[kinds.indexOf(kind)] ?? 0), 0));
    const known = own.reduce((sum, size) => sum + size, 0);
    return own.map((size, layer) => (layer === unrecorded ? Math.max(0, (counted ?? 0) - known) : size));
  });
  let below = calls.map(() => 0);
  const heights = layers.map((_, layer) => {
    below = below.map((height, at) => height + (tokens[at]?.[layer] ?? 0));
    return below;
  });
  return {
    ids: calls.map(({ requestId }) => requestId),
    tokens,
    heights,
    counted: calls.map(({ counted }) => counted),
    windows: calls.map(({ limit }) => limit),
    limit: calls.at(-1)?.limit ?? calls.findLast(({ limit }) => limit !== null)?.limit ?? null,
    cuts: calls.flatMap(({ cut }, at) => (cut ? [at] : [])),
    basis,
  };
}

/** From this share of the window on, the chart shows the whole window. Below it, the tokens would be only a line at the bottom. */
const minShareOfWindow = 0.4;

/** The top of the chart for calls of at most `most` tokens. */
export const topOf = (most: number, limit: number | null): number =>
  limit !== null && most >= limit * minShareOfWindow ? Math.max(limit, most) * 1.05 : Math.max(1, most) * 1.25;
