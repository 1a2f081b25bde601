// Storing the contents of planned commits: one by one, or in the blocks that were compressed ahead.
import type { ArtifactNo, ArtifactRef } from '../base/index.js';
import { saveOutline, type WriteChain } from '../chain/index.js';
import { type FileBytes, outlined, requireFormat, type StoredOutline } from '../formats/index.js';
import type { CommitBlock, PackedOutline, StorableCommit } from './ahead.js';
import { readDelta } from './pieces.js';

/** The bytes that one transaction stores before their commits. The files of most sessions are smaller and are stored by one transaction. */
const bytesAtOnce = 4 * 1024 * 1024;
/** The bytes of compressed contents that take as long to store as one byte that is not. */
const asOneByte = 3;

/** Commits whose content is stored together: one, or those of a block. */
interface Unit {
  readonly commits: readonly StorableCommit[];
  readonly block?: CommitBlock | undefined;
}

function inUnits(commits: readonly StorableCommit[], blocks: readonly CommitBlock[] = []): Unit[] {
  const units: Unit[] = [];
  const begun = new Map(blocks.map((block) => [block.first, block]));
  for (let number = 0; number < commits.length; number += units.at(-1)?.commits.length ?? 1) {
    const block = begun.get(number);
    units.push({ commits: commits.slice(number, number + (block?.objects.length ?? 1)), block });
  }
  return units;
}

/** Divides the commits of a plan into those whose content is stored at once. `blocks` have the contents that were compressed ahead. */
export function inBatches(commits: readonly StorableCommit[], blocks: readonly CommitBlock[] | undefined): (readonly Unit[])[] {
  const batches: Unit[][] = [];
  let size = bytesAtOnce;
  for (const unit of inUnits(commits, blocks)) {
    if (size >= bytesAtOnce) {
      batches.push([]);
      size = 0;
    }
    batches.at(-1)?.push(unit);
    for (const { ranges } of unit.commits) for (const { start, end } of ranges) size += (end - start) / (unit.block ? asOneByte : 1);
  }
  return batches;
}

/** Content to store, with the outlines of its commits. */
export interface PreparedUnit extends Unit {
  readonly outlines: readonly PackedOutline[];
}

/** Reads the entries of commits. Slow, so it happens outside of a transaction. */
export const prepare = (unit: Unit): PreparedUnit => ({
  ...unit,
  outlines: unit.commits.map((planned) => planned.outline ?? outlined(planned)),
});

/** The stored content of a planned commit. */
export interface StoredContent extends Pick<StoredOutline, 'counts' | 'calls'> {
  readonly no: ArtifactNo;
  readonly ref: ArtifactRef;
}

/** Stores the bytes of commits and their outlines. */
export function putContents(chain: WriteChain, bytes: FileBytes, format: string, { commits, block, outlines }: PreparedUnit): StoredContent[] {
  const options = { contentType: requireFormat(format).contentType, bulk: true };
  const together = block && chain.artifacts.putBlock(block, options);
  return outlines.map(({ data, counts, calls }, at) => {
    const { no, ref } = together?.[at] ?? chain.artifacts.put(readDelta(bytes, commits[at] as StorableCommit), options);
    saveOutline(chain, { artifact: no, format }, data);
    return { no, ref, counts, calls };
  });
}

/** Stores the content of one commit. */
export const putContent = (chain: WriteChain, bytes: FileBytes, format: string, planned: StorableCommit): StoredContent =>
  putContents(chain, bytes, format, prepare({ commits: [planned] }))[0] as StoredContent;
