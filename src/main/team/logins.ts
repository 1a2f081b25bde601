import { createHash } from 'node:crypto';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Configuration, TokenEndpointResponse, TokenEndpointResponseHelpers } from 'openid-client';
import { isObject, type Json, parseJson, StemmaError, stringAt } from '../../core/base/index.js';
import { makeFolders, readInside, replaceFile } from '../../core/files/index.js';
import type { Vault } from '../../core/replicas/index.js';
import type { SignIn } from '../../core/sync/index.js';

/** The issuer of a hub, as the hub names it. */
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
  /** A token for a hub, renewed if it ends soon. @throws UNAUTHORIZED if nobody signed in, or the sign-in has ended. */
  bearer(hub: string): Promise<string>;
  /** Begins to sign in. @throws NOT_FOUND if the hub has no issuer. */
  signIn(hub: string): Promise<SignIn>;
  signOut(hub: string): void;
}

const answerMs = 10_000;
/** How often, and after how many milliseconds, a sign-in that another process renews is looked for. */
const looks = { max: 10, ms: 200 };
/** Bytes of a stored sign-in. */
const maxFileBytes = 1024 * 1024;
/** Milliseconds before its end at which a token is renewed. */
const marginMs = 60_000;

/** Loaded at the first use: every command starts an engine, and few sign in. */
const openid = () => import('openid-client');

/** Opens the sign-ins stored in `dataDir`. They are sealed by the operating system where it can; else only this user can read the file. */
export function openLogins(dataDir: string, vault?: Vault): Logins {
  const folder = join(dataDir, 'logins');
  const fileOf = (hub: string): string => join(folder, `${createHash('sha256').update(originOf(hub)).digest('hex')}.json`);
  const stored = (hub: string): Json | undefined =>
    existsSync(fileOf(hub)) ? parseJson(readInside(folder, fileOf(hub), { limit: maxFileBytes }).toString('utf8')) : undefined;
  const read = async (hub: string): Promise<Login | undefined> => {
    const found = stored(hub);
    const sealed = stringAt(found, 'sealed');
    const login = sealed === undefined ? found : parseJson((await vault?.unseal(sealed)) ?? '');
    return isLogin(login) && login.hub === originOf(hub) ? login : undefined;
  };
  const save = async (login: Login): Promise<void> => {
    // A command line without a keyring must be able to read what it stored, so a renewed login stays as it was.
    const isPlain = stringAt(stored(login.hub), 'bearer') !== undefined;
    const sealed = isPlain ? undefined : await vault?.seal(JSON.stringify(login)).catch(() => undefined);
    makeFolders(folder);
    replaceFile(fileOf(login.hub), `${JSON.stringify(sealed === undefined ? login : { sealed }, null, 2)}\n`);
  };
  /** Renewals under way: an issuer takes a refresh token once. */
  const renewing = new Map<string, Promise<string>>();
  const renew = async (login: Login): Promise<string> => {
    try {
      return await renewed(login, save);
    } catch {
      // Another process may have used the refresh token a moment ago, and stores what it got.
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
          await save(loginWith({ ...issuer, hub: originOf(hub) }, answer));
        },
      };
    },
    signOut: (hub) => rmSync(fileOf(hub), { force: true }),
  };
}

const originOf = (hub: string): string => new URL(hub).href.replace(/\/+$/, '');

const signInFirst = (hub: string, what: string): StemmaError =>
  new StemmaError('UNAUTHORIZED', `${what} ${hub}. Sign in in Settings, Team, or with \`stemma login ${hub}\`, or give a token.`, {
    field: 'token',
    hub,
  });

const isLogin = (value: Json | undefined): value is Json & Login =>
  isObject(value) &&
  ['hub', 'issuer', 'client', 'audience', 'bearer'].every((key) => typeof value[key] === 'string') &&
  typeof value.endsAt === 'number';

/** Asks a hub who signs its members in. @throws NOT_FOUND if it has no issuer; UNAVAILABLE if it does not answer. */
async function issuerOf(hub: string): Promise<Issuer> {
  const answer = await fetch(`${originOf(hub)}/oidc`, { redirect: 'error', signal: AbortSignal.timeout(answerMs) }).catch((error: Error) => {
    throw new StemmaError('UNAVAILABLE', `The hub ${hub} does not answer: ${error.message}.`, { hub, reason: error.message });
  });
  const about: unknown = answer.ok ? await answer.json() : undefined;
  const [issuer, client, audience] = ['issuer', 'client', 'audience'].map((key) => stringAt(about, key));
  if (issuer === undefined || client === undefined || audience === undefined)
    throw new StemmaError('NOT_FOUND', `The hub ${hub} has no issuer to sign in at. Use a token that an admin of the hub gives you.`, { id: hub });
  return { issuer, client, audience };
}

/** Finds the issuer's addresses. HTTP without TLS is for an issuer on this machine only. */
const configure = async ({ issuer, client }: Issuer): Promise<Configuration> => {
  const { allowInsecureRequests, discovery, None } = await openid();
  const isLoopback = ['localhost', '127.0.0.1', '[::1]'].includes(new URL(issuer).hostname);
  return discovery(new URL(issuer), client, undefined, None(), isLoopback ? { execute: [allowInsecureRequests] } : undefined);
};

async function renewed(login: Login, save: (login: Login) => Promise<void>): Promise<string> {
  if (login.refresh === undefined) throw signInFirst(login.hub, 'The sign-in has ended at');
  const { refreshTokenGrant } = await openid();
  const next = loginWith(login, await refreshTokenGrant(await configure(login), login.refresh));
  await save(next);
  return next.bearer;
}

/** The token that the hub accepts: the id token, which is for the client; an access token where the audience is an API of its own. */
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
