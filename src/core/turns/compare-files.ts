// The files that two branches left behind, as their conversations knew them.
import type { ContextId } from '../base/index.js';
import { findCommit, type ReadChain } from '../chain/index.js';
import type { ComparedFile, KnownFile } from '../contract/index.js';
import type { Knowledge } from './files.js';
import { recordingOf } from './recording.js';

/**
 * The files that a call of either branch wrote or changed and that end differently: with other content, on one side only, or with unknown content. Files
 * that neither branch touched since they parted are equal. @throws NOT_FOUND
 */
export function compareFiles(chain: ReadChain, { a, b }: { a: ContextId; b: ContextId }): ComparedFile[] {
  const [left, right] = [a, b].map((id) => filesAt(chain, id)) as [Files, Files];
  const paths = [...new Set([...left.last.keys(), ...right.last.keys()])];
  return paths.flatMap((path): ComparedFile[] => {
    // The same last touch is the same file on both sides.
    if (left.last.get(path) === right.last.get(path)) return [];
    const [before, after] = [left.file(path), right.file(path)];
    const isTouched = [before, after].some((file) => file?.touches.some(({ how }) => how !== 'read'));
    const isSame = before?.content != null && before.content === after?.content;
    if (!isTouched || isSame) return [];
    return [{ path, a: knowledgeOf(before), b: knowledgeOf(after) }];
  });
}

const knowledgeOf = (file: KnownFile | undefined): Knowledge | null => (file ? { known: file.known, content: file.content } : null);

interface Files {
  /** The entry of the last touch, by path. */
  readonly last: ReadonlyMap<string, string>;
  file(path: string): KnownFile | undefined;
}

function filesAt(chain: ReadChain, id: ContextId): Files {
  const recording = recordingOf(chain, findCommit(chain, id));
  const { length } = recording;
  const last = new Map(recording.stateAfter(length).files.map((file) => [file.path, file.last.key as string]));
  return { last, file: (path) => (last.has(path) ? recording.fileAfter(length, path) : undefined) };
}
