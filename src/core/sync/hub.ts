import type { Timestamp } from '../base/index.js';
import type { InputOf, OutputOf } from '../contract/index.js';

/** What a hub says of its project. */
export interface Greeting {
  readonly id: string;
  readonly seq: number;
  readonly database?: number | undefined;
}

/** The connection to a hub's project. Calls throw UNAVAILABLE if the hub does not answer, UNAUTHORIZED if the token does not allow the call. */
export interface Hub {
  /** The id of the hub's project, the number of its newest item, and a number for its database, which changes with a restore into a new database. */
  hello(): Promise<Greeting>;
  /** The indexes, in both lists, of items and objects that the hub does not hold. */
  lack(
    items: readonly (readonly [kind: string, key: string, digest: string])[],
    objects: readonly string[],
  ): Promise<Readonly<Record<'items' | 'objects', readonly number[]>>>;
  /** Stores a parcel in one transaction: returns its newest number, the count of new items, and the refused ones (an older hub refuses all). */
  send(parcel: Uint8Array): Promise<{ readonly seq: number; readonly stored: number; readonly refused?: readonly RefusedItem[] | undefined }>;
  /** The items after a number, in the order in which they arrived, as a packed parcel without objects. */
  items(after: number): Promise<{ readonly seq: number; readonly isLast: boolean; readonly parcel: Uint8Array }>;
  /** Objects by their hashes, as a packed parcel. It may contain only some of them: request the rest again. */
  objects(hashes: readonly string[]): Promise<Uint8Array>;
  /** The hub's outlines of contents and its parser's version; null for a content that it lacks. It can send objects along, packed. */
  outlines(
    contents: readonly (readonly [hash: string, format: string])[],
    objects?: readonly string[],
  ): Promise<{ readonly version: number; readonly outlines: readonly (string | null)[]; readonly objects?: Uint8Array | undefined }>;
  /** Joins parts that the hub holds into one object. @throws BAD_REQUEST if they do not match the object's hash. */
  join(object: WholeObject): Promise<void>;
  /** Facts about objects, without their content. Null for an object that the hub never held. */
  about(hashes: readonly string[]): Promise<readonly (ObjectFacts | null)[]>;
}

/** An item that the other side did not store, with the reason. */
export type RefusedItem = Readonly<Record<'kind' | 'key' | 'reason', string>>;

export interface ObjectFacts {
  readonly size: number;
  readonly contentType: string;
  /** Retention removed the content. */
  readonly isExpired: boolean;
  /** The hashes of its parts, if it is too large for one parcel. */
  readonly parts?: readonly string[] | undefined;
}

/** An object whose parts the hub holds. */
export interface WholeObject {
  readonly hash: string;
  readonly contentType: string;
  readonly size: number;
  readonly parts: readonly string[];
}

/** An object with more bytes is sent in parts of this size. */
export const partBytes = 32 * 1024 * 1024;

/** Maximum bytes of objects in one parcel, unless a single object has more. */
const bytesAtOnce = 8 * 1024 * 1024;
/** Maximum number of items in one call. */
export const itemsAtOnce = 2_000;

/** Maximum number of objects in one call. */
export const objectsAtOnce = 10_000;

/** Groups things so that no group has more than `bytesAtOnce`, unless it is one thing, or more things than one call may have. */
export function* inGroups<T>(all: Iterable<T>, sizeOf: (one: T) => number, most = objectsAtOnce): Generator<T[]> {
  let group: T[] = [];
  let bytes = 0;
  for (const one of all) {
    const size = sizeOf(one);
    if (group.length >= most || (group.length > 0 && bytes + size > bytesAtOnce)) {
      yield group;
      [group, bytes] = [[], 0];
    }
    group.push(one);
    bytes += size;
  }
  if (group.length > 0) yield group;
}

/** A pending sign-in at the issuer of a hub. The person completes it in any browser. */
export interface PendingSignIn {
  readonly issuer: string;
  /** The page where the person enters the code. */
  readonly address: string;
  readonly code: string;
  /** Resolves when the person has entered the code. @throws UNAUTHORIZED if the issuer refuses it, or if it is not entered in time. */
  entered(signal?: AbortSignal): Promise<void>;
}

/** The rights of a token. `pusher` is for machines: it may send items but read nothing. */
export type HubRole = 'reader' | 'reviewer' | 'writer' | 'admin' | 'pusher';

export interface ManagedHub extends Hub {
  /** `people`: the others who are connected now. */
  hello(): Promise<
    Greeting & {
      readonly role: HubRole;
      readonly name: string;
      readonly retention: number | null;
      readonly people: readonly string[];
    }
  >;
  /** Creates the project if it does not exist. */
  create(): Promise<void>;
  /** Sets how many days contents stay after their arrival; null means forever. */
  retain(days: number | null): Promise<void>;
  members(): Promise<OutputOf<'team.members'>>;
  invite(input: InputOf<'team.invite'>): Promise<{ id: number; token: string | null }>;
  /** Makes a link to a commit that the hub holds, or to its comparison with another one. Both are named by digest. @throws NOT_FOUND if the hub does not hold it. */
  share(input: {
    readonly commit: string;
    readonly against?: string | undefined;
    readonly name: string;
    readonly role: 'reader' | 'reviewer';
    readonly expiresAt?: Timestamp | undefined;
  }): Promise<{ id: number; token: string }>;
  /** Ends a token or link with everything that its holder made, except what to keep. Returns what ended with it. */
  revoke(id: number, keep?: readonly number[]): Promise<OutputOf<'team.revoke'>>;
  /** The newest lines of the audit log, or those before the one with a number. */
  audit(page: InputOf<'team.audit'>): Promise<OutputOf<'team.audit'>>;
}
