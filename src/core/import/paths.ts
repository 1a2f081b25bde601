import { dirname } from 'node:path';
import { badRequest, inWords } from '../base/index.js';
import type { ReadChain, WriteChain } from '../chain/index.js';
import type { ImportProgress, ImportResult, InputOf } from '../contract/index.js';
import { type Granularity, importableFormats } from '../formats/index.js';
import { openRecorder } from '../usage/index.js';
import { type AheadOrder, type FilesAhead, isReadAhead } from './ahead.js';
import { importBodies, splitBodies } from './bodies.js';
import { type FoundFile, filesUnder } from './files.js';
import { type Group, GroupFailed, importFile, importHolding, importRead, joinResults } from './import.js';
import { byMapping } from './mapping.js';
import { mayHold, membersNamed } from './members.js';
import { formatNamed } from './recognize.js';
import { importedPaths } from './sources.js';
import type { FileResult } from './storing.js';

export type ImportInput = InputOf<'import.run'>;

/** Starts threads that read files in this order. */
type StartReading = (orders: readonly AheadOrder[]) => FilesAhead;

/**
 * Imports every transcript at and under the paths, and reports its progress before each file or group of small files. Small files share transactions.
 * The caller may stop between two steps: every stored file is complete. A file that cannot be imported is reported, and the others follow.
 * @param threads starts threads that read new files before their turn. Without it, this thread reads them.
 * @throws BAD_REQUEST for a format that cannot be imported.
 */
export function* importPaths(chain: WriteChain, input: ImportInput, threads?: StartReading): Generator<ImportProgress, ImportResult> {
  const asked = input.mapping ? byMapping(input.mapping) : formatNamed(input.format);
  if (input.format !== undefined && !asked)
    throw badRequest('format', `${inWords(input.format)} cannot be imported; the formats are ${importableFormats.map(({ id }) => id).join(', ')}`);
  const startedAt = chain.clock();
  yield { phase: 'finding', done: 0, total: 0, bytes: 0 };
  const { files: found, skipped } = filesOf(input.paths);
  const { bodies, others } = splitBodies(found);
  const files = importOrder(others);
  const results: FileResult[] = [];
  let bytes = 0;
  const granularity = input.granularity ?? 'turn_boundary';
  const ahead = input.mapping ? undefined : readingAhead(chain, files, threads, { format: asked?.id, granularity });
  const importOne = (file: FoundFile, group?: Group): FileResult => {
    const read = ahead?.take(file);
    const stored = read && importRead(chain, file, read, { granularity, group, meanwhile: () => ahead?.readNext() ?? false });
    if (stored) return stored;
    group?.recorder.settle();
    return importHolding(chain, file, asked, granularity) ?? importFile(chain, file, asked, granularity);
  };
  try {
    for (let done = 0; done < files.length; ) {
      yield { phase: 'storing', done, total: files.length, bytes, path: (files[done] as FoundFile).path };
      for (const result of importSome(chain, groupAt(files, done), importOne, ahead)) {
        results.push(result);
        bytes += (files[done] as FoundFile).bytes;
        done += 1;
      }
    }
  } finally {
    ahead?.close();
  }
  const calls = importBodies(chain, bodies);
  bytes += bodies.reduce((sum, file) => sum + file.bytes, 0);
  yield { phase: 'done', done: files.length, total: files.length, bytes };
  const all = joinResults(results);
  return {
    ...(bodies.length > 0 && { requests: calls.requests }),
    ...all,
    bytes,
    skipped: [...skipped, ...all.skipped, ...calls.skipped],
    notes: [...all.notes, ...calls.notes],
    tips: [...new Set(all.tips)],
    ms: Math.max(0, chain.clock() - startedAt),
  };
}

/** An estimate of what an import takes on one thread: so many milliseconds for each file, and one more for so many bytes. */
const fileMs = 8;
const bytesPerMs = 250_000;
/** Starting other threads pays off for imports that take longer. */
const worthMs = 250;

