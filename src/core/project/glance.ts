import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../base/index.js';
import { hasDamage } from '../integrity/index.js';
import { titledGraph } from '../sessions/index.js';
import { openDatabase } from '../store/index.js';
import { openSeal, openTrustedProjects } from '../trust/index.js';
import { pendingAmong, type UnstoredWindows } from '../usage/index.js';
import { deniedWrite, readWrite } from './access.js';
import { type OpenedForReading, readingFrom } from './chains.js';
import { findProjectRow } from './folder.js';
import { database, findProjectIn, objects, requireRegularDatabase } from './manifest.js';
import { ownUsageSettings } from './own-prices.js';

/** The question needs contents, or calls that are not counted yet. */
class BeyondAGlance extends Error {
  override readonly name = 'BeyondAGlance';
}

const unread = (): never => {
  throw new BeyondAGlance('the contents of commits must be read');
};

const noUnstored: UnstoredWindows = (chain, commits) => {
  if (pendingAmong(chain, commits).length > 0) throw new BeyondAGlance('calls must be counted');
  return [];
};

/** What the graph shows of these has no mark of its own. Its commits are checked when they are read. */
const marks = ['branchMark', 'sessionMark'];

/**
 * A page of the graph (`context.graph`) from what is stored, without a connection that writes, the contract, and the readers of formats, which take
 * most of a start. Undefined if the project or the answer needs more: a copy, a conversion, a repair, a person's trust, contents, marks of damage.
 * @throws what opening the project throws.
 */
export function graphAtAGlance(path: string, dataDir: string, query: Parameters<typeof titledGraph>[1]): ReturnType<typeof titledGraph> | undefined {
  const opened = openAtAGlance(path, dataDir);
  if (!opened) return undefined;
  const { chain } = opened.project;
  try {
    const graph = titledGraph(chain, query, noUnstored);
    return marks.some((table) => hasDamage(chain.db, table)) ? undefined : graph;
  } catch (error) {
    if (error instanceof BeyondAGlance) return undefined;
    throw error;
  } finally {
    opened.close();
  }
}

function openAtAGlance(path: string, dataDir: string): OpenedForReading | undefined {
  const { dir, isRecovered, ...said } = findProjectIn(path);
  const own = [objects, database, `${database}-wal`];
  const isTrusted = openTrustedProjects(dataDir).has(said.projectId, dir);
  if (isRecovered || !isTrusted || !existsSync(join(dir, objects)) || deniedWrite(dir, own)) return undefined;
  requireRegularDatabase(dir);
  const db = openDatabase(join(dir, database), { readonly: true, mark: openSeal(dataDir)(`derived\0${said.projectId}`) });
  const project = findProjectRow(db, said.projectId);
  if (project === undefined) {
    db.close();
    return undefined;
  }
  const place = { dir, ...said, access: readWrite, objects: join(dir, objects), behind: undefined, project, machine: undefined };
  const usageSettings = (): string | undefined => ownUsageSettings(dataDir);
  return readingFrom(db, place, { clock: systemClock, usageSettings, live: () => new Set(), contents: { reader: unread, remake: unread } });
}
