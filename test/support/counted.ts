import { atOnce } from '../../src/core/base/index.js';
import type { ReadChain, WriteChain } from '../../src/core/chain/index.js';
import * as search from '../../src/core/search/index.js';
import * as turns from '../../src/core/turns/index.js';
import * as usage from '../../src/core/usage/index.js';

/** A question that is asked after the writer has derived what it is answered from, as the router asks it. */
const after =
  (derive: (chain: WriteChain) => Generator<unknown, void>) =>
  <Args extends unknown[], Result>(ask: (chain: ReadChain, ...args: Args) => Result) =>
  (chain: WriteChain, ...args: Args): Result => {
    atOnce(derive(chain));
    return ask(chain, ...args);
  };
const counted = after(usage.catchUpUsage);

export const usageCalls = counted(usage.usageCalls);
export const usageSessions = counted(usage.usageSessions);
export const usageOfContext = counted(usage.usageOfContext);
export const usageSides = counted(usage.usageSides);
export const callsByCommit = counted(usage.callsByCommit);
export const rowFacts = counted(turns.rowFacts);
export const query = after(search.indexInPieces)(search.query);
