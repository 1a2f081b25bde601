import { blake3Of } from '../artifacts/index.js';
import { type ArtifactNo, corrupt, type JsonObject } from '../base/index.js';
import type { Chain } from '../chain/index.js';
import type { Hub } from './hub.js';
import { packParcel, unpackParcel } from './parcel.js';

/** The type of an object that is a part of another one. */
const partType = 'application/vnd.stemma.part';

/** Sends an object that is too large for one parcel. Parts that the hub holds are not sent again. Returns the bytes that went over the wire. */
export async function sendInParts({ artifacts }: Chain, hub: Hub, no: ArtifactNo, size: number): Promise<number> {
  const { ref, size: whole, contentType } = artifacts.stat(no);
  const parts: string[] = [];
  let sent = 0;
  for (let at = 0; at < whole; at += size) {
    const bytes = artifacts.readRange(no, at, Math.min(whole, at + size));
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

/** Reads an object in parts. @throws CORRUPT if the hub does not return it as it was sent. */
export async function readInParts(hub: Hub, hash: string, parts: readonly string[]): Promise<Uint8Array> {
  const found: Uint8Array[] = [];
  for (const part of parts) {
    const { objects } = unpackParcel(await hub.objects([part]), noItems);
    const bytes = objects.find((object) => object.hash === part)?.bytes;
    if (!bytes) throw corrupt(hash, `The hub does not return a part of ${hash}.`);
    found.push(bytes);
  }
  const whole = Buffer.concat(found);
  if (blake3Of(whole).toString('hex') !== hash) throw corrupt(hash, `The parts that the hub returns are not ${hash}.`);
  return whole;
}

const noItems = (kind: string, _: JsonObject): string => kind;
