import { eventIterator, oc } from '@orpc/contract';
import { z } from 'zod';
import { commit } from './context.js';
import { artifactName, artifactRef, base64, count, timestamp } from './scalars.js';

export const projectInfo = z.object({
  projectId: z.string(),
  name: z.string(),
  dir: z.string(),
  createdAt: timestamp,
  counts: z.object({ commits: count, entries: count, cards: count, boxes: count, artifacts: count }),
  /** Content as it was, and what all of the project takes on disk once the database's journal is folded in. */
  bytes: z.object({ logical: count, stored: count }),
  formatVersion: count,
  /** Who counted its tokens: counts are approximate, and those of two tokenizers are not to be compared. */
  tokenizer: z.string(),
});
export type ProjectInfo = z.output<typeof projectInfo>;

/**
 * What bytes on disk serve. `content`: histories and whatever else was put, compressed. `search` and `reading`: indexes over it that are
 * made again by a repair. `requests`: calls to models. `history`: commits, tickets, cards, messages. `caches`: materializations, made
 * again when asked for. `free`: pages that were given back, taken again before the file grows. `backups`: the database before a migration.
 * `journal`: beside all that, where the database writes first, until it is folded in.
 */
export const diskAreas = ['content', 'search', 'reading', 'requests', 'history', 'caches', 'free', 'backups', 'journal'] as const;
export type DiskArea = (typeof diskAreas)[number];

/** Of what a project holds, what a list that is shown may have to be read again for. */
export const areas = ['commits', 'tickets', 'cards', 'boxes', 'messages', 'turns'] as const;
export type Area = (typeof areas)[number];

export const projectChange = z.object({
  /** Where to go on from: the running number of the latest commit. */
  cursor: count,
  /** In the order in which they were made; more than 200 come in several events. */
  commits: z.array(commit),
  changed: z.array(z.enum(areas)),
});
export type ProjectChange = z.output<typeof projectChange>;

export const policies = ['default', 'pin', 'ephemeral', 'replicate'] as const;
export type Policy = (typeof policies)[number];

/** Why content is not here any more. */
export const goneWhys = ['expired', 'evicted', 'lost'] as const;

const storageReport = z.object({
  /** What was put, as plain bytes. */
  logical: count,
  disk: z.array(z.object({ area: z.enum(diskAreas), bytes: count })),
  /** Objects that are there, by their policy; plain bytes. */
  objects: z.array(z.object({ policy: z.enum(policies), count, bytes: count })),
  gone: z.array(z.object({ why: z.enum(goneWhys), count })),
});
export type StorageReport = z.output<typeof storageReport>;

const dir = z.string().min(1).max(4_096);

export const projectContract = {
  create: oc
    .input(z.object({ dir, name: z.string().min(1).max(400).optional(), projectId: z.string().min(1).max(200).optional() }))
    .output(projectInfo),
  /** `repair`: a database that is too damaged to be opened is rescued first; `check` with `repair` then says what was lost. */
  open: oc.input(z.object({ dir, repair: z.boolean().optional() })).output(projectInfo),
  info: oc.input(z.object({})).output(projectInfo),
  /**
   * What is new, as it comes, whoever made it: this engine, a hook, the command line. Begins with an event that says where things
   * stand; with `after`, a cursor of before, that brings the commits since then. Goes on until it is ended.
   */
  changes: oc.input(z.object({ after: count.optional() })).output(eventIterator(projectChange)),
  /** What takes the project's space. Slow for a large one: its database is read through. */
  storage: oc.input(z.object({})).output(storageReport),
  check: oc.input(z.object({ repair: z.boolean().optional() })).output(
    z.object({
      ok: z.boolean(),
      checked: z.record(z.string(), count),
      /** `repaired`: asked to, it was made sound again; what is not says what was lost. */
      problems: z.array(z.object({ kind: z.string(), id: z.string(), message: z.string(), repaired: z.boolean().optional() })),
    }),
  ),
};

const artifactStat = z.object({
  ref: artifactRef,
  short: z.string(),
  size: count,
  storedBytes: count,
  contentType: z.string(),
  policy: z.enum(policies),
  labels: z.array(z.string()),
  createdAt: timestamp,
  /** When an ephemeral object goes. */
  expiresAt: timestamp.optional(),
  /** Why its content is not here any more. */
  gone: z.enum(goneWhys).optional(),
});

export const artifactContract = {
  put: oc
    .input(
      z.object({
        data: base64.optional(),
        text: z.string().optional(),
        contentType: z.string().min(1).max(200),
        policy: z.enum(policies).optional(),
        ttlSeconds: count.optional(),
        labels: z.array(z.string().min(1).max(200)).max(100).optional(),
      }),
    )
    .output(z.object({ ref: artifactRef, short: z.string(), size: count, storedBytes: count, existed: z.boolean() })),
  get: oc
    .input(z.object({ ref: artifactName, start: count.optional(), end: count.optional() }))
    .output(z.object({ data: z.string(), contentType: z.string(), size: count })),
  stat: oc.input(z.object({ ref: artifactName })).output(artifactStat),
  /** `ephemeral` takes the seconds from now that the object stays. */
  setPolicy: oc.input(z.object({ ref: artifactName, policy: z.enum(policies), ttlSeconds: count.optional() })).output(artifactStat),
  /**
   * Removes what no commit, source, request, ticket, card, pin or label reaches and is older than an hour. With a budget
   * it also drops caches, and evicts `default` objects that a backing store holds, until the store weighs no more.
   */
  gc: oc.input(z.object({ dryRun: z.boolean().optional(), budgetBytes: count.optional() })).output(
    z.object({
      examined: count,
      removed: count,
      freedBytes: count,
      kept: z.object({ reachable: count, pinned: count, young: count }),
    }),
  ),
  /** Packs what is stored closer: neighbors into compressed blocks, large objects into chunks. Sizes are stored bytes of what was looked at. */
  repack: oc.input(z.object({})).output(z.object({ objects: count, before: count, after: count })),
  /** Drops contexts that were kept put together. Nothing is lost: each is made again when it is asked for. */
  dropCaches: oc.input(z.object({})).output(z.object({ freedBytes: count })),
};
