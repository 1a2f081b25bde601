import { setTimeout as wait } from 'node:timers/promises';
import { createORPCClient, ORPCError } from '@orpc/client';
import { RPCLink } from '@orpc/client/fetch';
import type { ContractRouterClient } from '@orpc/contract';
import type { z } from 'zod';
import { errorCodes, StemmaError, stringAt } from '../../core/base/index.js';
import { type HubAddress, type ManagedHub, unpackTexts } from '../../core/sync/index.js';
import { excessIn, readWithin } from './bounded.js';
import type { Logins } from './logins.js';
import { type HubContract, hubContract } from './wire.js';

export type HubClient = ContractRouterClient<HubContract>;

/** The time limit of a call, in milliseconds. */
const answerMs = 120_000;
/** The largest answer of a call, as it is sent. A hub answers with parcels of some 40 MB at most. */
const maxAnswerBytes = 256 * 1024 * 1024;
/** The most of an answer besides its parcels. */
const answerBounds = { parts: 8, json: { levels: 32, members: 2_000_000 } } as const;

/** Calls a hub, with a token or as the person who signed in. Refusals keep their code and message; no answer is UNAVAILABLE. */
export function hubClient({ hub, token }: Pick<HubAddress, 'hub' | 'token'>, logins?: Logins): HubClient {
  const link = new RPCLink({
    url: `${hub.replace(/\/+$/, '')}/rpc`,
    headers: async () => ({ authorization: `Bearer ${token ?? (await logins?.bearer(hub)) ?? ''}` }),
    fetch: async (request, init) => limited(hub, await fetchPatiently(request, { ...init, redirect: 'error' })),
    interceptors: [
      async ({ next, path }) => {
        try {
          return checked(hub, path, await next());
        } catch (error) {
          throw asError(hub, error);
        }
      },
    ],
  });
  return createORPCClient<HubClient>(link);
}

/** The number of times that a call is made again, and the longest time that this machine waits for it, in seconds. */
const patience = { times: 3, seconds: 15 };

/** Makes a call. If the hub asks this machine to wait a moment, waits and makes it again. */
async function fetchPatiently(request: Request, init: RequestInit): Promise<Response> {
  for (let left = patience.times; ; left--) {
    const call = left > 0 ? request.clone() : request;
    const answer = await fetch(call, { ...init, signal: AbortSignal.any([request.signal, AbortSignal.timeout(answerMs)]) });
    const seconds = Number(answer.headers.get('retry-after') ?? Number.NaN);
    if (answer.status !== 429 || left === 0 || !(seconds >= 0 && seconds <= patience.seconds)) return answer;
    await answer.body?.cancel();
    await wait(seconds * 1_000, undefined, { signal: request.signal });
  }
}

/** The answer, read to its end: fails once it is too large, and before anything costly is parsed. @throws UNAVAILABLE */
async function limited(hub: string, answer: Response): Promise<Response> {
  const refused = (what: string): StemmaError =>
    new StemmaError('UNAVAILABLE', `The hub ${hub} answers with ${what}. Its answer was not read.`, { hub, reason: 'bad answer' });
  if (!answer.body) return answer;
  const bytes = await readWithin(answer, maxAnswerBytes);
  if (!bytes) throw refused(`more than ${maxAnswerBytes / 1024 ** 2} MB to one call`);
  const type = answer.headers.get('content-type') ?? '';
  // Only answers that are files have the header Content-Disposition.
  const excess = answer.headers.has('content-disposition') ? undefined : excessIn(bytes, type, answerBounds);
  if (excess !== undefined) throw refused(`a body that this machine does not read: ${excess}`);
  return new Response(bytes, { status: answer.status, statusText: answer.statusText, headers: answer.headers });
}

/** An answer that its schema accepts: a hub can answer anything, and nothing unchecked may reach a list, a link or a file. @throws UNAVAILABLE */
function checked(hub: string, path: readonly string[], answer: unknown): unknown {
  const at = path.reduce<unknown>((node, name) => (node as Readonly<Record<string, unknown>>)[name], hubContract);
  const { outputSchema } = (at as HubContract['sync']['hello'])['~orpc'];
  const found = (outputSchema as z.ZodType).safeParse(answer);
  if (found.success) return found.data;
  const [issue] = found.error.issues;
  const field = issue?.path.map(String).join('.') || 'the answer';
  throw new StemmaError(
    'UNAVAILABLE',
    `The hub ${hub} answers ${path.join('.')} with a value that is not allowed: ${field.slice(0, 100)}: ${issue?.message.slice(0, 200)}. Nothing of the answer was used.`,
    { hub, reason: 'bad answer' },
  );
}

