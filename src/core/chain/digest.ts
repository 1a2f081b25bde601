import { sha256Of } from '../artifacts/index.js';
import { type ArtifactRef, type ContextId, timestampOf } from '../base/index.js';

/** C1: the digest that identifies a commit across projects. */
export const digestOf = (commit: { parent: ContextId | null; ref: ArtifactRef; createdAt: number; template: string }): Buffer =>
  sha256Of([commit.parent ?? '', commit.ref, timestampOf(commit.createdAt), commit.template].join('\0'));
