import { sha256Of } from '../artifacts/index.js';
import { canonicalJson, encodeText, type Json, type JsonObject } from '../base/index.js';

/** The name of the format. A reader refuses any other. */
export const format = 'stemma-evidence-v1';
/** The files of a pack beside its objects. */
export const names = { manifest: 'manifest.json', signature: 'signature.json', page: 'verify.html' } as const;

/** What a pack contains: facts about it, and its items. Both are leaves of the tree. */
export interface PackManifest {
  readonly format: string;
  readonly createdAt: string;
  readonly project: { readonly projectId: string; readonly name: string };
  readonly items: readonly JsonObject[];
  /** The Merkle root over the facts and the items. */
  readonly root: string;
}

const joined = (prefix: number, ...parts: readonly Uint8Array[]): Buffer => sha256Of(Buffer.concat([Uint8Array.of(prefix), ...parts]));

/** The root of a Merkle tree as RFC 6962 defines it: leaves and nodes are hashed with different first bytes. */
function merkleRoot(leaves: readonly Uint8Array[]): Buffer {
  const [only] = leaves;
  if (!only) return sha256Of('');
  if (leaves.length === 1) return joined(0, only);
  let half = 1;
  while (half * 2 < leaves.length) half *= 2;
  return joined(1, merkleRoot(leaves.slice(0, half)), merkleRoot(leaves.slice(half)));
}

/** The root of a manifest: the first leaf is the manifest without items and root, and each further leaf is an item, as canonical JSON (RFC 8785). */
export function computeRoot({ items, root: _, ...facts }: Pick<PackManifest, 'items'> & Partial<PackManifest>): string {
  return merkleRoot([facts as JsonObject, ...items].map((leaf) => encodeText(canonicalJson(leaf)))).toString('hex');
}

/** The bytes of a manifest: canonical JSON. */
export const manifestBytes = (manifest: PackManifest): Uint8Array => encodeText(canonicalJson(manifest as unknown as Json));

/** What a signature signs: the name of the format and the root. */
export const signedBytes = (root: string): Uint8Array => encodeText(`${format}\n${root}`);

/** SHA-256 in lower-case hex. */
export const sha256 = (bytes: Uint8Array): string => sha256Of(bytes).toString('hex');
