import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

let dir = '';

/** A folder for the runs of real agents. All test files of a run share it, and it is deleted at the end. */
export function setup(): void {
  dir = mkdtempSync(join(tmpdir(), 'stemma-agents-'));
  process.env.STEMMA_AGENT_RUNS = dir;
}

export function teardown(): void {
  rmSync(dir, { recursive: true, force: true });
}
