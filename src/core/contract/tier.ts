import { oc } from '@orpc/contract';
import { z } from 'zod';
import { count, webAddress } from './scalars.js';

const tierName = z.string().regex(/^[a-z0-9][a-z0-9-]{0,63}$/, 'a backing store has a name of lower-case letters, digits and hyphens');
const takes = z.enum(['replicate', 'all']);

const folder = z.object({ kind: z.literal('folder'), dir: z.string().min(1).max(4_096) });
const bucket = z.object({
  kind: z.literal('s3'),
  bucket: z.string().min(1).max(255),
  /** Of a server that is not Amazon's. */
  endpoint: webAddress.optional(),
  region: z.string().min(1).max(64).optional(),
  prefix: z.string().max(512).optional(),
});
const place = z.discriminatedUnion('kind', [folder, bucket]);

const state = z.object({
  name: tierName,
  place,
  takes,
  /** Objects that it has, and that it should have and has not yet. */
  held: count,
  waiting: count,
  /** Why it could not be reached when it was last tried. */
  problem: z.string().optional(),
});
export type TierState = z.output<typeof state>;

/** Backing stores: where copies of objects go in the background, and where evicted ones come back from. */
export const tierContract = {
  list: oc.input(z.object({})).output(z.array(state)),
  /**
   * Sets a backing store, or where it is from now on. `takes`: objects with the policy `replicate`, or everything that
   * stays. Credentials stay on this machine, outside of the project; without any, those of the environment are used.
   */
  set: oc
    .input(
      z.object({
        name: tierName,
        place,
        takes: takes.optional(),
        credentials: z.object({ accessKeyId: z.string().min(1), secretAccessKey: z.string().min(1) }).optional(),
      }),
    )
    .output(z.array(state)),
  /** Refused where it holds what nobody else has. */
  remove: oc.input(z.object({ name: tierName })).output(z.array(state)),
  /** Copies now what waits. */
  replicate: oc
    .input(z.object({}))
    .output(z.object({ copied: count, bytes: count, problems: z.array(z.object({ tier: z.string(), message: z.string() })) })),
};
