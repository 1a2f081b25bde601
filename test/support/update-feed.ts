import { execFileSync } from 'node:child_process';
import { createHash, generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { signatureOf } from '../../src/main/start/release.js';

/** The key of the tests' releases: packages of tests prove updates with its public half. */
const signingKey = generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();

/** The public key for STEMMA_UPDATE_KEY. */
export const updateKey = signatureOf('', signingKey).key;

/** A release of a feed: the manifest, its signature, and the file that it names. */
export interface Release {
  readonly manifest: string;
  readonly signature: string;
  readonly file: Buffer;
}

/** A signed release of an AppImage. `at` is where the manifest says that the file lies. */
export function releaseOf(version: string, file: Buffer, at = `Stemma-${version}.AppImage`): Release {
  const sha512 = createHash('sha512').update(file).digest('base64');
  const manifest = [
    `version: ${version}`,
    'files:',
    `  - url: ${at}`,
    `    sha512: ${sha512}`,
    `    size: ${file.length}`,
    `path: ${at}`,
    `sha512: ${sha512}`,
    "releaseDate: '2026-11-28T00:00:00.000Z'",
    '',
  ].join('\n');
  return { manifest, signature: signatureOf(manifest, signingKey).signature, file };
}

/** A feed over HTTPS on loopback, with a certificate that signs itself. */
export interface Feed extends AsyncDisposable {
  readonly address: string;
  /** The paths that were asked for. */
  readonly asked: readonly string[];
  offer(release: Release): void;
}

/** Starts a feed. Undefined if this machine has no openssl, which makes its certificate. */
export async function startFeed(): Promise<Feed | undefined> {
  const folder = mkdtempSync(join(tmpdir(), 'stemma-feed-'));
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const words = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2', '-subj', '/CN=127.0.0.1'];
  try {
    execFileSync('openssl', [...words, '-keyout', key, '-out', cert], { stdio: 'ignore' });
  } catch {
    return undefined;
  }
  const asked: string[] = [];
  let offered: Release | undefined;
  const server = createServer({ key: readFileSync(key), cert: readFileSync(cert) }, ({ url = '' }, response) => {
    const path = new URL(url, 'https://feed').pathname;
    asked.push(path);
    const body = path.endsWith('.yml')
      ? offered?.manifest
      : path.endsWith('.yml.sig')
        ? offered?.signature
        : path.endsWith('.AppImage')
          ? offered?.file
          : undefined;
    response.writeHead(body === undefined ? 404 : 200).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    address: `https://127.0.0.1:${(server.address() as AddressInfo).port}/stemma/`,
    asked,
    offer: (release) => {
      offered = release;
    },
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
