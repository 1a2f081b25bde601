import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isIP } from 'node:net';
import { ORPCError } from '@orpc/server';
import { RPCHandler } from '@orpc/server/fetch';
import { recent, StemmaError, stringAt } from '../../core/base/index.js';
import { procedureNames } from '../../core/contract/index.js';
import { asRefusal } from '../../core/router/index.js';
import { hubContract } from '../team/index.js';
import { allows, callerOf, type HubCaller, holderIn, requireAction } from './access.js';
import { readBody } from './body.js';
import { openGate } from './gate.js';
import { type HubContext, nameOfError } from './procedure.js';
import type { Refusals } from './refusals.js';
import { hubRouter } from './service.js';
import { requireOpen } from './shares.js';

/** The limits of a hub. A clone or a push makes one call after the other, so it never uses more time than passes. */
export const usualLimits = {
  token: { running: 8, waiting: 64, budgetMs: 60_000, refill: 4 },
  /** Many people may share an address. */
  address: { running: 64, waiting: 512, budgetMs: 300_000, refill: 16 },
  /** Refused tokens of one address at once, and the number that it gets back in each second. */
  refused: { atOnce: 30, perSecond: 0.5 },
};
export type CallLimits = typeof usualLimits;

/** The door of the hub: checks tokens and limits before anything else of a call is read. */
export interface HubDoor {
  /** Answers a call of a procedure. Returns false for any other path. */
  answer(request: IncomingMessage, response: ServerResponse, path: string): boolean;
  /**
   * Runs other work for a caller, such as a page of a share link, within the limits of the token and the address. The audit log calls it `doing`. The
   * token is that of the request, unless `authorization` gives another.
   * @throws UNAUTHORIZED; UNAVAILABLE with `retryAfterMs`; what the work throws
   */
  admit<T>(request: IncomingMessage, doing: string, work: (caller: HubCaller) => Promise<T>, authorization?: string): Promise<T>;
}

const procedures: ReadonlySet<string> = new Set(procedureNames(hubContract));
/** The procedure whose body is a parcel. */
const takesParcel = 'sync.send';
/** Tokens that were valid when they were last used. They stay usable when their address has sent too many others. */
const keptTokens = 10_000;
/** Milliseconds that a refused caller gets to end its body, so that it can read the answer. */
const lingerMs = 1_000;

/** Opens the door of a hub. */
export function openDoor(services: Omit<HubContext, 'authorization' | 'caller'> & { readonly refusals: Refusals }, limits: CallLimits): HubDoor {
  const handler = new RPCHandler(hubRouter);
  const tokens = openGate(limits.token);
  const addresses = openGate(limits.address);
  const { atOnce, perSecond } = limits.refused;
  const failures = openGate({ running: 0, waiting: 0, budgetMs: atOnce, refill: perSecond / 1_000 });
  const valid = recent<string, true>(keptTokens);
  const { database, oidc, metrics, refusals, onProblem } = services;

  const identify = async (authorization: string | undefined, address: string): Promise<HubCaller> => {
    const name = digestToken(authorization ?? '');
    if (!valid.get(name)) failures.require(address);
    try {
      const caller = await callerOf(database, authorization, oidc);
      valid.set(name, true, 1);
      return caller;
    } catch (error) {
      valid.delete(name);
      if (error instanceof StemmaError && error.code === 'UNAUTHORIZED') failures.charge(address, 1);
      throw error;
    }
  };
  const admit: HubDoor['admit'] = async (request, doing, work, authorization = request.headers.authorization) => {
    const address = callerAddress(request);
    const ends: (() => void)[] = [];
    let caller: HubCaller | undefined;
    try {
      caller = await identify(authorization, address);
      // One after the other, the token first: calls that wait for their token, or are refused, must not keep the turns of their address.
      ends.push(await tokens.enter(String(caller.grants[0].no)));
      ends.push(await addresses.enter(address));
      return await work(caller);
    } catch (error) {
      await noteRefusal(refusals, error, doing, address, caller);
      throw error;
    } finally {
      for (const end of ends) end();
    }
  };
  const handled = async (caller: HubCaller, request: IncomingMessage, path: string, procedure: string): Promise<Response> => {
    requireMay(caller, procedure);
    const body = await readBody(request, procedure === takesParcel, String(caller.grants[0].no));
    try {
      const type = request.headers['content-type'];
      const given = { method: 'POST', headers: { ...(type !== undefined && { 'content-type': type }) }, body: body.bytes as never };
      const context = { ...services, authorization: undefined, caller };
      const { response } = await handler.handle(new Request(`http://hub${path}`, given), { prefix: '/rpc', context });
      if (!response) throw new Error('the procedure is not implemented');
      return response;
    } finally {
      body.release();
    }
  };
  const call = async (request: IncomingMessage, response: ServerResponse, path: string): Promise<void> => {
    const [started, procedure] = [performance.now(), path.slice('/rpc/'.length).replaceAll('/', '.')];
    try {
      await admit(request, procedure, async (caller) => {
        const answer = await handled(caller, request, path, procedure);
        const bytes = Buffer.from(await answer.arrayBuffer());
        response.writeHead(answer.status, { ...Object.fromEntries(answer.headers), 'content-length': bytes.length }).end(bytes);
        await sent(response);
      });
    } catch (error) {
      const refusal = asRefusal(error, procedure);
      const isFault = !(refusal instanceof ORPCError);
      metrics?.called(procedure, isFault ? 'INTERNAL_SERVER_ERROR' : refusal.code, performance.now() - started);
      if (isFault) onProblem?.(`${procedure} failed: ${nameOfError(error)}`);
      refuse(request, response, isFault ? new ORPCError('INTERNAL_SERVER_ERROR') : refusal);
    }
  };
  return {
    answer: (request, response, path) => {
      if (!path.startsWith('/rpc/') || !procedures.has(path.slice('/rpc/'.length).replaceAll('/', '.'))) return false;
      if (request.method !== 'POST') response.writeHead(405, { allow: 'POST', connection: 'close' }).end();
      else void call(request, response, path);
      return true;
    },
    admit,
  };
}

