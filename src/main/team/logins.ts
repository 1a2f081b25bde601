import { createHash } from 'node:crypto';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Configuration, TokenEndpointResponse, TokenEndpointResponseHelpers } from 'openid-client';
import { isObject, type Json, parseJson, StemmaError, stringAt } from '../../core/base/index.js';
import { makeFolders, readInside, replaceFile } from '../../core/files/index.js';
import type { Vault } from '../../core/replicas/index.js';
import type { PendingSignIn } from '../../core/sync/index.js';
import { readWithin } from './bounded.js';

interface Issuer {
  readonly issuer: string;
  readonly client: string;
  readonly audience: string;
}

interface Login extends Issuer {
  readonly hub: string;
  readonly bearer: string;
  readonly refresh?: string | undefined;
  /** Milliseconds since 1970. */
  readonly endsAt: number;
}

/** The sign-ins of this machine, one for each hub. They are stored in Stemma's own folder. */
export interface Logins {
  /** Returns a token for a hub, renewed if it expires soon. @throws UNAUTHORIZED if nobody signed in, or if the sign-in has expired. */
  bearer(hub: string): Promise<string>;
  /** Begins a sign-in. @throws NOT_FOUND if the hub has no issuer. */
  signIn(hub: string): Promise<PendingSignIn>;
  signOut(hub: string): void;
}

const answerMs = 10_000;
/** The number of checks, and the milliseconds between them, for a sign-in that another process renews. */
const looks = { max: 10, ms: 200 };
/** The largest answer of a hub or an issuer about a sign-in, in bytes. */
const maxAnswerBytes = 1024 * 1024;
/** The largest file of a stored sign-in, in bytes. */
const maxFileBytes = 1024 * 1024;
/** A token is renewed this many milliseconds before it expires. */
const marginMs = 60_000;

/** Loaded at the first use, because every command starts an engine but few commands sign in. */
const openid = () => import('openid-client');

/** Opens the sign-ins stored in `dataDir`. The operating system seals them if it can; otherwise they are in a file that only this user can read. */
export function openLogins(dataDir: string, vault?: Vault): Logins {
  const folder = join(dataDir, 'logins');
  const loginFile = (hub: string): string => join(folder, `${createHash('sha256').update(hubOrigin(hub)).digest('hex')}.json`);
  const stored = (hub: string): Json | undefined =>
    existsSync(loginFile(hub)) ? parseJson(readInside(folder, loginFile(hub), { limit: maxFileBytes }).toString('utf8')) : undefined;
  const read = async (hub: string): Promise<Login | undefined> => {
    const found = stored(hub);
    const sealed = stringAt(found, 'sealed');
    const login = sealed === undefined ? found : parseJson((await vault?.unseal(sealed)) ?? '');
    return isLogin(login) && login.hub === hubOrigin(hub) ? login : undefined;
  };
  const save = async (login: Login): Promise<void> => {
    // A command line without a keyring must be able to read its sign-in again, so a sign-in that was stored unsealed stays unsealed.
    const isPlain = stringAt(stored(login.hub), 'bearer') !== undefined;
    const sealed = isPlain ? undefined : await vault?.seal(JSON.stringify(login)).catch(() => undefined);
    makeFolders(folder);
    replaceFile(loginFile(login.hub), `${JSON.stringify(sealed === undefined ? login : { sealed }, null, 2)}\n`);
  };
  /** Renewals in progress. An issuer accepts a refresh token only once. */
  const renewing = new Map<string, Promise<string>>();
  const renew = async (login: Login): Promise<string> => {
    try {
      return await renewed(login, save);
    } catch {
      // Another process may have used the refresh token a moment ago, and is about to store the new token.
      for (let look = 0; look < looks.max; look++) {
        const now = await read(login.hub);
        if (now && now.bearer !== login.bearer) return now.bearer;
        if (login.endsAt > Date.now()) return login.bearer;
        await wait(looks.ms);
      }
      throw signInFirst(login.hub, 'The sign-in has ended at');
    }
  };
  return {
    bearer: async (hub) => {
      const login = await read(hub);
      if (!login) throw signInFirst(hub, 'This machine is not signed in at');
      if (login.endsAt - marginMs > Date.now()) return login.bearer;
      const running = renewing.get(login.hub) ?? renew(login).finally(() => renewing.delete(login.hub));
      renewing.set(login.hub, running);
      return running;
    },
    signIn: async (hub) => {
      const issuer = await issuerOf(hub);
      const { initiateDeviceAuthorization, pollDeviceAuthorizationGrant } = await openid();
      const config = await configure(issuer);
      const scopes = config.serverMetadata().scopes_supported;
      const scope = ['openid', 'email', ...(scopes?.includes('offline_access') ? ['offline_access'] : [])].join(' ');
      const device = await initiateDeviceAuthorization(config, { scope });
      return {
        issuer: issuer.issuer,
        address: device.verification_uri_complete ?? device.verification_uri,
        code: device.user_code,
        entered: async (signal) => {
          const answer = await pollDeviceAuthorizationGrant(config, device, undefined, signal && { signal }).catch((error: Error) => {
            const reason = stringAt(error, 'error') ?? error.message;
            throw new StemmaError(
              'UNAUTHORIZED',
              `You are not signed in at ${hub}: the issuer answered ${reason}. Try again.`,
              { hub, reason },
              { cause: error },
            );
          });
          await save(loginWith({ ...issuer, hub: hubOrigin(hub) }, answer));
        },
      };
    },
    signOut: (hub) => rmSync(loginFile(hub), { force: true }),
  };
}

