import { count, matching, procedure, webAddress } from './scalars.js';
import * as z from './z.js';

const replicaName = matching(
  /^[a-z0-9][a-z0-9-]{0,63}$/,
  'a replica has a name of at most 64 lower-case letters, digits and hyphens that begins with a letter or digit',
).describe('The name of the replica.');
const takes = z.enum(['replicate', 'all']);

const folder = z.strictObject({
  kind: z.literal('folder').describe('A folder.'),
  dir: z.string().min(1).max(4_096).describe('The path of the folder.'),
});
const bucket = z.strictObject({
  kind: z.literal('s3').describe('A bucket with the S3 protocol.'),
  bucket: z.string().min(1).max(255).describe('The name of the bucket.'),
  endpoint: webAddress.optional().describe("The server's address if it is not Amazon's."),
  region: z.string().min(1).max(64).optional().describe('The region of the bucket.'),
  prefix: z.string().max(512).optional().describe('The prefix of all object keys.'),
});
const place = z.discriminatedUnion('kind', [folder, bucket]);

const secret = z.string().min(1).max(4_096);
/** Access keys, or existing credentials of this machine, which are used only if they are chosen here. */
const credentials = z.union([
  z.strictObject({
    accessKeyId: secret.describe('The id of the access key.'),
    secretAccessKey: secret.describe('The secret of the access key.'),
    sessionToken: secret.optional().describe('The token of a temporary session.'),
  }),
  z.strictObject({ from: z.enum(['environment', 'instance']).describe('Credentials of this process or of this cloud machine.') }),
  z.strictObject({
    from: z.literal('profile').describe('A profile of the AWS command line.'),
    profile: z.string().min(1).max(200).optional().describe('The name of the profile.'),
  }),
]);

const state = z.object({
  name: replicaName,
  /** Null if the project names the replica, but its place is not configured on this machine. */
  place: place.nullable(),
  takes,
  /** For S3: where the credentials come from. `sealed`: keys that the operating system sealed; `keys`: keys in a file that only this person can read. */
  credentials: z.enum(['none', 'keys', 'sealed', 'environment', 'profile', 'instance']).optional(),
  /** The number of objects that the replica holds, and of objects that still have to be copied to it. */
  held: count,
  waiting: count,
  /** Why the replica cannot be used, or did not answer the last attempt. */
  problem: z.string().optional(),
});
export type ReplicaState = z.output<typeof state>;

/** Replicas: copies of a project's objects in backing stores. Objects are copied in the background, and evicted ones are fetched when they are read. */
export const replicaContract = {
  list: procedure('Lists the replicas of the project with their state.').returns(z.array(state)),
  set: procedure(
    'Sets or changes a replica. Place and credentials are stored on this machine, outside of the project. S3 needs credentials; without `credentials`, a replica keeps its earlier credentials for the same bucket.',
    {
      name: replicaName,
      place: place.describe('Where the copies go.'),
      takes: takes
        .optional()
        .describe('The objects to copy: objects with the policy `replicate` (the default), or all objects that are not ephemeral.'),
      credentials: credentials.optional().describe('The credentials for S3. Credentials of the environment are used only if they are chosen here.'),
    },
  ).returns(z.array(state)),
  remove: procedure('Removes a replica. Its copies stay in their place. Fails with CONFLICT if it has the only copy of an object.', {
    name: replicaName,
  }).returns(z.array(state)),
  replicate: procedure('Copies the objects that are waiting, now.').returns({
    copied: count,
    bytes: count,
    problems: z.array(z.object({ replica: z.string(), message: z.string() })),
  }),
};
