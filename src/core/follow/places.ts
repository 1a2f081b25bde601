import type { Stats } from 'node:fs';
import type { ContextId } from '../base/index.js';
import type { ReadChain } from '../chain/index.js';
import { type LocatedFile, statLocated, unlessRefused } from '../files/index.js';
import { isWatched, latestSource, mayBeTranscript } from '../import/index.js';
import { isWithin } from '../system/index.js';
import { databaseOf, historyOf, isFollowableDatabase } from './database.js';

/** A folder or file that is followed. */
export interface WatchedPlace {
  readonly path: string;
  /** The agent whose own folder this is, if it is one. */
  readonly agent?: string | undefined;
}

/** Whether nothing about the path is to be watched. If a place does not exist yet, the folders above it are watched. */
export function isIgnored(places: readonly WatchedPlace[], path: string, stats: Stats | undefined): boolean {
  const file = databaseOf(path);
  const own = places.find((place) => isWithin(file, place.path));
  if (!own) return stats?.isFile() === true || !places.some((place) => isWithin(place.path, path));
  if (!isWatched(own, file)) return true;
  return stats?.isFile() === true && !mayBeFollowed(historyOf({ root: own.path, path: file }));
}

/** The newest commit of a file that was imported before. */
export function knownTip(chain: ReadChain, path: string): ContextId | undefined {
  const tip = latestSource(chain, path)?.tips.at(-1);
  return tip === undefined ? undefined : chain.db.value<ContextId>('SELECT id FROM commits WHERE seq = ?', tip);
}

/** Whether the path may be a history, by its name. */
export const mayBeFollowed = (path: string): boolean => mayBeTranscript(path) || isFollowableDatabase(path);

/** Imported files below the places whose size has changed: they grew while nothing was recorded. */
export function grownFiles(chain: ReadChain, places: readonly WatchedPlace[]): string[] {
  const latest = new Map(chain.db.rows<[string, number]>('SELECT path, size FROM source WHERE project = ? ORDER BY no', chain.project));
  return [...latest].flatMap(([path, size]) => {
    const place = places.find((one) => isWithin(path, one.path));
    const now = place && sizeNow({ root: place.path, path });
    return now !== undefined && now !== size ? [path] : [];
  });
}

/** Undefined if the file does not exist or may not be opened. */
export const sizeNow = (file: LocatedFile): number | undefined => unlessRefused(() => statLocated(file)?.size);
