import type { UsageFiller, UsageLargest } from '../../src/core/contract/index.js';
import { type FillerSizes, largestRows, rowName } from '../../src/core/usage/index.js';

/** Adds up listed fillers by file and by group, as `usage.largest` adds up the fillers of a context. */
export function largestOf(fillers: readonly UsageFiller[], most?: number): UsageLargest[] {
  const ordered = [...fillers.filter(({ key }) => key !== undefined), ...fillers.filter(({ key }) => key === undefined)];
  const names = ordered.map((filler) => rowName(filler) ?? `entry ${filler.key ?? filler.tool ?? filler.kind}`);
  const distinct = [...new Set(names)];
  const sizes: FillerSizes = {
    count: ordered.length,
    entries: ordered.filter(({ key }) => key !== undefined).length,
    tokens: ordered.map(({ tokens }) => tokens),
    calls: ordered.map(({ calls }) => calls),
    rows: names.map((name) => distinct.indexOf(name)),
    repeats: ordered.map(({ duplicateOf }) => (duplicateOf === undefined ? 0 : 1)),
    unused: ordered.map(({ unused }) => (unused ? 1 : 0)),
    describe: (place) => ordered[place] as UsageFiller,
  };
  return largestRows(sizes, most);
}
