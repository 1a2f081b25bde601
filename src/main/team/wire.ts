import { oc } from '@orpc/contract';
import { list, projectName, timestamp, z } from '../../core/contract/index.js';
import type { HubRole } from '../../core/sync/index.js';

const roles = ['reader', 'reviewer', 'writer', 'admin', 'pusher'] as const satisfies readonly HubRole[];

const hash = z.string().regex(/^[0-9a-f]{64}$/, 'a hash has 64 hex digits');
const seq = z.number().int().nonnegative();
const kind = z.string().regex(/^[a-zA-Z]{1,64}$/, 'a kind has at most 64 letters');
const key = z.string().min(1).max(4_096);
const parcel = z.instanceof(Blob);
/** Without NUL, because PostgreSQL refuses it in texts. */
const text = (most: number) =>
  z
    .string()
    .min(1)
    .max(most)
    .refine((value) => !value.includes('\0'), 'a name holds no NUL');
const mediaType = z.string().regex(/^[\x20-\x7e]{1,400}$/, 'a media type has at most 400 printable characters');
/** Stemma stores no larger object. */
const maxObjectBytes = 2 * 1024 ** 3;
/** The number of a token. */
const id = z.number().int().min(1).max(2_147_483_647);
const role = z.enum(roles);
const maxAsked = 5_000;
const maxParts = 1_000;
const hashes = list(hash, 4 * maxAsked).min(1);

/** The most characters in an answer: a client checks what a hub answers by the same schemas. */
const most = { name: 400, reason: 20_000 } as const;
const named = z.string().max(most.name);
/** A new token. It stands in addresses of share links. */
const token = z.string().regex(/^stm_[\w-]{1,400}$/, 'a token is stm_ with letters, digits, hyphens and underscores');
/** The id of a project. A client keeps what it knows of a hub under it, so it is never a name that the client itself uses. */
const projectId = z.string().regex(/^[\w-]{1,100}$/, 'an id has at most 100 letters, digits, hyphens and underscores');
/** A number that the hub gave. */
const no = z.number().int().nonnegative();

/** What an older hub does not send has a default. */
const member = z.object({
  id: no,
  name: named,
  role,
  /** Null for a token that opens every project of the hub. */
  project: projectName.nullable(),
  createdAt: timestamp,
  expiresAt: timestamp.nullable(),
  revoked: z.boolean(),
  /** True if the token belongs to a share link. */
  isLink: z.boolean(),
  /** The person who signs in at the hub's issuer. Null for a token. */
  identity: named.nullable().default(null),
  /** The id of the member that made it. Null for the first admin of the hub. */
  madeBy: no.nullable().default(null),
});

/** A token or link that ended with its maker. */
const made = z.object({ id: no, name: named, role, isLink: z.boolean() });

/** The end of a token: a time that the database can hold. */
const end = timestamp.refine((at) => /^\d{4}-/.test(at) && at >= '1970', 'a token ends in a year from 1970 to 9999').optional();

const newMember = z.strictObject({ project: projectName.nullable(), name: text(200), role, expiresAt: end });
export type NewMember = z.infer<typeof newMember>;

const project = z.strictObject({ project: projectName });
/** A call about a project. */
const onProject = <Fields extends z.ZodRawShape>(fields: Fields) => oc.input(project.extend(fields));

/** An item that the hub did not store. */
const refused = z.object({ kind: named, key: z.string().max(4_096), reason: z.string().max(most.reason) });
const object = z.object({
  size: seq.max(maxObjectBytes),
  contentType: mediaType,
  isExpired: z.boolean(),
  parts: list(hash, maxParts).optional(),
});

/** The number of days that contents are kept. Null means forever. */
const retention = project.extend({ days: z.number().int().min(1).max(36_500).nullable() });

/** The contract of a hub, over HTTP with a token as the bearer. `core/sync` packs the parcels. */
export const hubContract = {
  sync: {
    hello: onProject({}).output(
      z.object({
        id: projectId,
        seq,
        database: seq.optional(),
        role,
        name: named,
        retention: seq.nullable().default(null),
        people: list(named).default([]),
      }),
    ),
    lack: onProject({ items: list(z.tuple([kind, key, hash]), maxAsked), objects: list(hash, 4 * maxAsked) }).output(
      z.object({ items: list(no), objects: list(no) }),
    ),
    send: onProject({ parcel }).output(z.object({ seq, stored: seq, refused: list(refused).default([]) })),
    items: onProject({ after: seq }).output(z.object({ seq, isLast: z.boolean(), parcel })),
    objects: onProject({ hashes }).output(parcel),
    outlines: onProject({
      contents: list(z.tuple([hash, text(100)]), maxAsked).min(1),
      /** Objects to include in the answer, because the first screen needs items and objects, and each call takes time. */
      objects: hashes.optional(),
    }).output(z.object({ version: seq, outlines: parcel, objects: parcel.optional() })),
    join: onProject({ hash, contentType: mediaType, size: seq.max(maxObjectBytes), parts: list(hash, maxParts).min(1) }).output(z.object({})),
    about: onProject({ hashes }).output(list(object.nullable())),
  },
  projects: {
    list: oc.input(z.strictObject({})).output(list(z.object({ project: projectName, role }))),
    create: oc.input(project).output(project),
    retain: oc.input(retention).output(retention),
  },
  members: {
    list: onProject({}).output(list(member)),
    add: oc.input(newMember).output(z.object({ id: no, token })),
    grant: oc.input(newMember.extend({ identity: text(320) })).output(z.object({ id: no })),
    share: onProject({ commit: hash, against: hash.optional(), name: text(200), role: z.enum(['reader', 'reviewer']), expiresAt: end }).output(
      z.object({ id: no, token }),
    ),
    /** `keep`: what stays of the tokens and links that the member made. */
    revoke: oc.input(z.strictObject({ id, keep: list(id, 10_000).default([]) })).output(z.object({ id: no, made: list(made).default([]) })),
  },
  audit: {
    list: onProject({ before: seq.optional(), limit: z.number().int().min(1).max(1_000).default(100) }).output(
      list(z.object({ no, at: timestamp, by: named, action: named, count: seq, what: z.string().max(most.reason).nullable() })),
    ),
  },
};
export type HubContract = typeof hubContract;
