import { createRemoteJWKSet, errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose';
import { badRequest, isObject, StemmaError, stringAt, unavailable } from '../../core/base/index.js';

export interface OidcOptions {
  /** The address of the issuer, exactly as its tokens name it. */
  readonly issuer: string;
  /** The audience that a token must name. */
  readonly audience: string;
  /** The client id for `stemma login`, if it differs from the audience. */
  readonly client?: string | undefined;
}

/** Verifies tokens of an OpenID Connect issuer. */
export type Oidc = ReturnType<typeof openOidc>;

/** The accepted signature algorithms. They need the issuer's private key; `none` and shared secrets are excluded. */
const algorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'];
/** The tolerated difference between the clocks of hub and issuer, in seconds. */
const clockTolerance = 30;
const answerMs = 10_000;

/** Whether a token can be one of an issuer: three parts, as a signed JWT has. */
export const isJwt = (token: string): boolean => /^[\w-]+\.[\w-]+\.[\w-]*$/.test(token);

/** Prepares the verification. The issuer is asked at the first token. @throws BAD_REQUEST for an issuer without TLS, unless it is on loopback. */
export function openOidc({ issuer, audience, client = audience }: OidcOptions) {
  requireSafe(issuer, 'oidc-issuer');
  let found: Promise<JWTVerifyGetKey> | undefined;
  const keys = (): Promise<JWTVerifyGetKey> => {
    found ??= keysOf(issuer).catch((error: unknown) => {
      found = undefined;
      throw error;
    });
    return found;
  };
  return {
    about: { issuer, audience, client },
    /** The verified e-mail address and the subject of a token. @throws UNAUTHORIZED; UNAVAILABLE if the issuer does not answer */
    identities: async (token: string): Promise<readonly string[]> => {
      try {
        const { payload } = await jwtVerify(token, await keys(), { issuer, audience, algorithms, clockTolerance, requiredClaims: ['exp', 'sub'] });
        return identitiesIn(payload);
      } catch (error) {
        throw asRefusal(error, issuer);
      }
    },
  };
}

/** A name with `@` counts only if the issuer verified it: otherwise, a subject could imitate the address of another person. */
function identitiesIn({ email, email_verified: isVerified, sub }: JWTPayload): string[] {
  const names = [];
  if (typeof email === 'string' && isVerified === true) names.push(email.toLowerCase());
  if (typeof sub === 'string' && !sub.includes('@')) names.push(sub);
  return names;
}

async function keysOf(issuer: string): Promise<JWTVerifyGetKey> {
  const place = `${issuer.replace(/\/+$/, '')}/.well-known/openid-configuration`;
  const answer = await fetch(place, { redirect: 'error', signal: AbortSignal.timeout(answerMs) });
  const about: unknown = answer.ok ? await answer.json() : undefined;
  const keys = stringAt(about, 'jwks_uri');
  if (!isObject(about) || about.issuer !== issuer || keys === undefined) throw new Error(`${place} does not describe the issuer ${issuer}`);
  requireSafe(keys, 'jwks_uri');
  return createRemoteJWKSet(new URL(keys), { timeoutDuration: answerMs });
}

/** @throws BAD_REQUEST for an address without TLS, because others on the network could change its answers. */
function requireSafe(address: string, field: string): void {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  const isLoopback = url !== undefined && ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname);
  if (url?.protocol !== 'https:' && !(url?.protocol === 'http:' && isLoopback))
    throw badRequest(field, `The issuer needs an https address, but ${field} is ${address}.`);
}

const falseToken = [
  errors.JWTExpired,
  errors.JWTClaimValidationFailed,
  errors.JWTInvalid,
  errors.JWSInvalid,
  errors.JWSSignatureVerificationFailed,
  errors.JOSEAlgNotAllowed,
  errors.JOSENotSupported,
  errors.JWKSNoMatchingKey,
  errors.JWKSMultipleMatchingKeys,
];

function asRefusal(error: unknown, issuer: string): StemmaError {
  const { message } = error as Error;
  if (falseToken.some((each) => error instanceof each))
    return new StemmaError('UNAUTHORIZED', `The hub does not accept this sign-in: ${message}. Run \`stemma login\` again.`, { field: 'token' });
  const problem = `The hub cannot verify the sign-in, because its issuer ${issuer} does not answer: ${message}.`;
  return unavailable(problem, { reason: message }, { cause: error });
}
