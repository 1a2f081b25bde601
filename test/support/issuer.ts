import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';

/** A small OpenID Connect issuer on loopback: discovery, keys, device codes and refresh. */
export interface TestIssuer {
  readonly url: string;
  /** Signs a token with the issuer's key, unless another is given. */
  token(
    claims: JWTPayload,
    change?: { readonly audience?: string; readonly issuer?: string; readonly expires?: number; readonly key?: CryptoKey },
  ): Promise<string>;
  /** Who enters the next codes. */
  person: JWTPayload;
  /** Seconds that a token of a device holds. */
  seconds: number;
  /** Polls that get no answer yet. */
  pending: number;
  close(): Promise<void>;
}

/** Starts an issuer whose tokens are for `stemma`. */
export async function startTestIssuer(): Promise<TestIssuer> {
  const { publicKey, privateKey } = await generateKeyPair('ES256');
  const key = { ...(await exportJWK(publicKey)), kid: 'one', alg: 'ES256', use: 'sig' };
  let refresh = 0;
  const issuer: TestIssuer = {
    url: '',
    person: {},
    seconds: 600,
    pending: 0,
    token: (claims, change = {}) =>
      new SignJWT(claims)
        .setProtectedHeader({ alg: 'ES256', kid: 'one' })
        .setIssuedAt()
        .setIssuer(change.issuer ?? issuer.url)
        .setAudience(change.audience ?? 'stemma')
        .setExpirationTime(Math.floor(Date.now() / 1_000) + (change.expires ?? 600))
        .sign(change.key ?? privateKey),
    close: () => new Promise((resolve) => void server.close(() => resolve()).closeAllConnections()),
  };
  const answer = async (path: string, form: URLSearchParams): Promise<[status: number, body: object]> => {
    if (path === '/.well-known/openid-configuration') return [200, about(issuer.url)];
    if (path === '/keys') return [200, { keys: [key] }];
    if (path === '/device')
      return [200, { device_code: 'device', user_code: 'ABCD-EFGH', verification_uri: `${issuer.url}/enter`, expires_in: 60, interval: 0.01 }];
    if (path !== '/token') return [404, {}];
    if (form.get('grant_type') === 'refresh_token' && form.get('refresh_token') !== `refresh-${refresh}`) return [400, { error: 'invalid_grant' }];
    if (issuer.pending-- > 0) return [400, { error: 'authorization_pending' }];
    refresh += 1;
    const id_token = await issuer.token(issuer.person, { expires: issuer.seconds });
    return [200, { access_token: 'opaque', token_type: 'Bearer', id_token, refresh_token: `refresh-${refresh}`, expires_in: issuer.seconds }];
  };
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => {
      body += chunk.toString();
    });
    request.on('end', () => {
      void answer(request.url ?? '', new URLSearchParams(body)).then(([status, json]) =>
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(json)),
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  return Object.assign(issuer, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
}

const about = (url: string): object => ({
  issuer: url,
  jwks_uri: `${url}/keys`,
  token_endpoint: `${url}/token`,
  device_authorization_endpoint: `${url}/device`,
  authorization_endpoint: `${url}/authorize`,
  response_types_supported: ['code'],
  subject_types_supported: ['public'],
  id_token_signing_alg_values_supported: ['ES256'],
  scopes_supported: ['openid', 'email', 'offline_access'],
});