const hubOrigin = (hub: string): string => new URL(hub).href.replace(/\/+$/, '');

const signInFirst = (hub: string, what: string): StemmaError =>
  new StemmaError('UNAUTHORIZED', `${what} ${hub}. Sign in in Settings, Team, or with \`stemma login ${hub}\`, or give a token.`, {
    field: 'token',
    hub,
  });

const isLogin = (value: Json | undefined): value is Json & Login =>
  isObject(value) &&
  ['hub', 'issuer', 'client', 'audience', 'bearer'].every((key) => typeof value[key] === 'string') &&
  typeof value.endsAt === 'number';

/** Asks a hub for its issuer. @throws NOT_FOUND if it has no issuer; UNAVAILABLE if it does not answer. */
async function issuerOf(hub: string): Promise<Issuer> {
  const answer = await fetch(`${hubOrigin(hub)}/oidc`, { redirect: 'error', signal: AbortSignal.timeout(answerMs) }).catch((error: Error) => {
    throw new StemmaError('UNAVAILABLE', `The hub ${hub} does not answer: ${error.message}.`, { hub, reason: error.message });
  });
  const text = answer.ok ? (await readWithin(answer, maxAnswerBytes))?.toString('utf8') : undefined;
  const about = text === undefined ? undefined : parseJson(text);
  const [issuer, client, audience] = ['issuer', 'client', 'audience'].map((key) => stringAt(about, key));
  if (issuer === undefined || client === undefined || audience === undefined)
    throw new StemmaError('NOT_FOUND', `The hub ${hub} has no issuer to sign in at. Ask an admin of the hub for a token.`, { id: hub });
  if (!mayAsk(issuer, hub))
    throw new StemmaError(
      'UNAVAILABLE',
      `The hub ${hub} names ${JSON.stringify(issuer.slice(0, 200))} as its issuer. An issuer has an https address, or one on this machine if the hub is on it, too.`,
      { hub, reason: 'bad issuer' },
    );
  return { issuer, client, audience };
}

const isHere = ({ hostname }: URL): boolean => ['localhost', '127.0.0.1', '[::1]'].includes(hostname);

/** Whether this machine asks the issuer that a hub names: a hub elsewhere must not make it call its own services. */
function mayAsk(issuer: string, hub: string): boolean {
  const url = URL.parse(issuer);
  return url !== null && (isHere(url) ? isHere(new URL(hub)) && /^https?:$/.test(url.protocol) : url.protocol === 'https:');
}

/** An answer of an issuer, which the hub chose. */
const boundedFetch = async (address: string, options: object): Promise<Response> => {
  const answer = await fetch(address, { ...options, redirect: 'error' });
  const bytes = await readWithin(answer, maxAnswerBytes);
  if (!bytes) throw new Error(`${address} answers with more than ${maxAnswerBytes} bytes`);
  return new Response(bytes, { status: answer.status, statusText: answer.statusText, headers: answer.headers });
};

/** Discovers the issuer's endpoints. Only an issuer on this machine may use HTTP without TLS. */
const configure = async ({ issuer, client }: Issuer): Promise<Configuration> => {
  const { allowInsecureRequests, customFetch, discovery, None } = await openid();
  const url = new URL(issuer);
  return discovery(url, client, undefined, None(), { [customFetch]: boundedFetch, ...(isHere(url) && { execute: [allowInsecureRequests] }) });
};

async function renewed(login: Login, save: (login: Login) => Promise<void>): Promise<string> {
  if (login.refresh === undefined) throw signInFirst(login.hub, 'The sign-in has ended at');
  const { refreshTokenGrant } = await openid();
  const next = loginWith(login, await refreshTokenGrant(await configure(login), login.refresh));
  await save(next);
  return next.bearer;
}

/** The token that the hub accepts: the id token, whose audience is the client, or the access token if the audience is a separate API. */
function loginWith(
  login: Issuer & { readonly hub: string; readonly refresh?: string },
  answer: TokenEndpointResponse & TokenEndpointResponseHelpers,
): Login {
  const { hub, issuer, client, audience } = login;
  const bearer = client === audience ? (answer.id_token ?? answer.access_token) : answer.access_token;
  const seconds = client === audience && answer.id_token !== undefined ? secondsLeft(answer) : answer.expiresIn();
  return { hub, issuer, client, audience, bearer, refresh: answer.refresh_token ?? login.refresh, endsAt: Date.now() + (seconds ?? 0) * 1_000 };
}

const secondsLeft = (answer: TokenEndpointResponseHelpers): number | undefined => {
  const end = answer.claims()?.exp;
  return end === undefined ? undefined : end - Date.now() / 1_000;
};
