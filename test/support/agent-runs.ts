import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

let dir = '';

/** One folder for what real agents leave, shared by all files of a run of the tests; gone with it. */
export function setup(): void {
  dir = mkdtempSync(join(tmpdir(), 'stemma-agents-'));
  process.env.STEMMA_AGENT_RUNS = dir;
}

export function teardown(): void {
  rmSync(dir, { recursive: true, force: true });
}
