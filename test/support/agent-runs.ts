import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

let dir: string | undefined;

/**
 * A folder for the runs of real agents. All test files of a run share it, and it is deleted at the end. A folder that STEMMA_AGENT_RUNS
 * names is kept, so that the next run finds the tours there.
 */
export function setup(): void {
  if (process.env.STEMMA_AGENT_RUNS) return;
  dir = mkdtempSync(join(tmpdir(), 'stemma-agents-'));
  process.env.STEMMA_AGENT_RUNS = dir;
}

export function teardown(): void {
  if (dir !== undefined) rmSync(dir, { recursive: true, force: true });
}
