import { createHash, randomBytes } from 'node:crypto';
import { StemmaError } from '../../core/base/index.js';
import type { HubRole } from '../../core/sync/index.js';
import type { HubDatabase } from './database.js';

/** Who calls: a token of a person or machine. */
export interface Holder {
  readonly no: number;
  readonly name: string;
  readonly role: HubRole;
  /** The number of the only project of the token; null for all. */
  readonly project: number | null;
  readonly expiresAt: Date | null;
  /** Of a share link: the name of the commit that it opens. */
  readonly shared: Buffer | null;
}

/** What a call does. */
export type Action = 'read' | 'review' | 'write' | 'administer';

const allowed: Readonly<Record<HubRole, readonly Action[]>> = {
  reader: ['read'],
  reviewer: ['read', 'review'],
  writer: ['read', 'review', 'write'],
  admin: ['read', 'review', 'write', 'administer'],
  pusher: ['write'],
};

const tokenPrefix = 'stm_';
const tokenBytes = 32;

/** A new token, and the hash that the hub stores of it. */
export function newToken(): { readonly token: string; readonly hash: Buffer } {
  const token = tokenPrefix + randomBytes(tokenBytes).toString('base64url');
  return { token, hash: hashOfToken(token) };
}

const hashOfToken = (token: string): Buffer => createHash('sha256').update(token).digest();

const refusal = (message: string): StemmaError => new StemmaError('UNAUTHORIZED', message, { field: 'token' });

/** Who holds the token of a request. @throws UNAUTHORIZED for an unknown, expired or revoked one. */
export async function holderOf({ all }: HubDatabase, authorization: string | undefined): Promise<Holder> {
  const token = /^Bearer (\S+)$/.exec(authorization ?? '')?.[1];
  if (token === undefined) throw refusal('The request has no token. Give one with --token or STEMMA_TOKEN.');
  const row = await all
    .selectFrom('token')
    .select(['no', 'name', 'role', 'project', 'expires_at', 'revoked_at', 'shared'])
    .where('hash', '=', hashOfToken(token))
    .executeTakeFirst();
  if (!row || row.revoked_at !== null || (row.expires_at !== null && row.expires_at.getTime() <= Date.now()))
    throw refusal('The hub does not accept this token: it is unknown, expired or revoked. Ask an admin of the hub for a new one.');
  return { no: row.no, name: row.name, role: row.role, project: row.project, expiresAt: row.expires_at, shared: row.shared };
}

/** @throws UNAUTHORIZED if the role does not allow the action. */
export function requireAction({ role }: Holder, action: Action): void {
  if (!allowed[role].includes(action)) throw refusal(`This token has the role ${role}, which may not ${action}.`);
}

/** Whether a role allows an action. */
export const allows = ({ role }: Holder, action: Action): boolean => allowed[role].includes(action);

/**
 * The number and id of a project that a token may use for an action. A project of others looks like one that does not exist.
 * @throws NOT_FOUND, UNAUTHORIZED.
 */
export async function projectFor(
  { all }: HubDatabase,
  holder: Holder,
  name: string,
  action?: Action,
): Promise<{ readonly no: number; readonly id: string }> {
  const row = await all.selectFrom('project').select(['no', 'id']).where('name', '=', name).executeTakeFirst();
  if (!row || (holder.project !== null && holder.project !== row.no))
    throw new StemmaError('NOT_FOUND', `The hub has no project ${name}, or this token does not open it.`, { id: name });
  if (action !== undefined) requireAction(holder, action);
  return row;
}
