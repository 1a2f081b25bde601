import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Request, RequestDiff } from '../../src/core/contract/index.js';
import { diffRequests, getRequest, listRequests } from '../../src/core/requests/index.js';
import { importInto } from './imports.js';
import { emptyChain, scratch } from './project.js';

/** The calls of a transcript, as listed and as rebuilt. */
export function callsOf(transcript: string): { readonly request: Request; readonly same: RequestDiff }[] {
  const path = join(scratch(), 's1.jsonl');
  writeFileSync(path, transcript);
  const chain = emptyChain();
  importInto(chain, path);
  return listRequests(chain, {}).map(({ requestId }) => ({ request: getRequest(chain, requestId), same: diffRequests(chain, requestId, requestId) }));
}
