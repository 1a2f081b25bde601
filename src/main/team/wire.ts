import { oc } from '@orpc/contract';
import { z } from 'zod';
import { timestamp } from '../../core/contract/index.js';
import type { HubRole } from '../../core/sync/index.js';

const roles = ['reader', 'reviewer', 'writer', 'admin', 'pusher'] as const satisfies readonly HubRole[];

const projectName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9._-]{0,99}$/, 'a project of a hub has a name of at most 100 lower-case letters, digits, dots, hyphens and underscores')
  .describe('The name of the project on the hub.');
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
const hashes = z
  .array(hash)
  .min(1)
  .max(4 * maxAsked);

const member = z.object({
  id: z.number().int(),
  name: z.string(),
  role,
  /** Null for a token that opens every project of the hub. */
  project: projectName.nullable(),
  createdAt: timestamp,
  expiresAt: timestamp.nullable(),
  revoked: z.boolean(),
  /** True if the token belongs to a share link. */
  isLink: z.boolean(),
  /** The person who signs in at the hub's issuer. Null for a token. */
  identity: z.string().nullable(),
  /** The id of the member that made it. Null for the first admin of the hub. */
  madeBy: z.number().int().nullable(),
});

/** A token or link that ended with its maker. */
const made = z.object({ id: z.number().int(), name: z.string(), role, isLink: z.boolean() });

/** The end of a token: a time that the database can hold. */
const end = timestamp.refine((at) => /^\d{4}-/.test(at) && at >= '1970', 'a token ends in a year from 1970 to 9999').optional();

const newMember = z.strictObject({
  project: projectName.nullable(),
  name: text(200),
  role,
  expiresAt: end,
});

const project = z.strictObject({ project: projectName });

/** The number of days that contents are kept. Null means forever. */
const retention = project.extend({ days: z.number().int().min(1).max(36_500).nullable() });

/** The contract of a hub, over HTTP with a token as the bearer. `core/sync` packs the parcels. */
export const hubContract = {
  sync: {
    hello: oc
      .input(project)
      .output(z.object({ id: z.string(), seq, role, name: z.string(), retention: seq.nullable(), people: z.array(z.string()) })),
    lack: oc
      .input(project.extend({ items: z.array(z.tuple([kind, key, hash])).max(maxAsked), objects: z.array(hash).max(4 * maxAsked) }))
      .output(z.object({ items: z.array(z.number()), objects: z.array(z.number()) })),
    send: oc
      .input(project.extend({ parcel }))
      .output(z.object({ seq, stored: seq, refused: z.array(z.object({ kind: z.string(), key: z.string(), reason: z.string() })) })),
    items: oc.input(project.extend({ after: seq })).output(z.object({ seq, isLast: z.boolean(), parcel })),
    objects: oc.input(project.extend({ hashes })).output(parcel),
    outlines: oc
      .input(
        project.extend({
          contents: z
            .array(z.tuple([hash, text(100)]))
            .min(1)
            .max(maxAsked),
          /** Objects to include in the answer, because the first screen needs items and objects, and each call takes time. */
          objects: hashes.optional(),
        }),
      )
      .output(z.object({ version: seq, outlines: parcel, objects: parcel.optional() })),
    join: oc
      .input(project.extend({ hash, contentType: mediaType, size: seq.max(maxObjectBytes), parts: z.array(hash).min(1).max(maxParts) }))
      .output(z.object({})),
    about: oc
      .input(project.extend({ hashes }))
      .output(z.array(z.object({ size: seq, contentType: z.string(), isExpired: z.boolean(), parts: z.array(hash).optional() }).nullable())),
  },
  projects: {
    list: oc.input(z.strictObject({})).output(z.array(z.object({ project: projectName, role }))),
    create: oc.input(project).output(project),
    retain: oc.input(retention).output(retention),
  },
  members: {
    list: oc.input(project).output(z.array(member)),
    add: oc.input(newMember).output(z.object({ id: z.number().int(), token: z.string() })),
    grant: oc.input(newMember.extend({ identity: text(320) })).output(z.object({ id: z.number().int() })),
    share: oc
      .input(
        project.extend({
          commit: hash,
          against: hash.optional(),
          name: text(200),
          role: z.enum(['reader', 'reviewer']),
          expiresAt: end,
        }),
      )
      .output(z.object({ id: z.number().int(), token: z.string() })),
    revoke: oc
      .input(
        z.strictObject({
          id,
          /** What stays of the tokens and links that the member made. */
          keep: z.array(id).max(10_000).default([]),
        }),
      )
      .output(z.object({ id: z.number().int(), made: z.array(made) })),
  },
  audit: {
    list: oc
      .input(project.extend({ before: seq.optional(), limit: z.number().int().min(1).max(1_000).default(100) }))
      .output(z.array(z.object({ no: seq, at: timestamp, by: z.string(), action: z.string(), count: seq, what: z.string().nullable() }))),
  },
};
export type HubContract = typeof hubContract;
