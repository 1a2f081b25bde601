import type { Artifacts } from '../artifacts/index.js';
import type { ArtifactNo } from '../base/index.js';
import type { Chain } from '../chain/index.js';
import { importableFormats, type KnownRecords } from '../formats/index.js';
import { ioReason, readWhole } from './files.js';
import { joined, knownRecords, metaBeside } from './import.js';
import { allSources, type Piece, type SourceRow } from './sources.js';

/**
 * What imported files that are still on disk could give back: contents of objects as an import would store them. Which of
 * these is which object, and whether it is at all, says the hash alone. A file that has gone or cannot be read gives none.
 */
export function* contentsOnDisk(chain: Chain, wanted: ReadonlySet<ArtifactNo>): Generator<Uint8Array> {
  for (const source of allSources(chain)) {
    const bytes = fileOf(source);
    if (!bytes) continue;
    yield* fromPieces(chain.artifacts, source.pieces, bytes, wanted);
    yield* fromPlan(chain, source, bytes);
  }
}

function fileOf(source: SourceRow): Uint8Array | undefined {
  try {
    return readWhole(source.path);
  } catch (error) {
    ioReason(error);
    return undefined;
  }
}

/** Objects whose every byte stands in the file, by the list of pieces that the file is put together from. */
function* fromPieces(artifacts: Artifacts, pieces: readonly Piece[], bytes: Uint8Array, wanted: ReadonlySet<ArtifactNo>): Generator<Uint8Array> {
  const found = new Map<ArtifactNo, Buffer>();
  let at = 0;
  for (const { artifact, start, length } of pieces) {
    if (wanted.has(artifact)) {
      const content = found.get(artifact) ?? Buffer.alloc(artifacts.stat(artifact).size);
      content.set(bytes.subarray(at, at + length).subarray(0, Math.max(0, content.length - start)), start);
      found.set(artifact, content);
    }
    at += length;
  }
  yield* found.values();
}

/** Deltas as a plan of the file makes them, as if nothing was known before and as if everything was. */
function* fromPlan(chain: Chain, source: SourceRow, bytes: Uint8Array): Generator<Uint8Array> {
  const format = importableFormats.find(({ id }) => id === source.format);
  const nothing: KnownRecords = { has: () => false };
  for (const known of format ? [nothing, knownRecords(chain)] : []) {
    const plan = format?.plan(bytes, { path: source.path, known, resumeAt: 0, granularity: 'turn_boundary', meta: metaBeside(source.path) });
    for (const planned of plan?.commits ?? []) yield joined(bytes, [...planned.ranges, ...(planned.kept ?? [])]);
    if (plan) yield joined(bytes, plan.side);
  }
}
