import { unavailable } from '../base/index.js';
import type { ReadChain, WriteChain } from '../chain/index.js';
import type { OutputOf } from '../contract/index.js';
import { type Hub, inGroups, itemsAtOnce, objectsAtOnce, partBytes, type RefusedItem } from './hub.js';
import { type Known, openKnown } from './known.js';
import { packParcel, type SentObject } from './parcel.js';
import { sendInParts } from './parts.js';
import { isEmpty, objectsOf, openRows, type Rows, type SentItem } from './rows.js';
import { rules } from './rules.js';
import { type Selected, withoutFreed } from './select.js';

/** The filter of the items to push. Undefined means all items. */
export type Leaves = Selected | undefined;

/** The items and objects that a push sent, or would send. `bytes` is the size of the unpacked objects, `sent` the number of bytes sent. */
export type Pushed = Pick<OutputOf<'team.push'>, 'items' | 'objects' | 'bytes' | 'sent' | 'refused'>;

interface Waiting {
  readonly item: SentItem;
  readonly row: number | undefined;
}

/** The items that the hub may lack, ordered so that an item follows those that it refers to. */
function* waitingItems(rows: Rows, known: Known, leaves: Leaves): Generator<Waiting> {
  for (const rule of rules)
    for (const row of rows.each(rule, (key) => known.digest(rule.kind, key) !== undefined)) {
      const item = rows.item(rule, row);
      const held = known.digest(item.kind, item.key);
      if (held === item.digest || isEmpty(rule, item, held) || (leaves && !leaves(item))) continue;
      const { number } = rows.shape(rule);
      yield { item, row: number === undefined ? undefined : (row[number] as number) };
    }
}

/** The items that a push would send, and the last number read from the hub's list. Does not contact the hub. */
export function previewPush(chain: WriteChain, hubId: string, leaves?: Leaves): Pushed & { readonly pulled: number } {
  const rows = openRows(chain);
  const known = openKnown(chain, hubId);
  const items: Record<string, number> = {};
  const objects = new Map<string, number>();
  for (const { item } of waitingItems(rows, known, withoutFreed(chain, known, leaves))) {
    items[item.kind] = (items[item.kind] ?? 0) + 1;
    for (const hash of objectsOf(item)) if (!objects.has(hash)) objects.set(hash, sizeAt(chain, hash));
  }
  return { items, objects: objects.size, bytes: [...objects.values()].reduce((a, b) => a + b, 0), sent: 0, refused: [], pulled: known.pulled() };
}

/** The number of items in the hub's list that this project has not read. `seq` is the number of the newest item. */
export const itemsToPull = (chain: WriteChain, hubId: string, seq: number): number => Math.max(0, seq - openKnown(chain, hubId).pulled());

const sizeAt = ({ artifacts }: ReadChain, hash: string): number => artifacts.stat(artifacts.find(`blake3:${hash}`)).size;

interface PushOptions {
  readonly leaves?: Leaves;
  /** Objects with more bytes are sent in parts of this size. */
  readonly partSize?: number;
}

/**
 * Sends the items and objects that the hub lacks, objects before the items that need them. After an interruption, the next push continues
 * where this one stopped, because sent items stay on the hub. Items that the hub refuses stop no others; the next push sends them again.
 * @throws the errors of the hub; CORRUPT if an object does not match its hash.
 */
