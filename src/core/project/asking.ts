import {
  analysisIsDue,
  answer,
  applyRules,
  catchUpAnalysis,
  findingsWithin,
  openScopedViews,
  openViews,
  writeAnswer,
  writeDataset,
} from '../analysis/index.js';
import { StemmaError, systemClock, unavailable } from '../base/index.js';
import { missingDerived } from '../store/index.js';
import { loadPrices, usageIsDue } from '../usage/index.js';
import type { Analyst, AnalystLimits, AnalystOrder, Ask } from './ask.js';
import { openForReading } from './chains.js';
import { readState } from './changes.js';
import type { ProjectFolder } from './folder.js';

/** Milliseconds that a question may take, and the writing of a file. */
export const analystMs = { question: 15_000, findings: 60_000, file: 10 * 60_000 } as const;

/** Answers a question in this process. The process that a question may not block calls it elsewhere. */
export async function answerOrder({ place, ask }: AnalystOrder): Promise<unknown> {
  const opened = openForReading(place, { clock: systemClock, usageSettings: () => undefined, live: () => new Set() });
  const { chain } = opened.project;
  if (ask.kind === 'findingsWithin') {
    const views = await openScopedViews(chain, place);
    try {
      return findingsWithin(views, ask.runs);
    } finally {
      views.close();
      opened.close();
    }
  }
  const db = await openViews(chain, place, { isRaw: ask.kind === 'dataset', isSpilling: 'path' in ask });
  try {
    switch (ask.kind) {
      case 'rows':
        return answer(db, ask.statement, ask.limit);
      case 'file':
        return writeAnswer(db, ask.statement, ask.format, ask.path);
      case 'findings':
        return applyRules(db, ask.rules);
      case 'dataset':
        return writeDataset(db, ask.path, ask.name);
    }
  } finally {
    db.close();
    opened.close();
  }
}

/** Where the file of a project is. @throws UNAVAILABLE for a project in memory */
export function requireFile({ place }: Pick<ProjectFolder, 'place'>): NonNullable<ProjectFolder['place']> {
  if (place) return place;
  throw unavailable('The project is only in memory, because no disk has room for a copy of it. SQL needs a file.', { reason: 'memory' });
}

/**
 * Asks a question of an open project, with its derived data complete.
 * @param analyst without it, this process answers. @throws as `Analyst`
 */
export async function askFolder(analyst: Analyst | undefined, folder: AskedProject, ask: Ask, limits: AnalystLimits): Promise<unknown> {
  const order = { place: requireFile(folder), ask };
  return await withDerived(folder, async () => await (analyst ? analyst(order, limits) : answerOrder(order)));
}

/** Reads derived data, and once again if its file had to be made anew. */
async function withDerived<T>(project: TendedProject, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof StemmaError && error.data.reason === missingDerived)) throw error;
    // The writer makes the file again when it sees that it is gone.
    project.chain.db.version();
    await prepareAnalysis(project);
    return await read();
  }
}

/** The states of projects for which everything is derived. */
const derivedStates = new WeakMap<ProjectFolder['chain'], string>();

/** A text that changes with every change of the database and with the prices of a person. */
const stateOf = (chain: ProjectFolder['chain']): string => `${readState(chain)} ${chain.usageSettings() ?? ''}`;

/** The interval between two looks whether the own upkeep has stopped writing, in milliseconds. */
const lookMs = 20;
const pass = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** What `prepareAnalysis` needs of a project. */
export interface TendedProject extends Pick<ProjectFolder, 'chain'> {
  /** Whether the upkeep of this process works on the project. Its writing ends soon. */
  readonly isTidying?: () => boolean;
}

/** A project that questions are asked of. */
export type AskedProject = TendedProject & Pick<ProjectFolder, 'place'>;

/** Waits while the upkeep of this process writes. Returns whether the project may be written now: another process may hold its lock for long. */
export async function waitForUpkeep({ chain, isTidying }: TendedProject): Promise<boolean> {
  while (!chain.db.isFree()) {
    if (!isTidying?.()) return false;
    await pass(lookMs);
  }
  return true;
}

/**
 * Derives what questions over many sessions are answered from, unless another process is writing: then they are answered from what is there, and
 * `analysisProgress` counts the rest. Asks what is due after a change only.
 */
export async function prepareAnalysis(project: TendedProject): Promise<void> {
  const { chain } = project;
  if (derivedStates.get(chain) === stateOf(chain) || !(await waitForUpkeep(project))) return;
  if (usageIsDue(chain) || analysisIsDue(chain)) {
    await loadPrices();
    for (const _ of catchUpAnalysis(chain)) await pass(0);
  }
  derivedStates.set(chain, stateOf(chain));
}
