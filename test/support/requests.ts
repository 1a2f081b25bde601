import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Chain } from '../../src/core/chain/index.js';
import type { ImportResult, Request, RequestDiff } from '../../src/core/contract/index.js';
import { importPaths } from '../../src/core/intake/index.js';
import { diffRequests, getRequest, listRequests } from '../../src/core/requests/index.js';
import { emptyChain, scratch } from './project.js';

/** Imports everything at and under the paths. */
export function importAll(chain: Chain, paths: readonly string[]): ImportResult {
  const run = importPaths(chain, { paths });
  for (;;) {
    const step = run.next();
    if (step.done) return step.value;
  }
}

/** The calls of a transcript, each with what the engine says of it against itself. */
export function callsOf(transcript: string): { readonly request: Request; readonly same: RequestDiff }[] {
  const path = join(scratch(), 's1.jsonl');
  writeFileSync(path, transcript);
  const chain = emptyChain();
  importAll(chain, [path]);
  return listRequests(chain, {}).map(({ requestId }) => ({ request: getRequest(chain, requestId), same: diffRequests(chain, requestId, requestId) }));
}