/** Starts to read the files that the project does not have; undefined if these are few. */
function readingAhead(
  chain: ReadChain,
  files: readonly FoundFile[],
  threads: StartReading | undefined,
  how: { readonly format: string | undefined; readonly granularity: Granularity },
): FilesAhead | undefined {
  const known = threads && importedPaths(chain);
  const fresh = files.filter((file) => isReadAhead(file) && known?.has(file.path) === false);
  if (!threads || fresh.length < 2 || fresh.reduce((sum, { bytes }) => sum + fileMs + bytes / bytesPerMs, 0) < worthMs) return undefined;
  return threads(fresh.map(({ root, path, bytes }) => ({ root, path, bytes, ...how })));
}

/** Files up to this size share a transaction, which ends after these milliseconds: each one alone would cost two syncs of the disk. */
const smallBytes = 1024 * 1024;
const groupMs = 80;
/** The most files and bytes of such a transaction. */
const groupFiles = 128;
const groupBytes = 8 * 1024 * 1024;

/** The file at the position, and small ones after it if it is small itself. */
function groupAt(files: readonly FoundFile[], from: number): readonly FoundFile[] {
  let to = from;
  for (let bytes = 0; to - from < groupFiles && bytes < groupBytes; to++) {
    const file = files[to];
    if (!file || file.bytes > smallBytes) break;
    bytes += file.bytes;
  }
  return files.slice(from, Math.max(to, from + 1));
}

/** Imports the files of a group in one transaction, as many as there is time for. Returns the result of each. */
function importSome(
  chain: WriteChain,
  group: readonly FoundFile[],
  importOne: (file: FoundFile, group?: Group) => FileResult,
  ahead: FilesAhead | undefined,
): FileResult[] {
  // Nobody else can write while a transaction waits.
  ahead?.wait(group);
  const [first, ...others] = group as [FoundFile, ...FoundFile[]];
  if (others.length === 0) return [importOne(first)];
  try {
    return chain.artifacts.transaction(() => {
      const until = chain.clock() + groupMs;
      const shared: Group = { recorder: openRecorder(chain) };
      const results = [importOne(first, shared)];
      for (const next of others) {
        if (chain.clock() >= until) break;
        results.push(importOne(next, shared));
      }
      shared.recorder.settle();
      return results;
    });
  } catch (error) {
    if (!(error instanceof GroupFailed)) throw error;
    return [importOne(first)];
  }
}

/** The files at and under the paths, and single conversations of files that paths name. */
function filesOf(paths: readonly string[]): ReturnType<typeof filesUnder> {
  const { files: holding, others } = membersNamed(paths);
  const { files, skipped } = filesUnder(others, mayHold);
  return { files: [...files, ...holding], skipped };
}

/**
 * The order of an import: the folder with the newest file first, so that recent work appears first. Inside a folder the oldest file comes first,
 * because a session can continue an earlier one of the same folder. Folders named by a date, as in Codex, count as one.
 */
export function importOrder(files: readonly FoundFile[]): FoundFile[] {
  const newest = new Map<string, number>();
  const keys = new Map(files.map((file) => [file, groupOf(file.path)]));
  const findKey = (file: FoundFile): string => keys.get(file) ?? '';
  for (const file of files) newest.set(findKey(file), Math.max(newest.get(findKey(file)) ?? 0, file.modifiedAt));
  const lastOf = (file: FoundFile): number => newest.get(findKey(file)) ?? 0;
  return files.toSorted((a, b) => lastOf(b) - lastOf(a) || compare(findKey(a), findKey(b)) || a.modifiedAt - b.modifiedAt || compare(a.path, b.path));
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** The folder, without the parts that are dates or a session's own folder of subagents. */
function groupOf(path: string): string {
  const folder = dirname(path).replace(/[\\/][^\\/]+[\\/]subagents$/, '');
  // Copilot CLI, Cline and others give each session a folder with its id: a UUID, or one that begins with the time.
  return folder.replace(/[\\/](?:[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}|\d{10,}\w*)$/i, '').replace(/([\\/]\d{1,4}){1,3}$/, '');
}