export async function push(chain: WriteChain, hub: Hub, { leaves, partSize = partBytes }: PushOptions = {}): Promise<Pushed> {
  const { id, ...found } = await hub.hello();
  const known = openKnown(chain, id);
  known.meet(found);
  const rows = openRows(chain);
  const total = { items: {} as Record<string, number>, objects: 0, bytes: 0, sent: 0 };
  /** The items that the hub refused, by kind and key. */
  const refused = new Map<string, RefusedItem>();

  const sendParcel = async (objects: readonly SentObject[], items: readonly SentItem[]): Promise<void> => {
    const parcel = packParcel({ objects, items });
    const answer = await hub.send(parcel);
    for (const each of answer.refused ?? []) refused.set(itemName(each), each);
    // If no other client has sent items, a pull does not have to read these items.
    if (known.pulled() + answer.stored === answer.seq) known.setPulled(answer.seq);
    total.sent += parcel.length;
    total.objects += objects.length;
    for (const { bytes } of objects) total.bytes += bytes.length;
  };

  /** Sends a batch of items with the objects that the hub lacks. */
  const sendBatch = async (batch: readonly Waiting[]): Promise<void> => {
    const names = batch.map(({ item }) => [item.kind, item.key, item.digest] as const);
    const items = namedBy(batch, (await hub.lack(names, [])).items).map(({ item }) => item);
    const lacked = await lackedBy(hub, [...new Set(batch.flatMap(({ item }) => objectsOf(item)))]);
    const all = lacked.map((hash) => ({ hash, size: sizeAt(chain, hash) }));
    for (const { hash, size } of all.filter((each) => each.size > partSize)) {
      total.sent += await sendInParts(chain, hub, chain.artifacts.find(`blake3:${hash}`), partSize);
      total.objects += 1;
      total.bytes += size;
    }
    for (const item of items) refused.delete(itemName(item));
    // The items are sent with the last group of their objects, so that the hub holds no item without its objects.
    const missing = all.filter(({ size }) => size <= partSize);
    const groups = [...inGroups(missing, ({ size }) => size)];
    if (groups.length === 0 && items.length > 0) groups.push([]);
    for (const [i, group] of groups.entries()) await sendParcel(readObjects(chain, group), i === groups.length - 1 ? items : []);
    for (const item of items) if (!refused.has(itemName(item))) total.items[item.kind] = (total.items[item.kind] ?? 0) + 1;
    chain.db.transaction(() => {
      for (const { item, row } of batch) if (!refused.has(itemName(item))) known.note(item, row);
    });
  };

  // An item may refer to a later one. It is refused in the first round and accepted in the second.
  for (let round = 1; round <= 2; round++) {
    const before = refused.size;
    const waiting = waitingItems(rows, known, withoutFreed(chain, known, leaves));
    for (const batch of inGroups(waiting, ({ item }) => JSON.stringify(item.body).length, itemsAtOnce)) await sendBatch(batch);
    if (refused.size === before) break;
  }
  return { ...total, refused: [...refused.values()] };
}

const itemName = ({ kind, key }: Pick<SentItem, 'kind' | 'key'>): string => `${kind} ${key}`;

/** What a hub names by its places in a list, each once. @throws UNAVAILABLE for a place that the list does not have */
function namedBy<T>(asked: readonly T[], places: readonly number[]): T[] {
  const outside = places.find((place) => !(Number.isSafeInteger(place) && place >= 0 && place < asked.length));
  if (outside !== undefined)
    throw unavailable(`The hub was asked about ${asked.length} things, and answers about number ${outside}.`, { reason: 'bad answer' });
  return [...new Set(places)].map((place) => asked[place] as T);
}

/** The objects that the hub lacks. A large file consists of more objects than one call may name. */
async function lackedBy(hub: Hub, hashes: readonly string[]): Promise<string[]> {
  const lacked: string[] = [];
  for (let at = 0; at < hashes.length; at += objectsAtOnce) {
    const asked = hashes.slice(at, at + objectsAtOnce);
    lacked.push(...namedBy(asked, (await hub.lack([], asked)).objects));
  }
  return lacked;
}

const readObjects = ({ artifacts }: ReadChain, group: readonly { readonly hash: string }[]): SentObject[] => {
  const nos = group.map(({ hash }) => artifacts.find(`blake3:${hash}`));
  return artifacts.readAll(nos).map((bytes, i) => ({
    hash: group[i]?.hash as string,
    contentType: artifacts.stat(nos[i] as (typeof nos)[number]).contentType,
    bytes,
  }));
};
