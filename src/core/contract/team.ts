import { eventIterator } from '@orpc/contract';
import { redacted } from './export.js';
import { projectInfo } from './project.js';
import { contextPrefix, count, flag, list, matching, procedure, text, timestamp, upTo, webAddress } from './scalars.js';
import * as z from './z.js';

export const projectName = matching(
  /^[a-z0-9][a-z0-9._-]{0,99}$/,
  'a project of a hub has a name of at most 100 lower-case letters, digits, dots, hyphens and underscores',
).describe('The name of the project on the hub.');
const token = z.string().min(1).max(1_000).describe('The token from an admin of the hub. Without it, the sign-in of this machine is used.');
const role = z.enum(['reader', 'reviewer', 'writer', 'admin', 'pusher']);
/** Numbers of items by kind, such as `{context: 12, ticket: 1}`. */
const byKind = z.record(z.string(), count);

const select = z
  .strictObject({
    repository: text(4_096).optional().describe('Only sessions of this repository (the working directory that the sessions recorded).'),
    tag: text(200).optional().describe('Only commits and sessions with this tag.'),
    branch: text(100).optional().describe('Only the branch that ends at this commit.'),
  })
  .describe('Limits what leaves this machine. Without it, everything except the files of agents leaves. Each commit takes its ancestors along.');

const trouble = {
  /** Why the hub cannot be used. */
  problem: z.string().optional(),
  /** True if the hub refuses this machine because its token or sign-in is not valid any more. */
  refused: z.boolean().optional(),
};

const status = z.object({
  /** Null if this project is not connected to a hub. */
  hub: z.string().nullable(),
  project: projectName.nullable(),
  role: role.nullable(),
  /** The owner of the token, as the hub names it. */
  name: z.string().nullable(),
  /** The number of days that the hub keeps contents after their arrival. Null if it keeps them forever, or if the hub does not answer. */
  retention: count.nullable(),
  /** The items that a push would send. */
  toPush: byKind,
  /** Items on the hub that a pull would read. Null if the hub does not answer. */
  toPull: count.nullable(),
  ...trouble,
});
export type TeamStatus = z.output<typeof status>;

const member = z.object({
  id: count,
  name: z.string(),
  role,
  /** Null if the member has access to every project of the hub. */
  project: z.string().nullable(),
  createdAt: timestamp,
  expiresAt: timestamp.nullable(),
  revoked: z.boolean(),
  /** True if the token belongs to a share link. */
  isLink: z.boolean(),
  /** The person who signs in at the hub's issuer. Null for a token. */
  identity: z.string().nullable().optional(),
  /** The id of the member that made it. Null for the first admin; missing if the hub is older. */
  madeBy: count.nullish(),
});

