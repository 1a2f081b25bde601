import { randomUUID } from 'node:crypto';
import { existsSync, rmSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import {
  analysisIsDue,
  answer,
  applyRules,
  catchUpAnalysis,
  catchUpFindings,
  findingsAreDue,
  findingsWithin,
  openScopedViews,
  openViews,
  uncheckedSessions,
  type WrittenFile,
  writeAnswer,
  writeDataset,
} from '../analysis/index.js';
import { badRequest, StemmaError, systemClock } from '../base/index.js';
import type { Finding } from '../contract/index.js';
import { absolutePath, renameDurably } from '../files/index.js';
import { missingDerived } from '../store/index.js';
import { loadPrices, usageIsDue } from '../usage/index.js';
import type { Analyst, AnalystLimits, AnalystOrder, Ask } from './ask.js';
import { openForReading } from './chains.js';
import type { Engine } from './engine.js';
import type { Project } from './project.js';
import type { IdleWork } from './upkeep.js';

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
export function requireFile({ place }: Pick<Project, 'place'>): NonNullable<Project['place']> {
  if (place) return place;
  throw new StemmaError('UNAVAILABLE', 'The project is only in memory, because no disk has room for a copy of it. SQL needs a file.', {
    reason: 'memory',
  });
}

/** Asks a question of an open project. @throws as `Analyst` */
export const askProject = async ({ options }: Engine, project: Project, ask: Ask, limits: AnalystLimits): Promise<unknown> =>
  await askFolder(options.analyst, project, ask, limits);

async function askFolder(analyst: Analyst | undefined, folder: Pick<Project, 'chain' | 'place'>, ask: Ask, limits: AnalystLimits): Promise<unknown> {
  const order = { place: requireFile(folder), ask };
  return await withDerived(folder.chain, async () => await (analyst ? analyst(order, limits) : answerOrder(order)));
}

/** Reads derived data, and once again if its file had to be made anew. */
async function withDerived<T>(chain: Project['chain'], read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof StemmaError && error.data.reason === missingDerived)) throw error;
    // The writer makes the file again when it sees that it is gone.
    chain.db.version();
    await prepareAnalysis({ chain });
    return await read();
  }
}

/** The states of projects for which everything is derived. */
const derivedStates = new WeakMap<Project['chain'], string>();

/** A text that changes with every change of the database, by this connection or another one, and with the prices of a person. */
const readState = ({ db, usageSettings }: Project['chain']): string =>
  `${db.version()} ${db.one<{ changes: number }>('SELECT total_changes() AS changes')?.changes} ${usageSettings() ?? ''}`;

/** Derives what questions over many sessions are answered from, unless another process is writing. Asks what is due after a change only. */
export async function prepareAnalysis({ chain }: Pick<Project, 'chain'>): Promise<void> {
  if (derivedStates.get(chain) === readState(chain) || !chain.db.isFree()) return;
  if (usageIsDue(chain) || analysisIsDue(chain)) {
    await loadPrices();
    for (const _ of catchUpAnalysis(chain)) await new Promise((resolve) => setTimeout(resolve));
  }
  derivedStates.set(chain, readState(chain));
}

/** Milliseconds that a question about findings waits for sessions that were not checked yet. */
const checkingMs = 5_000;

/** Checks sessions that have changed, for a few seconds at most, unless another process is writing. The next question or idle time goes on. */
export async function prepareFindings({ options }: Engine, project: Project): Promise<void> {
  await prepareAnalysis(project);
  const until = project.chain.clock() + checkingMs;
  await checkSessions(options.analyst, project, { isOver: () => project.chain.clock() > until });
}

/** When the checking of sessions ends early, and whether a person waits for it. */
interface Checking {
  readonly isOver: () => boolean;
  readonly signal?: AbortSignal;
  readonly isBackground?: boolean;
}

/**
 * Applies the built-in rules to sessions that have changed, and keeps what they find. The rules are applied in the process that answers questions,
 * because `node:sqlite` must not open the project in this one: a second SQLite would take away the locks and the shared memory of the first
 * (sqlite.org/howtocorrupt.html, 2.2.1).
 */
async function checkSessions(analyst: Analyst | undefined, folder: Pick<Project, 'chain' | 'place'>, { isOver, ...how }: Checking): Promise<void> {
  const { chain, place } = folder;
  if (!place || !findingsAreDue(chain) || !chain.db.isFree()) return;
  const find = async (runs: string) =>
    (await askFolder(analyst, folder, { kind: 'findingsWithin', runs }, { ms: analystMs.findings, ...how })) as readonly Finding[];
  for await (const _ of catchUpFindings(chain, find)) {
    if (isOver()) return;
    await new Promise((resolve) => setTimeout(resolve));
  }
}

/** The fewest sessions for which idle time starts a process. A question checks fewer ones at once. */
const worthChecking = 20;

/** Checks sessions on an idle project, so that a question about findings need not. */
export function idleCheck(analyst: Analyst | undefined, folder: Pick<Project, 'chain' | 'place'>): IdleWork | undefined {
  if (!analyst || !folder.place) return undefined;
  const { chain } = folder;
  return {
    isDue: () => uncheckedSessions(chain) >= worthChecking,
    run: async (signal) => await checkSessions(analyst, folder, { isOver: () => signal.aborted || !chain.db.isFree(), signal, isBackground: true }),
  };
}

/**
 * Writes what a question returns to a new file or folder. It gets its name when it is complete, so that a process that is killed leaves nothing.
 * @throws as `Analyst`; CONFLICT if the path is taken; BAD_REQUEST if its folder does not exist
 */
export async function writeFor(
  engine: Engine,
  project: Project,
  given: string,
  askAt: (path: string) => Ask,
  signal: AbortSignal | undefined,
): Promise<WrittenFile> {
  const path = absolutePath(given);
  const requireFree = (): void => {
    if (existsSync(path)) throw new StemmaError('CONFLICT', `Cannot write ${path}: it already exists, and Stemma overwrites no file.`, { path });
  };
  requireFree();
  if (!existsSync(dirname(path))) throw badRequest('path', `Cannot write ${basename(path)}: the folder ${dirname(path)} does not exist.`);
  const beside = `${path}.${randomUUID().slice(0, 8)}.part`;
  try {
    const written = (await askProject(engine, project, askAt(beside), { ms: analystMs.file, signal })) as WrittenFile;
    requireFree();
    renameDurably(beside, path);
    return { ...written, path };
  } finally {
    rmSync(beside, { recursive: true, force: true });
  }
}