function asError(hub: string, error: unknown): StemmaError {
  if (error instanceof StemmaError) return error;
  const { cause } = error as { readonly cause?: unknown };
  if (cause instanceof StemmaError) return cause;
  const code = error instanceof ORPCError ? errorCodes.find((each) => each === error.code) : undefined;
  if (error instanceof ORPCError && code !== undefined)
    return new StemmaError(code, named(hub, error.message), { hub, ...(code === 'UNAUTHORIZED' && { field: 'token' }) });
  if (error instanceof ORPCError)
    return new StemmaError('UNAVAILABLE', answeredWith(hub, error), { hub, reason: `status ${error.status}` }, { cause: error });
  const { message } = error as Error;
  const reason = stringAt(cause, 'code') ?? (message === 'fetch failed' ? stringAt(cause, 'message') : undefined) ?? message;
  return new StemmaError('UNAVAILABLE', unreachable(hub, reason), { hub, reason }, { cause: error });
}

/** Adds the address of the hub to its message, because a person may use several hubs. */
const named = (hub: string, message: string): string =>
  /^The hub /.test(message) ? message.replace('The hub', `The hub ${hub}`) : `The hub ${hub} answers: ${message}`;

/** An answer with an unusual status. Often a proxy in front of the hub gave it. */
function answeredWith(hub: string, { status, message }: ORPCError<string, unknown>): string {
  const advice =
    status === 413
      ? 'A proxy in front of the hub rejects requests of this size: allow 64 MB.'
      : status === 429 || status >= 500
        ? 'Try again later: what has arrived stays.'
        : 'Check its address.';
  return `The hub ${hub} answers with status ${status} (${message.slice(0, 200)}). ${advice}`;
}

/** Explains why the hub did not answer, and what to do. */
function unreachable(hub: string, reason: string): string {
  if (/CERT|SIGNATURE|ISSUER/.test(reason))
    return `This machine does not trust the certificate of the hub ${hub} (${reason}). Ask who runs the hub, or name its authority in NODE_EXTRA_CA_CERTS.`;
  if (/^(?:Invalid RPC|Cannot parse) response/.test(reason)) return `The hub ${hub} did not answer like a Stemma hub. Check its address.`;
  const other = hub.startsWith('https') ? 'http' : 'https';
  if (reason === 'UND_ERR_SOCKET' || reason === 'ECONNRESET')
    return `The hub ${hub} ended the connection before it answered. Try again: what has arrived stays. If it never answers, check whether its address begins with ${other}://.`;
  if (reason === 'ERR_SSL_WRONG_VERSION_NUMBER' || reason === 'ERR_SSL_PACKET_LENGTH_TOO_LONG')
    return `The hub ${hub} does not answer over TLS. Check whether its address begins with ${other}://.`;
  return `The hub ${hub} does not answer: ${reason}. Check its address, and whether it runs.`;
}

/** A project on a hub, as the interface that `core/sync` uses. */
export const hubAt = (address: HubAddress, logins?: Logins): ManagedHub => hubOver(hubClient(address, logins), address.project);

/** The same over any client, such as a client in the hub's own process. */
export function hubOver({ sync, projects, members, audit }: HubClient, project: string): ManagedHub {
  const readBlob = async (blob: Blob): Promise<Uint8Array> => new Uint8Array(await blob.arrayBuffer());
  return {
    hello: () => sync.hello({ project }),
    lack: (items, objects) => sync.lack({ project, items: items.map(([kind, key, digest]) => [kind, key, digest]), objects: [...objects] }),
    send: (parcel) => sync.send({ project, parcel: new Blob([parcel as Uint8Array<ArrayBuffer>], { type: 'application/zstd' }) }),
    items: async (after) => {
      const { parcel, ...page } = await sync.items({ project, after });
      return { ...page, parcel: await readBlob(parcel) };
    },
    objects: async (hashes) => readBlob(await sync.objects({ project, hashes: [...hashes] })),
    outlines: async (contents, along = []) => {
      const { version, outlines, objects } = await sync.outlines({
        project,
        contents: contents.map(([hash, format]) => [hash, format]),
        ...(along.length > 0 && { objects: [...along] }),
      });
      return { version, outlines: unpackTexts(await readBlob(outlines)), objects: objects && (await readBlob(objects)) };
    },
    join: async ({ parts, ...object }) => {
      await sync.join({ project, ...object, parts: [...parts] });
    },
    about: (hashes) => sync.about({ project, hashes: [...hashes] }),
    create: async () => {
      await projects.create({ project });
    },
    retain: async (days) => {
      await projects.retain({ project, days });
    },
    members: () => members.list({ project }),
    invite: async ({ identity, ...input }) =>
      identity === undefined ? members.add({ project, ...input }) : { ...(await members.grant({ project, identity, ...input })), token: null },
    share: (input) => members.share({ project, ...input }),
    revoke: async (id, keep = []) => {
      // An older hub knows no `keep`, and revokes the token alone.
      const { made = [], ...revoked } = await members.revoke({ id, ...(keep.length > 0 && { keep: [...keep] }) });
      return { ...revoked, made };
    },
    audit: (page) => audit.list({ project, ...page }),
  };
}