/** A team shares projects through a hub. A push only adds to the hub; two edits of the same item stay as two versions. */
export const teamContract = {
  connect: procedure(
    'Connects the project with a project on a hub. Address and token stay on this machine, outside of the project. If the project does not exist on the hub and the token allows it, creates the project there.',
    { hub: webAddress.describe('The address of the hub.'), project: projectName, token: token.optional() },
  ).returns(status),
  open: procedure(
    'Opens a project of a hub without cloning it. The records are copied at once and stay up to date with `pull`. Contents are fetched when they are first read, and then stay on this machine.',
    { hub: webAddress.describe('The address of the hub.'), project: projectName, token: token.optional() },
  ).returns(projectInfo),
  signIn: procedure(
    'Signs this machine in at a hub whose members sign in at an issuer. Streams the address of a page and a code; a person enters the code on this page, in any browser. The stream ends when the sign-in is complete. Calls without a token then use it.',
    { hub: webAddress.describe('The address of the hub.') },
  ).returns(
    eventIterator(
      z.object({
        issuer: z.string(),
        /** The page on which a person enters the code. */
        address: webAddress,
        code: z.string(),
      }),
    ),
  ),
  disconnect: procedure('Forgets the hub of the project and its token. Nothing on the hub changes.').returns(status),
  status: procedure('Returns the hub that the project is connected to, and the items that a push would send and a pull would read.').returns(status),
  news: procedure('Returns the number of new items on the hub and the people who use it now. Fast enough to be called every few seconds.').returns({
    /** Null if this project is not connected to a hub. */
    hub: z.string().nullable(),
    /** Whether the project is open without a clone. */
    onDemand: z.boolean(),
    toPull: count.nullable(),
    /** The caller's name on the hub. Null if the hub does not answer. */
    me: z.string().nullable(),
    people: z.array(z.string()),
    ...trouble,
  }),
  push: procedure(
    'Sends all items that the hub lacks: commits with their objects, cards, boxes, agent turns, tickets and experiments. An interrupted push continues where it stopped.',
    {
      select: select.optional(),
      sources: flag('Also send the imported files themselves, with the model calls that they record.'),
      redact: flag(
        'Replace secrets of known patterns, home folders and e-mail addresses with placeholders first. Changed commits are copied to a separate branch, and nothing but commits leaves. No list of patterns is complete.',
      ),
      preview: flag('Send nothing; only count the items that would leave.'),
    },
  ).returns({
    items: byKind,
    objects: count,
    bytes: count,
    sent: count,
    /** Items that the hub refused. The next push sends them again. */
    refused: z.array(z.object({ kind: z.string(), key: z.string(), reason: z.string() })),
    ...redacted,
  }),
  pull: procedure('Copies all items from the hub that this project lacks. Local changes that are not pushed yet stay as they are.').returns({
    items: byKind,
    objects: count,
    /** Rows that were changed here since the last push. They stay, and the next push sends them. */
    kept: count,
    refused: z.array(z.object({ kind: z.string(), key: z.string(), reason: z.string() })),
  }),
  retain: procedure(
    'Sets how long the hub keeps the contents of this project. Commits, cards and tickets stay; the contents of commits are removed this number of days after their arrival. Needs the role admin.',
    { days: upTo(36_500).nullable().describe('The number of days after the arrival. Null keeps everything.') },
  ).returns(status),
  members: procedure('Lists the tokens of the project on the hub. Needs the role admin.').returns(z.array(member)),
  invite: procedure('Makes a token for a person or machine, which is shown once, or gives a role to a person who signs in. Needs the role admin.', {
    name: z.string().min(1).max(200).describe('The name of the person or machine that gets the token.'),
    role: role.describe('`pusher` is for machines: it can send but not read.'),
    expiresAt: timestamp.optional().describe('When the token ends. Without it, it stays until it is revoked.'),
    identity: text(320)
      .optional()
      .describe(
        'The person who signs in with `stemma login`: a verified e-mail address, or the subject as the issuer names it. No token is made then. A new role replaces the earlier role.',
      ),
  }).returns({
    id: count,
    /** Null for a person who signs in. */
    token: z.string().nullable(),
  }),
  share: procedure(
    'Makes a link to a commit, or to the comparison of two. Anyone with the link can read them and their history, on a page of the hub or as a clone. Commits that the hub lacks are sent first. Needs the role writer or admin.',
    {
      commit: contextPrefix,
      against: contextPrefix.optional().describe('Another commit: the link then opens the comparison of both.'),
      role: z.enum(['reader', 'reviewer']).describe('`reviewer` may also send tickets.'),
      expiresAt: timestamp.optional().describe('When the link ends. Without it, it stays until it is revoked.'),
    },
  ).returns({
    id: count,
    /** The address of a read-only page. `stemma clone URL DIR` clones the shared commits into a project. */
    url: z.string(),
    /** The secret in `url`. */
    token: z.string(),
  }),
  audit: procedure('Lists the reads and writes on the hub with the person who did each, newest first, without content. Needs the role admin.', {
    before: z.number().int().positive().optional().describe('Only lines before the line with this number.'),
    limit: upTo(1_000).default(100).describe('Number of lines.'),
  }).returns(
    z.array(
      z.object({
        no: count,
        at: timestamp,
        by: z.string(),
        action: z.string(),
        count,
        /** Kinds, numbers and hashes of the items that were read or written. Null if the action says it all; missing if the hub is older. */
        what: z.string().nullish(),
      }),
    ),
  ),
  revoke: procedure(
    'Revokes a token or a share link, with all tokens and links that its holder made, and returns these. Needs the role admin, or for a share link, to have made it.',
    {
      id: z.number().int().positive().describe('The id of the token, as `members` lists it.'),
      keep: list(z.number().int().positive(), 10_000).default([]).describe('The ids of tokens and links that stay. Their maker is then the caller.'),
    },
  ).returns({
    id: count,
    /** What ended with it. */
    made: z.array(z.object({ id: count, name: z.string(), role, isLink: z.boolean() })),
  }),
};
