import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, onTestFinished } from 'vitest';
import type { ReadChain, WriteChain } from '../../src/core/chain/index.js';
import { makeFolder } from '../../src/core/project/folder.js';
import { openProject, type Project } from '../../src/core/project/index.js';
import { chunkType, openDatabase } from '../../src/core/store/index.js';
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

let fresh: Buffer | undefined;

/** The bytes of a new database. Creating its tables takes longer than most tests, so the tests of a worker create them once. */
function newDatabase(): Buffer {
  if (fresh !== undefined) return fresh;
  const dir = mkdtempSync(join(tmpdir(), 'stemma-test-'));
  const file = join(dir, 'new.db');
  openDatabase(file).close();
  fresh = readFileSync(file);
  rmSync(dir, { recursive: true });
  return fresh;
}

/** An empty temporary project, closed at the end of the test. */
export function emptyProject(clock: () => number = heldClock()): Project {
  const dir = makeFolder({ dir: join(scratch(), 'test') }, clock);
  writeFileSync(join(dir, 'stemma.db'), newDatabase(), { mode: 0o600 });
  const project = openProject(dir, clock);
  onTestFinished(() => project.close());
  return project;
}

export const emptyChain = (clock?: () => number): WriteChain => emptyProject(clock).chain;

/** A machine on which every project is trusted. */
export const trustEverything: TrustedProjects = { has: () => true, add: () => {}, created: () => {} };

/** The objects of a project, without the chunks of divided ones; their plain bytes; and the bytes that all stored content takes. */
export const objectTotals = ({ db, project }: ReadChain): { readonly objects: number; readonly logical: number; readonly stored: number } =>
  db.one(
    `SELECT COUNT(*) FILTER (WHERE contentType <> '${chunkType}') AS objects,
            IFNULL(SUM(size) FILTER (WHERE contentType <> '${chunkType}'), 0) AS logical,
            IFNULL(SUM(storedSize), 0) AS stored FROM artifact
      WHERE project = ? AND (data IS NOT NULL OR pack IS NOT NULL OR block IS NOT NULL OR chunks IS NOT NULL)`,
    project,
  ) ?? { objects: 0, logical: 0, stored: 0 };
