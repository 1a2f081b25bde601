import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, onTestFinished } from 'vitest';
import type { Chain } from '../../src/core/chain/index.js';
import { createProject, type Project } from '../../src/core/project/index.js';
import type { TrustedProjects } from '../../src/core/trust/index.js';

/** A temporary folder of a test. */
export function scratch(): string {
  const dir = mkdtempSync(join(tmpdir(), 'stemma-test-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

/** A temporary folder of a test file. */
export function scratchUntilEnd(): string {
  const dir = mkdtempSync(join(tmpdir(), 'stemma-test-'));
  afterAll(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

/** A clock that a test sets. */
export interface HeldClock {
  (): number;
  at: number;
}

export function heldClock(at = Date.parse('2026-01-01T00:00:00.000Z')): HeldClock {
  const clock = (() => clock.at) as HeldClock;
  clock.at = at;
  return clock;
}

/** An empty temporary project, closed at the end of the test. */
export function emptyProject(clock: () => number = heldClock()): Project {
  const project = createProject({ dir: join(scratch(), 'test') }, clock);
  onTestFinished(() => project.close());
  return project;
}

export const emptyChain = (clock?: () => number): Chain => emptyProject(clock).chain;

/** A machine on which every project is trusted. */
export const trustEverything: TrustedProjects = { has: () => true, add: () => {}, created: () => {} };
