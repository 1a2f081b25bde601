import { createHash, randomBytes } from 'node:crypto';
import { notFound, StemmaError } from '../../core/base/index.js';
import type { HubRole } from '../../core/sync/index.js';
import type { HubDatabase } from './database.js';
import { isJwt, type Oidc } from './oidc.js';

interface Grant {
  readonly no: number;
  readonly name: string;
  readonly role: HubRole;
  /** The number of the only project of the grant; null for all projects. */
  readonly project: number | null;
  readonly expiresAt: Date | null;
  /** For a share link: the names of the shared commits (two for a comparison). */
  readonly shared: readonly Buffer[] | null;
  /** The only project of the grant. */
  readonly opens: (OpenProject & { readonly name: string }) | undefined;
}

/** Who sent a request: all roles that the token gives. A token has one role; a person who signed in at an issuer can have one in each project. */
export interface HubCaller {
  readonly grants: readonly [Grant, ...Grant[]];
}

/** A caller with the role for the project that the call names. */
export interface GrantHolder extends Grant, HubCaller {}

/** The numbers of the projects of grants; grants for all projects have none. */
export const projectsOf = (grants: readonly Grant[]): number[] => grants.flatMap(({ project }) => (project === null ? [] : [project]));

export type Action = 'read' | 'review' | 'write' | 'administer';

const allowed: Readonly<Record<HubRole, readonly Action[]>> = {
  reader: ['read'],
  reviewer: ['read', 'review'],
  writer: ['read', 'review', 'write'],
  admin: ['read', 'review', 'write', 'administer'],
  pusher: ['write'],
};

const words: Readonly<Record<Action, string>> = { read: 'pull', review: 'send tickets', write: 'push', administer: 'manage the project' };

const tokenPrefix = 'stm_';
const tokenBytes = 32;

/** Makes a new token, and the hash of it that the hub stores. */
export function newToken(): { readonly token: string; readonly hash: Buffer } {
  const token = tokenPrefix + randomBytes(tokenBytes).toString('base64url');
  return { token, hash: hashOfToken(token) };
}

const hashOfToken = (token: string): Buffer => createHash('sha256').update(token).digest();

/** The refusal of a call because of its token. */
export const refusal = (message: string): StemmaError => new StemmaError('UNAUTHORIZED', message, { field: 'token' });

/**
 * Who holds the token of a request: a token of this hub, or a token of its issuer. It needs nothing but the header, so it is called before the body
 * of a request is read. @throws UNAUTHORIZED for an unknown, expired or revoked token; UNAVAILABLE if the issuer does not answer.
 */
export async function callerOf(database: HubDatabase, authorization: string | undefined, oidc: Oidc | undefined): Promise<HubCaller> {
  const token = /^Bearer (\S{1,16384})$/.exec(authorization ?? '')?.[1];
  if (token === undefined) throw refusal('The request has no token. Give one with --token or STEMMA_TOKEN.');
  if (oidc && isJwt(token)) return memberWith(database, await oidc.identities(token));
  const row = await validTokens(database).where('hash', '=', hashOfToken(token)).where('identity', 'is', null).executeTakeFirst();
  if (!row) throw refusal('The hub does not accept this token: it is unknown, expired or revoked. Ask an admin of the hub for a new one.');
  return { grants: [grantOf(row)] };
}

/** The caller with the role for a project. A role in the named project takes precedence over a role in all projects. */
export function holderIn({ grants }: HubCaller, project: string | undefined): GrantHolder {
  const grant =
    grants.find(({ opens }) => opens !== undefined && opens.name === project) ?? grants.find((each) => each.project === null) ?? grants[0];
  return { ...grant, grants };
}

type TokenRow = Awaited<ReturnType<ReturnType<typeof validTokens>['executeTakeFirstOrThrow']>>;

const grantOf = ({ shared, against, projectId, projectName, retention, ...row }: TokenRow): Grant => ({
  ...row,
  shared: shared && [shared, ...(against ? [against] : [])],
  opens:
    row.project === null || projectId === null || projectName === null ? undefined : { no: row.project, id: projectId, name: projectName, retention },
});

/** The valid tokens with their projects, because nearly every call needs both. */
const validTokens = ({ all }: HubDatabase) =>
  all
    .selectFrom('token')
    .leftJoin('project', 'project.no', 'token.project')
    .select(['token.no', 'token.name', 'role', 'token.project', 'expires_at as expiresAt', 'shared', 'against'])
    .select(['project.id as projectId', 'project.name as projectName', 'project.retention'])
    .where('revoked_at', 'is', null)
    .where((where) => where.or([where('expires_at', 'is', null), where('expires_at', '>', new Date())]));

async function memberWith(database: HubDatabase, identities: readonly string[]): Promise<HubCaller> {
  const rows = identities.length === 0 ? [] : await validTokens(database).where('identity', 'in', identities).orderBy('token.no', 'desc').execute();
  const [first, ...others] = rows.map(grantOf);
  if (!first)
    throw refusal(
      identities.length === 0
        ? 'Your sign-in names no verified e-mail address, so the hub does not know who you are.'
        : `${identities[0]} is not a member of this hub. Ask an admin of the hub for access.`,
    );
  return { grants: [first, ...others] };
}

/** @throws UNAUTHORIZED if the role does not allow the action. */
export function requireAction({ role }: Pick<Grant, 'role'>, action: Action): void {
  if (!allows({ role }, action)) throw refusal(`Your role is ${role}, which may not ${words[action]}. Ask an admin of the hub for another role.`);
}

/** Whether a role allows an action. */
export const allows = ({ role }: Pick<Grant, 'role'>, action: Action): boolean => allowed[role].includes(action);

export interface OpenProject {
  readonly no: number;
  readonly id: string;
  /** The number of days that contents are kept after their arrival; null means forever. */
  readonly retention: number | null;
}

/** The project that a token may use for an action. One that it does not open looks missing. @throws NOT_FOUND, UNAUTHORIZED */
export async function projectFor({ all }: HubDatabase, holder: GrantHolder, name: string, action?: Action): Promise<OpenProject> {
  const row =
    holder.project === null
      ? await all.selectFrom('project').select(['no', 'id', 'retention']).where('name', '=', name).executeTakeFirst()
      : holder.opens?.name === name
        ? holder.opens
        : undefined;
  if (!row) throw notFound(name, `The hub has no project ${name}, or this token does not open it.`);
  if (action !== undefined) requireAction(holder, action);
  return row;
}
