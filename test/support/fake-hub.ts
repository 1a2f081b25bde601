import { blake3Of } from '../../src/core/artifacts/index.js';
import type { JsonObject } from '../../src/core/base/index.js';
import { type Hub, itemKey, packParcel, type Sender, type SentItem, type SentObject, unpackParcel } from '../../src/core/sync/index.js';

/** A hub in memory that stores and returns whatever it is given, so that a test can play a hostile hub or member. */
export interface FakeHub extends Hub {
  /** The items in the order in which they arrived. */
  readonly list: SentItem[];
  readonly stored: Map<string, SentObject>;
  /** The name of the sender of what is sent from now on. */
  sender: Sender | undefined;
  /** Adds an item as it is, without any check. */
  add(kind: string, body: JsonObject, sender?: Sender): void;
  /** Stores an object and returns its hash. */
  object(text: string, contentType?: string): string;
}

const itemsAtOnce = 5_000;

/** Makes a hub in memory. `changed` replaces some of its calls. */
export function fakeHub(changed: Partial<Hub> = {}): FakeHub {
  const list: SentItem[] = [];
  const stored = new Map<string, SentObject>();
  const newest = (): Map<string, string> => new Map(list.map(({ kind, key, digest }) => [`${kind} ${key}`, digest]));
  return {
    list,
    stored,
    sender: { name: 'ann', isLink: false },
    add: (kind, body, sender) => list.push({ kind, key: itemKey(kind, body), digest: '', body, sender }) as never,
    object: (text, contentType = 'text/plain') => {
      const bytes = Buffer.from(text);
      const hash = blake3Of(bytes).toString('hex');
      stored.set(hash, { hash, contentType, bytes });
      return hash;
    },
    hello: async () => ({ id: 'fake', seq: list.length }),
    lack: async (items, objects) => {
      const known = newest();
      return {
        items: items.flatMap(([kind, key, digest], i) => (known.get(`${kind} ${key}`) === digest ? [] : [i])),
        objects: objects.flatMap((hash, i) => (stored.has(hash) ? [] : [i])),
      };
    },
    async send(parcel) {
      const { items, objects } = unpackParcel(parcel, itemKey);
      for (const object of objects) stored.set(object.hash, { ...object, bytes: Buffer.from(object.bytes) });
      for (const item of items) list.push({ ...item, sender: this.sender });
      return { seq: list.length, stored: items.length };
    },
    items: async (after) => {
      const items = list.slice(after, after + itemsAtOnce);
      return { seq: after + items.length, isLast: after + items.length === list.length, parcel: packParcel({ items, objects: [] }) };
    },
    objects: async (hashes) => packParcel({ items: [], objects: hashes.flatMap((hash) => stored.get(hash) ?? []) }),
    outlines: async (contents) => ({ version: 0, outlines: contents.map(() => null) }),
    join: async () => {},
    about: async (hashes) =>
      hashes.map((hash) => {
        const object = stored.get(hash);
        return object ? { size: object.bytes.length, contentType: object.contentType, isExpired: false } : null;
      }),
    ...changed,
  };
}
