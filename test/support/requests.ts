import type { Chain } from '../../src/core/chain/index.js';
import type { ImportResult } from '../../src/core/contract/index.js';
import { importPaths } from '../../src/core/intake/index.js';

/** Imports everything at and under the paths. */
export function importAll(chain: Chain, paths: readonly string[]): ImportResult {
  const run = importPaths(chain, { paths });
  for (;;) {
    const step = run.next();
    if (step.done) return step.value;
  }
}
