/// <reference path="./evidence-page.d.ts" />
import { createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto';
import { script } from 'virtual:evidence-page';
import {
  badRequest,
  type ContextId,
  canonicalJson,
  encodeText,
  inWords,
  type Json,
  type JsonObject,
  notFound,
  StemmaError,
  toTimestamp,
} from '../base/index.js';
import { findCommit, history, type ReadChain } from '../chain/index.js';
import type { InputOf } from '../contract/index.js';
import { openNamed, readOpened, writeNewParts } from '../files/index.js';
import { listSources, sourceContent } from '../import/index.js';
import { getRequest, listRequests } from '../requests/index.js';
import { ticketOf, ticketsOfContexts } from '../tickets/index.js';
import { computeRoot, format, manifestBytes, names, type PackManifest, sha256, signedBytes } from './manifest.js';
import { pageWith } from './page.js';
import { makeMember, type ZipMember, zipParts } from './zip.js';

/** Items and files of a pack, each once. */
interface Contents {
  readonly items: Map<string, JsonObject>;
  readonly members: Map<string, ZipMember>;
}

/**
 * Writes a pack of evidence. Contents are read twice, so that no more than one is in memory. @throws NOT_FOUND for an unknown id; BAD_REQUEST for a
 * key that cannot sign; CONFLICT if the path is taken
 */
export function packEvidence(chain: ReadChain, project: PackManifest['project'], { ids, path, key }: InputOf<'evidence.pack'>) {
  const signer = key === undefined ? undefined : readKey(key);
  const contents: Contents = { items: new Map(), members: new Map() };
  for (const id of ids) {
    if (id.startsWith('ctx-')) addCommit(chain, contents, id as ContextId);
    else if (id.startsWith('tkt-')) addTicket(chain, contents, id);
    else addSourceOrRequest(chain, contents, id);
  }
  const page = encodeText(pageWith(script));
  contents.members.set(names.page, makeMember(names.page, page));
  contents.items.set(names.page, { kind: 'page', path: names.page, sha256: sha256(page), size: page.length });
  const facts = { format, createdAt: toTimestamp(chain.clock()), project, items: [...contents.items.values()] };
  const root = computeRoot(facts);
  const manifest = manifestBytes({ ...facts, root });
  const members = [
    makeMember(names.manifest, manifest),
    ...(signer ? [makeMember(names.signature, encodeText(canonicalJson(signatureOf(signer, root))))] : []),
    ...contents.members.values(),
  ];
  let bytes = 0;
  const counted = function* (): Generator<Uint8Array> {
    for (const part of zipParts(members)) {
      bytes += part.length;
      yield part;
    }
  };
  writeNewParts(path, counted());
  return { path, bytes, digest: root, items: facts.items.length, signed: signer !== undefined };
}

function addSourceOrRequest(chain: ReadChain, contents: Contents, id: string): void {
  const source = listSources(chain).find(({ sourceId }) => sourceId === id);
  if (source) {
    const path = addObject(contents, source.hash, 'application/octet-stream', () => sourceContent(chain, id));
    contents.items.set(`source ${id}`, { kind: 'source', sourceId: id, name: source.path, format: source.format, ref: source.hash, path });
    return;
  }
  try {
    addRequest(chain, contents, id);
  } catch (error) {
    if (error instanceof StemmaError && (error.code === 'NOT_FOUND' || error.code === 'BAD_REQUEST'))
      throw notFound(id, `This project has no commit, call, ticket or source ${inWords(id)}.`, { field: 'ids' });
    throw error;
  }
}

/** A commit with the commits before it, its calls and its tickets. */
function addCommit(chain: ReadChain, contents: Contents, name: ContextId): void {
  const tip = findCommit(chain, name, 'ids');
  for (const commit of history(chain, tip.id).reverse()) {
    const row = findCommit(chain, commit.id, 'ids');
    const path = addObject(contents, commit.artifactRef, chain.artifacts.stat(row.artifact).contentType, () => chain.artifacts.read(row.artifact));
    contents.items.set(`commit ${commit.id}`, { kind: 'commit', path, ...(commit as unknown as JsonObject) });
  }
  for (const { requestId } of listRequests(chain, { turnId: tip.id })) addRequest(chain, contents, requestId);
  for (const { ticketId } of ticketsOfContexts(chain, { ids: [tip.id] })) addTicket(chain, contents, ticketId);
}

function addRequest(chain: ReadChain, contents: Contents, requestId: string): void {
  if (contents.items.has(`request ${requestId}`)) return;
  const { body, ...request } = getRequest(chain, requestId);
  const bytes = encodeText(canonicalJson(body as Json));
  const digest = sha256(bytes);
  const path = `requests/${digest}.json`;
  contents.members.set(path, makeMember(path, bytes));
  const item = { kind: 'request', requestId, path, sha256: digest, size: bytes.length };
  contents.items.set(`request ${requestId}`, { ...item, ...(request as unknown as JsonObject) });
}

function addTicket(chain: ReadChain, contents: Contents, ticketId: string): void {
  contents.items.set(`ticket ${ticketId}`, { kind: 'ticket', ticket: JSON.parse(JSON.stringify(ticketOf(chain, ticketId))) as JsonObject });
}

/** The file of an object, which is named by its hash. */
function addObject(contents: Contents, ref: string, contentType: string, read: () => Uint8Array): string {
  const path = `objects/${ref.slice('blake3:'.length)}`;
  if (contents.members.has(path)) return path;
  const bytes = read();
  contents.members.set(path, makeMember(path, bytes, bytes.length < keptBytes ? () => bytes : read));
  contents.items.set(path, { kind: 'object', path, ref, sha256: sha256(bytes), size: bytes.length, contentType });
  return path;
}

/** Larger objects are read again when they are written. */
const keptBytes = 64 * 1024;

const signatureOf = (key: KeyObject, root: string): JsonObject => ({
  algorithm: 'Ed25519',
  publicKey: createPublicKey(key).export({ format: 'der', type: 'spki' }).toString('base64'),
  signature: sign(null, signedBytes(root), key).toString('base64'),
});

/** The private key in a PEM, or in the file of that path. @throws BAD_REQUEST */
function readKey(given: string): KeyObject {
  const pem = given.includes('-----BEGIN') ? given : pemAt(given);
  let key: KeyObject;
  try {
    key = createPrivateKey(pem);
  } catch {
    throw badRequest('key', 'The key is no private key in PEM. `openssl genpkey -algorithm ed25519` makes one.');
  }
  if (key.asymmetricKeyType !== 'ed25519') throw badRequest('key', `The key is of the type ${key.asymmetricKeyType}. Packs are signed with Ed25519.`);
  return key;
}

const maxKeyBytes = 64 * 1024;

function pemAt(path: string): string {
  try {
    return readOpened(openNamed(path, { limit: maxKeyBytes })).toString('utf8');
  } catch {
    throw badRequest('key', `Cannot read the key ${inWords(path)}: give a private key in PEM, or the path of a file with one.`);
  }
}
