import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The folder that all workers of a run of Playwright share. */
export const runFolder = (): string => process.env.STEMMA_RUN_FOLDER ?? '';

/** Makes the folder before any worker starts. The returned function deletes it at the end. */
export default function setup(): () => void {
  const dir = mkdtempSync(join(tmpdir(), 'stemma-run-'));
  process.env.STEMMA_RUN_FOLDER = dir;
  return () => rmSync(dir, { recursive: true, force: true });
}
