import { createPublicKey, verify as verifySignature } from 'node:crypto';
import { refOf, sha256Of } from '../artifacts/index.js';
import {
  attempt,
  badRequest,
  canonicalJson,
  decodeText,
  encodeText,
  inWords,
  isObject,
  type Json,
  type JsonObject,
  parseInstant,
  parseJson,
  StemmaError,
  stringAt,
  toTimestamp,
} from '../base/index.js';
import type { Verified } from '../contract/index.js';
import { openNamed, readOpened } from '../files/index.js';
import { computeRoot, format, names, sha256, signedBytes } from './manifest.js';
import { readZip } from './zip.js';

/** A pack is read as a whole. */
const maxBytes = 4 * 1024 ** 3 - 1;

/** Checks the pack in a file. @throws BAD_REQUEST if it cannot be read */
export function verifyFile(path: string): Verified {
  let file: Uint8Array;
  try {
    file = readOpened(openNamed(path, { limit: maxBytes }));
  } catch (error) {
    throw badRequest('path', `Cannot read ${path}: ${(error as Error).message}`);
  }
  return verifyPack(file);
}

type Problems = Verified['problems'];

/** Checks a pack: the file, the manifest and its root, every object, commit and request, and the signature. It changes nothing. */
export function verifyPack(file: Uint8Array): Verified {
  const problems: Problems = [];
  const nothing = { ok: false, digest: null, signature: null, createdAt: null, items: [], problems };
  let files: ReadonlyMap<string, Uint8Array>;
  try {
    files = readZip(file);
  } catch (error) {
    if (!(error instanceof StemmaError)) throw error;
    problems.push({ path: '', message: error.message });
    return nothing;
  }
  for (const name of files.keys())
    if (!ownNames.test(name)) problems.push({ path: name, message: `The path ${inWords(name)} does not belong in a pack.` });
  const manifest = manifestIn(files, problems);
  if (!manifest) return nothing;
  const items = (Array.isArray(manifest.items) ? manifest.items : []).filter((item): item is JsonObject => isObject(item));
  const digest = computeRoot({ ...manifest, items });
  if (digest !== manifest.root || !Array.isArray(manifest.items) || items.length !== manifest.items.length)
    problems.push({ path: names.manifest, message: 'The manifest does not match its Merkle root.' });
  const refs = new Set(items.filter(({ kind }) => kind === 'object').map(({ ref }) => ref));
  const named = new Set(items.map(({ path }) => path));
  for (const name of files.keys())
    if (!named.has(name) && name !== names.manifest && name !== names.signature)
      problems.push({ path: name, message: 'The file is not in the manifest.' });
  for (const item of items) checkItem(item, files, refs, problems);
  const signature = signatureIn(files, digest, problems);
  const at = parseInstant(stringAt(manifest, 'createdAt') ?? '');
  return {
    ok: problems.length === 0,
    digest,
    signature,
    createdAt: at === undefined ? null : toTimestamp(at),
    items: [...Map.groupBy(items, ({ kind }) => String(kind))].map(([kind, of]) => ({ kind, count: of.length })),
    problems,
  };
}

const ownNames = /^(manifest\.json|signature\.json|verify\.html|objects\/[0-9a-f]{64}|requests\/[0-9a-f]{64}\.json)$/;

/** A JSON document of the pack. It must be canonical. */
function documentIn(files: ReadonlyMap<string, Uint8Array>, name: string, problems: Problems): JsonObject | undefined {
  const bytes = files.get(name);
  const value = bytes && parseJson(decodeText(bytes));
  if (!bytes || !isObject(value)) {
    problems.push({ path: name, message: bytes ? 'The file is no JSON object.' : 'The pack has no such file.' });
    return undefined;
  }
  if (!Buffer.from(encodeText(canonicalJson(value))).equals(bytes))
    problems.push({ path: name, message: 'The file is not canonical JSON (RFC 8785).' });
  return value;
}

function manifestIn(files: ReadonlyMap<string, Uint8Array>, problems: Problems): JsonObject | undefined {
  const manifest = documentIn(files, names.manifest, problems);
  if (!manifest || manifest.format === format) return manifest;
  problems.push({ path: names.manifest, message: `The pack has the format ${inWords(manifest.format)}. This Stemma knows ${format}.` });
  return undefined;
}

function checkItem(item: JsonObject, files: ReadonlyMap<string, Uint8Array>, refs: ReadonlySet<Json | undefined>, problems: Problems): void {
  const problem = (path: Json | undefined, message: string): void => void problems.push({ path: String(path), message });
  const bytes = files.get(String(item.path));
  if (item.sha256 !== undefined) {
    if (!bytes) problem(item.path, 'The file is in the manifest and not in the pack.');
    else if (bytes.length !== item.size || sha256(bytes) !== item.sha256) problem(item.path, 'The file does not match its SHA-256 and size.');
  }
  switch (item.kind) {
    case 'object':
      if (bytes && (refOf(bytes) !== item.ref || item.path !== `objects/${String(item.ref).slice('blake3:'.length)}`))
        problem(item.path, 'The file does not match its BLAKE3 ref.');
      return;
    case 'commit': {
      const digest = sha256Of([item.parent ?? '', item.artifactRef, item.createdAt, item.template].join('\0')).toString('hex');
      const id = String(item.id);
      if (id.length < 12 || id !== `ctx-${digest.slice(0, id.length - 'ctx-'.length)}`)
        problem(id, 'The id does not follow from parent, object, time and template.');
      if (!refs.has(item.artifactRef)) problem(id, 'The commit names an object that is not in the pack.');
      return;
    }
    case 'request':
      if (item.proof === 'digest' && item.digest !== item.recordedDigest)
        problem(item.requestId, 'The call claims a digest that differs from the recorded one.');
  }
}

function signatureIn(files: ReadonlyMap<string, Uint8Array>, root: string, problems: Problems): Verified['signature'] {
  if (!files.has(names.signature)) return null;
  const found = documentIn(files, names.signature, problems);
  if (!found) return null;
  const publicKey = stringAt(found, 'publicKey') ?? '';
  const valid = holds(publicKey, stringAt(found, 'signature') ?? '', root) && found.algorithm === 'Ed25519' && Object.keys(found).length === 3;
  if (!valid) problems.push({ path: names.signature, message: 'The signature does not hold for this manifest.' });
  return { publicKey, valid };
}

function holds(publicKey: string, signature: string, root: string): boolean {
  const der = Buffer.from(publicKey, 'base64');
  const signed = Buffer.from(signature, 'base64');
  if (der.toString('base64') !== publicKey || signed.toString('base64') !== signature) return false;
  const key = attempt(() => createPublicKey({ key: der, format: 'der', type: 'spki' }));
  return key?.asymmetricKeyType === 'ed25519' && verifySignature(null, signedBytes(root), key, signed);
}
