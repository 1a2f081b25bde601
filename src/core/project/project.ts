import { type Clock, timestampOf } from '../base/index.js';
import type { ProjectInfo } from '../contract/index.js';
import { formatVersion, type OpenDatabase } from '../store/index.js';
import { type Capture, openCapture } from './capture.js';
import type { Problem } from './check.js';
import type { Keys } from './credentials.js';
import { makeFolder, type NewProject, openFolder, type ProjectFolder } from './folder.js';
import { standIns } from './salvaged.js';
import { storedBytes } from './storage.js';
import { openTiers, type Tiers } from './tiers.js';
import { openUpkeep, type Upkeep } from './upkeep.js';

/** An open project, with what goes on in it by itself: copies to backing stores, upkeep, the live capture. */
export interface Project extends ProjectFolder {
  /** What was lost when its database had to be rescued to be opened. */
  readonly lost: readonly Problem[];
  readonly tiers: Tiers;
  readonly upkeep: Upkeep;
  readonly capture: Capture;
}

/** Makes a project folder and opens it. @throws what `makeFolder` does. */
export const createProject = (input: NewProject, clock: Clock, keys?: Keys): Project => openProject(makeFolder(input, clock), clock, keys);

/** `repair`: as `openFolder` does it. @throws what that does. */
export function openProject(path: string, clock: Clock, keys?: Keys, { repair = false } = {}): Project {
  const folder = openFolder(path, clock, { repair });
  const { chain, projectId, salvaged } = folder;
  const lost = salvaged ? standIns(chain, salvaged) : [];
  const tiers = openTiers(chain, (tier) => keys?.find(projectId, tier));
  tiers.wake();
  const upkeep = openUpkeep(chain);
  const capture = openCapture(chain);
  return {
    ...folder,
    lost,
    tiers,
    upkeep,
    capture,
    close: () => {
      capture.close();
      upkeep.close();
      tiers.close();
      folder.close();
    },
  };
}

export function projectInfo(project: Project): ProjectInfo {
  const { db, chain } = project;
  const commits = db.one<{ commits: number; entries: number | null }>(
    'SELECT COUNT(*) AS commits, SUM(entries) AS entries FROM context WHERE project = ?',
    chain.project,
  );
  const artifacts = chain.artifacts.totals();
  return {
    projectId: project.projectId,
    name: project.name,
    dir: project.dir,
    createdAt: timestampOf(project.createdAt),
    counts: {
      commits: commits?.commits ?? 0,
      entries: commits?.entries ?? 0,
      cards: countOf(db, 'card', chain.project),
      boxes: countOf(db, 'box', chain.project),
      artifacts: artifacts.objects,
    },
    bytes: { logical: artifacts.logical, stored: storedBytes(project) },
    formatVersion,
    tokenizer: project.tokenizer,
  };
}

const countOf = (db: OpenDatabase, table: 'card' | 'box', project: number): number =>
  db.one<{ count: number }>(`SELECT COUNT(*) AS count FROM ${table} WHERE project = ?`, project)?.count ?? 0;