const digestToken = (token: string): string => createHash('sha256').update(token).digest('base64');

/** Notes a refused call in the audit log, which is in the database: without it, nothing is noted. */
async function noteRefusal(refusals: Refusals, error: unknown, doing: string, address: string, caller: HubCaller | undefined): Promise<void> {
  const refusal = asRefusal(error, doing);
  if (!(refusal instanceof ORPCError) || (refusal.code === 'UNAVAILABLE' && waitOf(refusal) === undefined)) return;
  const holder = caller && holderIn(caller, undefined);
  const field = stringAt(refusal.data, 'field');
  await refusals.note({ holder, address: holder ? undefined : address, procedure: doing, code: refusal.code, field });
}

/** @throws UNAUTHORIZED if no role of the caller may call the procedure, so that its body is not read. */
function requireMay(caller: HubCaller, procedure: string): void {
  const holder = holderIn(caller, undefined);
  requireOpen(holder, procedure);
  if (procedure === takesParcel && !caller.grants.some((grant) => allows(grant, 'write') || allows(grant, 'review'))) requireAction(holder, 'review');
}

/** Waits until an answer has left: a caller who does not read its answers keeps its turns, so that they cannot fill the memory. */
export async function sent(response: ServerResponse): Promise<void> {
  if (response.writableFinished || response.destroyed) return;
  await new Promise((resolve) => response.once('finish', resolve).once('close', resolve));
}

/** The milliseconds after which a caller who used too much may try again; undefined for any other refusal. */
function waitOf({ data }: ORPCError<string, unknown>): number | undefined {
  const { retryAfterMs } = (data ?? {}) as { readonly retryAfterMs?: unknown };
  return typeof retryAfterMs === 'number' ? retryAfterMs : undefined;
}

/** Answers a refusal. The connection ends, because the rest of the body is not read; what arrives within a moment is dropped. */
function refuse(request: IncomingMessage, response: ServerResponse, refusal: ORPCError<string, unknown>): void {
  if (response.headersSent) return void response.destroy();
  const bytes = Buffer.from(JSON.stringify({ json: refusal.toJSON() }));
  const { status: given } = (refusal.data ?? {}) as { readonly status?: unknown };
  const wait = waitOf(refusal);
  response.writeHead(wait !== undefined ? 429 : typeof given === 'number' ? given : refusal.status, {
    'content-type': 'application/json',
    'content-length': bytes.length,
    ...(wait !== undefined && { 'retry-after': String(Math.ceil(wait / 1_000)) }),
    ...(!request.complete && { connection: 'close' }),
  });
  response.write(bytes);
  if (request.complete) return void response.end();
  const timer = setTimeout(() => request.socket.destroy(), lingerMs);
  request.resume().once('close', () => {
    clearTimeout(timer);
    response.end();
  });
}

/** The address of a caller, as a proxy on this machine or in its network names it. From elsewhere, that header could be invented. */
function callerAddress({ socket, headers }: IncomingMessage): string {
  const peer = (socket.remoteAddress ?? '').replace(/^::ffff:/, '');
  const isNear = /^(?:127\.|10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|::1$|f[cd])/.test(peer);
  const passedOn = headers['x-forwarded-for'];
  const last = (Array.isArray(passedOn) ? passedOn.at(-1) : passedOn)?.split(',').at(-1)?.trim();
  return networkOf(isNear && last !== undefined && isIP(last) !== 0 ? last.replace(/^::ffff:(?=\d+\.)/i, '') : peer);
}

/** An address of IPv6 as its network of 64 bits: a caller has all addresses in it. */
function networkOf(address: string): string {
  if (isIP(address) !== 6) return address;
  const [head = '', tail] = address.replace(/%.*$/, '').split('::');
  const groups = (part: string): string[] => (part === '' ? [] : part.split(':'));
  const missing = tail === undefined ? 0 : 8 - groups(head).length - groups(tail).length;
  const all = [...groups(head), ...Array<string>(Math.max(0, missing)).fill('0'), ...groups(tail ?? '')];
  return `${all
    .slice(0, 4)
    .map((group) => group.toLowerCase().replace(/^0+(?=.)/, ''))
    .join(':')}::/64`;
}
