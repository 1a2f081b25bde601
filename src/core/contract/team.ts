import { eventIterator } from '@orpc/contract';
import { z } from 'zod';
import { redacted } from './export.js';
import { projectInfo } from './project.js';
import { contextPrefix, count, procedure, timestamp, webAddress } from './scalars.js';

const projectName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9._-]{0,99}$/, 'a project of a hub has a name of at most 100 lower-case letters, digits, dots, hyphens and underscores')
  .describe('The name of the project on the hub.');
/** A project on a hub; of a share link with its token. */
export interface HubPlace {
  readonly hub: string;
  readonly project: string;
  readonly token?: string;
}

/** Reads `https://hub.example/web-shop`, or a share link `https://hub.example/share/web-shop/TOKEN`. Undefined for anything else. */
export function hubPlaceOf(text: string): HubPlace | undefined {
  const [, ofLink, shared, token] = /^(https?:\/\/[^?#]+)\/share\/([^/?#]+)\/([^/?#]+)$/.exec(text) ?? [];
  if (ofLink !== undefined && shared !== undefined && token !== undefined) return { hub: ofLink, project: shared, token };
  const [, hub, project] = /^(https?:\/\/[^?#]*[^/?#])\/([^/?#]+)\/*$/.exec(text) ?? [];
  return hub === undefined || project === undefined || hub.endsWith('/') || /^https?:\/?$/.test(hub) ? undefined : { hub, project };
}

const token = z.string().min(1).max(1_000).describe('The token that an admin of the hub gave you. Without it, the sign-in of this machine is used.');
const role = z.enum(['reader', 'reviewer', 'writer', 'admin', 'pusher']);
/** Numbers by kind, such as `{context: 12, ticket: 1}`. */
const byKind = z.record(z.string(), count);

const select = z
  .strictObject({
    repository: z.string().min(1).max(4_096).optional().describe('Only sessions of this repository (its folder, as the sessions name it).'),
    tag: z.string().min(1).max(200).optional().describe('Only commits and sessions with this tag.'),
    branch: z.string().min(1).max(100).optional().describe('Only the branch that ends at this commit.'),
  })
  .describe('What leaves this machine. Without it, everything but files of agents does. Each commit takes along what comes before it.');

const trouble = {
  /** Why the hub cannot be used. */
  problem: z.string().optional(),
  /** The hub answers, and refuses this machine: its token or sign-in is not valid any more. */
  refused: z.boolean().optional(),
};

const status = z.object({
  /** Null if this project is not connected to a hub. */
  hub: z.string().nullable(),
  project: projectName.nullable(),
  role: role.nullable(),
  /** Whose token it is, as the hub names it. */
  name: z.string().nullable(),
  /** Days that the hub keeps contents after they arrived. Null for ever, or if the hub does not answer. */
  retention: count.nullable(),
  /** What a push would send. */
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
  /** Null for every project of the hub. */
  project: z.string().nullable(),
  createdAt: timestamp,
  expiresAt: timestamp.nullable(),
  revoked: z.boolean(),
  /** Whether it is a share link. */
  isLink: z.boolean(),
  /** Who signs in at the hub's issuer. Null for a token. */
  identity: z.string().nullable().optional(),
});

/** A team shares projects through a hub. What a push sends is added there; two edits of one thing stay as two versions. */
export const teamContract = {
  connect: procedure(
    'Connects the project with a project on a hub. Address and token stay on this machine, outside of the project. The project on the hub is created if it does not exist and the token allows that.',
  )
    .input(z.strictObject({ hub: webAddress.describe('The address of the hub.'), project: projectName, token: token.optional() }))
    .output(status),
  open: procedure(
    'Opens a project of a hub without a clone, and works in it from now on. Its records are taken over at once and stay up to date with `pull`; contents are fetched when they are read first, and then stay on this machine.',
  )
    .input(z.strictObject({ hub: webAddress.describe('The address of the hub.'), project: projectName, token: token.optional() }))
    .output(projectInfo),
  signIn: procedure(
    'Signs this machine in at a hub whose members sign in at an issuer. Answers with a page and a code; a person enters the code there, in any browser. The stream ends when that is done. Calls without a token then use the sign-in.',
  )
    .input(z.strictObject({ hub: webAddress.describe('The address of the hub.') }))
    .output(
      eventIterator(
        z.object({
          issuer: z.string(),
          /** The page that takes the code. */
          address: webAddress,
          code: z.string(),
        }),
      ),
    ),
  disconnect: procedure('Forgets the hub of the project and its token. Nothing on the hub changes.').input(z.strictObject({})).output(status),
  status: procedure('Says which hub the project is connected to, what a push would send and what a pull would read.')
    .input(z.strictObject({}))
    .output(status),
  news: procedure('Says what is new on the hub and who else is there now. Quick, so that a window may ask every few seconds.')
    .input(z.strictObject({}))
    .output(
      z.object({
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
    ),
  push: procedure(
    'Sends what the hub lacks: commits with their objects, cards, boxes, agent turns, tickets and experiments. A push that was interrupted continues where it stopped.',
  )
    .input(
      z.strictObject({
        select: select.optional(),
        sources: z.boolean().optional().describe('Also send the imported files themselves, with the model calls that they record.'),
        redact: z
          .boolean()
          .optional()
          .describe(
            'Replace secrets of known patterns, home folders and e-mail addresses with placeholders first. Copies of the commits that change are made as a branch of their own, and only commits leave. No list of patterns is complete.',
          ),
        preview: z.boolean().optional().describe('Send nothing, only count what would leave.'),
      }),
    )
    .output(z.object({ items: byKind, objects: count, bytes: count, sent: count, ...redacted })),
  pull: procedure('Takes over what the hub has and this project lacks. What was changed here and not pushed yet stays as it is.')
    .input(z.strictObject({}))
    .output(
      z.object({
        items: byKind,
        objects: count,
        kept: count,
        refused: z.array(z.object({ kind: z.string(), key: z.string(), reason: z.string() })),
      }),
    ),
  retain: procedure(
    'Sets how long the hub keeps the contents of this project. Commits, cards and tickets stay; what commits held is removed that many days after it arrived. Needs the role admin.',
  )
    .input(z.strictObject({ days: z.number().int().min(1).max(36_500).nullable().describe('Days after the arrival. Null keeps everything.') }))
    .output(status),
  members: procedure('Lists the tokens of the project on the hub. Needs the role admin.').input(z.strictObject({})).output(z.array(member)),
  invite: procedure('Makes a token for a person or machine, which is shown once, or gives a role to somebody who signs in. Needs the role admin.')
    .input(
      z.strictObject({
        name: z.string().min(1).max(200).describe('Who gets the token.'),
        role: role.describe('`pusher` is for machines: it sends and reads nothing.'),
        expiresAt: timestamp.optional().describe('When the token ends. Without it, it stays until it is revoked.'),
        identity: z
          .string()
          .min(1)
          .max(320)
          .optional()
          .describe(
            'Who signs in with `stemma login`: a verified e-mail address, or the subject as the issuer names it. Then no token is made. A new role replaces the earlier one.',
          ),
      }),
    )
    .output(
      z.object({
        id: count,
        /** Null for somebody who signs in. */
        token: z.string().nullable(),
      }),
    ),
  share: procedure(
    'Makes a link to a commit, or to the comparison of two. Anyone with the link can read them and their history, on a page of the hub or as a clone. Commits that the hub lacks are sent first. Needs the role writer or admin.',
  )
    .input(
      z.strictObject({
        commit: contextPrefix,
        against: contextPrefix.optional().describe('Another commit: the link then opens the comparison of both.'),
        role: z.enum(['reader', 'reviewer']).describe('`reviewer` may also send tickets.'),
        expiresAt: timestamp.optional().describe('When the link ends. Without it, it stays until it is revoked.'),
      }),
    )
    .output(
      z.object({
        id: count,
        /** Opens a read-only page. `stemma clone URL DIR` makes a project of what it opens. */
        url: z.string(),
        /** The secret in `url`. */
        token: z.string(),
      }),
    ),
  audit: procedure('Lists who read and wrote what on the hub, newest first, without content. Needs the role admin.')
    .input(
      z.strictObject({
        before: z.number().int().positive().optional().describe('Only lines before the one with this number.'),
        limit: z.number().int().min(1).max(1_000).default(100).describe('Number of lines.'),
      }),
    )
    .output(
      z.array(
        z.object({
          no: count,
          at: timestamp,
          by: z.string(),
          action: z.string(),
          count,
          /** Kinds, numbers and hashes of what was read or written. */
          what: z.string().nullish(),
        }),
      ),
    ),
  revoke: procedure('Ends a token or a share link. Needs the role admin; who made a link may end it.')
    .input(z.strictObject({ id: z.number().int().positive().describe('The id of the token, as `members` lists it.') }))
    .output(z.object({ id: count })),
};
