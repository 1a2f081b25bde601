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
  bytes: z.object({ logical: count, stored: count }),
  formatVersion: count,
  /** Who counted its tokens: counts are approximate, and those of two tokenizers are not to be compared. */
  tokenizer: z.string(),
});
export type ProjectInfo = z.output<typeof projectInfo>;

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

const dir = z.string().min(1).max(4_096);

export const projectContract = {
  create: oc
    .input(z.object({ dir, name: z.string().min(1).max(400).optional(), projectId: z.string().min(1).max(200).optional() }))
    .output(projectInfo),
  open: oc.input(z.object({ dir })).output(projectInfo),
  info: oc.input(z.object({})).output(projectInfo),
  /**
   * What is new, as it comes, whoever made it: this engine, a hook, the command line. Begins with an event that says where things
   * stand; with `after`, a cursor of before, that brings the commits since then. Goes on until it is ended.
   */
  changes: oc.input(z.object({ after: count.optional() })).output(eventIterator(projectChange)),
  check: oc.input(z.object({ repair: z.boolean().optional() })).output(
    z.object({
      ok: z.boolean(),
      checked: z.record(z.string(), count),
      /** `repaired`: asked to, it was made sound again; what is not says what was lost. */
      problems: z.array(z.object({ kind: z.string(), id: z.string(), message: z.string(), repaired: z.boolean().optional() })),
    }),
  ),
};

export const policies = ['default', 'pin', 'ephemeral', 'replicate'] as const;
export type Policy = (typeof policies)[number];

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
  gone: z.enum(['expired', 'evicted', 'lost']).optional(),
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
};
