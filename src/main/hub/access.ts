import { createHash, randomBytes } from 'node:crypto';
import { StemmaError } from '../../core/base/index.js';
import type { HubRole } from '../../core/sync/index.js';
import type { HubDatabase } from './database.js';
import { isJwt, type Oidc } from './oidc.js';

/** A role in one project, or in all projects. */
interface Grant {
  readonly no: number;
  readonly name: string;
  readonly role: HubRole;
  /** The number of the only project of the grant; null for all projects. */
  readonly project: number | null;
  readonly expiresAt: Date | null;
  /** For a share link: the names of the shared commits (two for a comparison). */
  readonly shared: readonly Buffer[] | null;
}

/** The caller, with the role for the project that the call names. */
export interface Holder extends Grant {
  /** All roles of the caller. A token has one role; a person who signed in at an issuer can have one in each project. */
  readonly grants: readonly Grant[];
  /** The project that the call names, if it exists. `projectFor` checks whether the grants open it. */
  readonly named?: (OpenProject & { readonly name: string }) | undefined;
}

/** The numbers of the projects of grants; grants for all projects have none. */
export const projectsOf = (grants: readonly Grant[]): number[] => grants.flatMap(({ project }) => (project === null ? [] : [project]));

/** The kinds of actions that roles allow. */
export type Action = 'read' | 'review' | 'write' | 'administer';

const allowed: Readonly<Record<HubRole, readonly Action[]>> = {
  reader: ['read'],
  reviewer: ['read', 'review'],
  writer: ['read', 'review', 'write'],
  admin: ['read', 'review', 'write', 'administer'],
  pusher: ['write'],
};

/** Each action in words for error messages. */
const words: Readonly<Record<Action, string>> = { read: 'pull', review: 'send tickets', write: 'push', administer: 'manage the project' };

const tokenPrefix = 'stm_';
const tokenBytes = 32;

/** Makes a new token, and the hash of it that the hub stores. */
export function newToken(): { readonly token: string; readonly hash: Buffer } {
  const token = tokenPrefix + randomBytes(tokenBytes).toString('base64url');
  return { token, hash: hashOfToken(token) };
}

const hashOfToken = (token: string): Buffer => createHash('sha256').update(token).digest();

const refusal = (message: string): StemmaError => new StemmaError('UNAUTHORIZED', message, { field: 'token' });

/** The credentials of a request: its `Authorization` header, and the name of the project that it works on. */
interface Credentials {
  readonly authorization: string | undefined;
  readonly project: string | undefined;
  readonly oidc: Oidc | undefined;
}

/**
 * Who holds the token of a request: a token of this hub, or a token of its issuer. @throws UNAUTHORIZED for an unknown, expired or revoked token;
 * UNAVAILABLE if the issuer does not answer.
 */
export async function holderOf(database: HubDatabase, { authorization, project, oidc }: Credentials): Promise<Holder> {
  const token = /^Bearer (\S+)$/.exec(authorization ?? '')?.[1];
  if (token === undefined) throw refusal('The request has no token. Give one with --token or STEMMA_TOKEN.');
  if (oidc && isJwt(token)) return holderWith(database, await oidc.identities(token), project);
  // Reads the project in the same round trip, because nearly every call needs both. The input is not validated yet, and PostgreSQL refuses NUL in
  // texts.
  const asked = project === undefined || project.includes('\0') ? null : project;
  const row = await validTokens(database)
    .leftJoin('project as named', (join) => join.on('named.name', '=', asked))
    .select(['named.no as namedNo', 'named.id as namedId', 'named.retention as namedRetention'])
    .where('hash', '=', hashOfToken(token))
    .where('identity', 'is', null)
    .executeTakeFirst();
  if (!row) throw refusal('The hub does not accept this token: it is unknown, expired or revoked. Ask an admin of the hub for a new one.');
  const { namedNo, namedId, namedRetention, ...own } = row;
  const grant = grantOf(own);
  const named =
    namedNo === null || namedId === null || asked === null ? undefined : { no: namedNo, id: namedId, name: asked, retention: namedRetention };
  return { ...grant, grants: [grant], named };
}

const grantOf = <T extends { readonly shared: Buffer | null; readonly against: Buffer | null }>({ shared, against, ...row }: T) => ({
  ...row,
  shared: shared && [shared, ...(against ? [against] : [])],
});

const validTokens = ({ all }: HubDatabase) =>
  all
    .selectFrom('token')
    .select(['token.no', 'token.name', 'role', 'token.project', 'expires_at as expiresAt', 'shared', 'against'])
    .where('revoked_at', 'is', null)
    .where((where) => where.or([where('expires_at', 'is', null), where('expires_at', '>', new Date())]));

/** The member with one of these verified names. A role in the named project takes precedence over a role in all projects. */
async function holderWith(database: HubDatabase, identities: readonly string[], project: string | undefined): Promise<Holder> {
  const rows =
    identities.length === 0
      ? []
      : await validTokens(database)
          .leftJoin('project', 'project.no', 'token.project')
          .select('project.name as projectName')
          .where('identity', 'in', identities)
          .orderBy('token.no', 'desc')
          .execute();
  const row = rows.find(({ projectName }) => projectName === (project ?? null)) ?? rows.find((each) => each.project === null) ?? rows[0];
  if (!row)
    throw refusal(
      identities.length === 0
        ? 'Your sign-in names no verified e-mail address, so the hub does not know who you are.'
        : `${identities[0]} is not a member of this hub. Ask an admin of the hub for access.`,
    );
  return { ...grantOf(row), grants: rows.map(grantOf) };
}

/** @throws UNAUTHORIZED if the role does not allow the action. */
export function requireAction({ role }: Pick<Grant, 'role'>, action: Action): void {
  if (!allowed[role].includes(action))
    throw refusal(`Your role is ${role}, which may not ${words[action]}. Ask an admin of the hub for another role.`);
}

/** Whether a role allows an action. */
export const allows = ({ role }: Pick<Grant, 'role'>, action: Action): boolean => allowed[role].includes(action);

/** A project of the hub that a call works on. */
export interface OpenProject {
  readonly no: number;
  readonly id: string;
  /** The number of days that contents are kept after their arrival; null means forever. */
  readonly retention: number | null;
}

/**
 * The number and id of a project that a token may use for an action. A project that the token does not open looks like a project that does not exist.
 * @throws NOT_FOUND, UNAUTHORIZED.
 */
export async function projectFor({ all }: HubDatabase, holder: Holder, name: string, action?: Action): Promise<OpenProject> {
  const row =
    holder.named?.name === name
      ? holder.named
      : await all.selectFrom('project').select(['no', 'id', 'retention']).where('name', '=', name).executeTakeFirst();
  if (!row || (holder.project !== null && holder.project !== row.no))
    throw new StemmaError('NOT_FOUND', `The hub has no project ${name}, or this token does not open it.`, { id: name });
  if (action !== undefined) requireAction(holder, action);
  return row;
}
