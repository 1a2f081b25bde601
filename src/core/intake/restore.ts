import type { Artifacts } from '../artifacts/index.js';
import type { ArtifactNo } from '../base/index.js';
import type { Chain } from '../chain/index.js';
import { type FileBytes, importableFormats, type KnownRecords, type PlanContext } from '../formats/index.js';
import { metaBeside } from './beside.js';
import { fileOf, type OpenFile, openFile, Unreadable } from './files.js';
import { knownRecords } from './import.js';
import { memberBytes } from './members.js';
import { joined, sideObjects } from './pieces.js';
import { allSources, type Piece, type SourceRow } from './sources.js';

/**
 * What imported files that are still on disk could give back: contents of objects as an import would store them. Which of
 * these is which object, and whether it is at all, says the hash alone. A file that has gone or cannot be read gives none.
 */
export function* contentsOnDisk(chain: Chain, wanted: ReadonlySet<ArtifactNo>): Generator<Uint8Array> {
  for (const source of allSources(chain)) {
    let file: OpenFile | undefined;
    try {
      file = sourceFile(source.path);
      yield* fromPieces(chain.artifacts, source.pieces, file.bytes, wanted);
      // A database or a document is whole in one object; its conversations are sources of their own.
      if (source.tips.length > 0) yield* fromPlan(chain, source, file);
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error;
    } finally {
      file?.close();
    }
  }
}

/** The file that a source came from, or the conversation in it. @throws Unreadable */
function sourceFile(path: string): OpenFile {
  const member = memberBytes(path);
  return member ? fileOf(member) : openFile(path);
}

/** Objects whose every byte stands in the file, by the list of pieces that the file is put together from. */
function* fromPieces(artifacts: Artifacts, pieces: readonly Piece[], bytes: FileBytes, wanted: ReadonlySet<ArtifactNo>): Generator<Uint8Array> {
  const found = new Map<ArtifactNo, Buffer>();
  // Of an object whose row was lost the size is not known: it reaches as far as its pieces do.
  const sizeOf = (no: ArtifactNo): number =>
    artifacts.stat(no).size || pieces.reduce((size, { artifact, start, length }) => (artifact === no ? Math.max(size, start + length) : size), 0);
  let at = 0;
  for (const { artifact, start, length } of pieces) {
    if (wanted.has(artifact)) {
      const content = found.get(artifact) ?? Buffer.alloc(sizeOf(artifact));
      // The file may be another by now, and shorter.
      const end = Math.min(at + Math.min(length, Math.max(0, content.length - start)), bytes.length);
      if (end > at) content.set(bytes.subarray(at, end), start);
      found.set(artifact, content);
    }
    at += length;
  }
  yield* found.values();
}

/** Deltas as a plan of the file makes them, as if nothing was known before and as if everything was. */
function* fromPlan(chain: Chain, source: SourceRow, file: OpenFile): Generator<Uint8Array> {
  const format = importableFormats.find(({ id }) => id === source.format);
  const nothing: KnownRecords = { has: () => false };
  for (const known of format ? [nothing, knownRecords(chain)] : []) {
    const context: PlanContext = { path: source.path, known, resumeAt: 0, granularity: 'turn_boundary', meta: metaBeside(source.path) };
    const plan = format?.planParts?.(file.bytes, context) ?? format?.plan(file.whole(), context);
    for (const planned of plan?.commits ?? []) yield joined(file.bytes, [...planned.ranges, ...(planned.kept ?? [])]);
    for (const ranges of sideObjects(plan?.side ?? [])) yield joined(file.bytes, ranges);
  }
}
