import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../base/index.js';
import { openDatabase } from '../store/index.js';
import type { Seal, TrustedProjects } from '../trust/index.js';
import { deniedWrite, readWrite } from './access.js';
import { type OpenedForReading, readingFrom } from './chains.js';
import { numberOf } from './folder.js';
import { database, findProjectIn, objects, requireRegularDatabase } from './manifest.js';

/** What opening a project at a glance needs from its machine. */
export interface GlanceOptions {
  readonly clock: Clock;
  readonly trusted: TrustedProjects;
  readonly seal: Seal;
  readonly usageSettings: () => string | undefined;
}

/** What is stored does not answer the question: contents must be read, too. */
export class BeyondAGlance extends Error {
  override readonly name = 'BeyondAGlance';
}

const unread = (): never => {
  throw new BeyondAGlance('the contents of commits must be read');
};

/**
 * Opens a project for one question about what is stored, without a connection that writes and without any reader of formats: its chain throws
 * `BeyondAGlance` where contents would be read. Undefined if opening the project needs more, which `openFolder` does: a copy, a repair of its
 * manifest, or a person's trust. @throws the errors of `findProjectIn` and `openDatabase`.
 */
export function openAtAGlance(path: string, { clock, trusted, seal, usageSettings }: GlanceOptions): OpenedForReading | undefined {
  const { dir, isRecovered, ...said } = findProjectIn(path);
  const own = [objects, database, `${database}-wal`];
  if (isRecovered || !existsSync(join(dir, objects)) || !trusted.has(said.projectId, dir) || deniedWrite(dir, own)) return undefined;
  requireRegularDatabase(dir);
  const db = openDatabase(join(dir, database), { readonly: true, mark: seal(`derived\0${said.projectId}`) });
  const project = numberOf(db, said.projectId);
  if (project === undefined) {
    db.close();
    return undefined;
  }
  const place = { dir, ...said, access: readWrite, objects: join(dir, objects), behind: undefined, project, machine: undefined };
  return readingFrom(db, place, { clock, usageSettings, live: () => new Set(), contents: { reader: unread, remake: unread } });
}
