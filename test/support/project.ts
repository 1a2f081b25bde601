import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Chain } from '../../src/core/chain/index.js';
import { createProject, type Project } from '../../src/core/project/index.js';

/** A folder that is gone when the test is over. */
export function scratch(): string {
  const dir = mkdtempSync(join(tmpdir(), 'stemma-test-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

/** A clock that a test moves by hand. */
export interface HeldClock {
  (): number;
  at: number;
}

export function heldClock(at = Date.parse('2026-01-01T00:00:00.000Z')): HeldClock {
  const clock = (() => clock.at) as HeldClock;
  clock.at = at;
  return clock;
}

/** An empty project of its own, closed and gone when the test is over. */
export function emptyProject(clock: () => number = heldClock()): Project {
  const project = createProject({ dir: join(scratch(), 'test') }, clock);
  onTestFinished(() => project.close());
  return project;
}

export const emptyChain = (clock?: () => number): Chain => emptyProject(clock).chain;
