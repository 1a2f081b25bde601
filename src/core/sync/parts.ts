import { blake3Of, type Put } from '../artifacts/index.js';
import { type ArtifactNo, type ArtifactRef, attempt, corrupt } from '../base/index.js';
import type { ReadChain, WriteChain } from '../chain/index.js';
import type { Hub, ObjectFacts } from './hub.js';
import { packParcel, unpackObjects } from './parcel.js';

/** The content type of an object that is a part of another one. */
const partType = 'application/vnd.stemma.part';
/** How long parts of an incomplete object are kept, so that an interrupted pull can continue with the next part. */
const partSeconds = 24 * 60 * 60;

/** Sends an object that is too large for one parcel. Parts that the hub holds are not sent again. Returns the number of bytes sent. */
export async function sendInParts({ artifacts }: ReadChain, hub: Hub, no: ArtifactNo, size: number): Promise<number> {
  const { ref, size: whole, contentType } = artifacts.stat(no);
  const parts: string[] = [];
  let sent = 0;
  for (const bytes of inSizes(artifacts.readParts(no), size)) {
    const hash = blake3Of(bytes).toString('hex');
    parts.push(hash);
    if ((await hub.lack([], [hash])).objects.length === 0) continue;
    const parcel = packParcel({ items: [], objects: [{ hash, contentType: partType, bytes }] });
    await hub.send(parcel);
    sent += parcel.length;
  }
  await hub.join({ hash: ref.slice('blake3:'.length), contentType, size: whole, parts });
  return sent;
}

/** Splits the bytes into parts of one size. Only the last part may be smaller. */
function* inSizes(parts: Iterable<Uint8Array>, size: number): Generator<Uint8Array> {
  let waiting: Uint8Array[] = [];
  let length = 0;
  for (const part of parts)
    for (let at = 0; at < part.length; ) {
      const taken = part.subarray(at, at + size - length);
      waiting.push(taken);
      length += taken.length;
      at += taken.length;
      if (length < size) continue;
      yield Buffer.concat(waiting);
      waiting = [];
      length = 0;
    }
  if (length > 0) yield Buffer.concat(waiting);
}

/** Fetches and stores an object in parts, one in memory at a time; stored parts are not fetched again. @throws CORRUPT if they do not match. */
export async function fetchInParts({ artifacts }: WriteChain, hub: Hub, ref: ArtifactRef, { parts = [], contentType }: ObjectFacts): Promise<Put> {
  const nos: ArtifactNo[] = [];
  for (const part of parts) nos.push(heldAt(artifacts, part) ?? (await fetchPart(artifacts, hub, ref, part)));
  const bytesOf = function* () {
    for (const no of nos) yield artifacts.read(no);
  };
  const put = artifacts.putInParts(ref, bytesOf(), { contentType, bulk: true });
  // Parts that were stored for this object only are no longer needed.
  for (const no of new Set(nos)) if (artifacts.stat(no).policy === 'ephemeral') artifacts.setPolicy(no, 'ephemeral', 1);
  return put;
}

async function fetchPart(artifacts: WriteChain['artifacts'], hub: Hub, ref: ArtifactRef, part: string): Promise<ArtifactNo> {
  const bytes = unpackObjects(await hub.objects([part])).find(({ hash }) => hash === part)?.bytes;
  if (!bytes) throw corrupt(ref, `The hub does not return a part of ${ref}.`);
  return artifacts.put(bytes, { contentType: partType, policy: 'ephemeral', ttlSeconds: partSeconds, bulk: true }).no;
}

const heldAt = (artifacts: ReadChain['artifacts'], hash: string): ArtifactNo | undefined =>
  attempt(() => {
    const no = artifacts.find(`blake3:${hash}`);
    artifacts.read(no);
    return no;
  });
