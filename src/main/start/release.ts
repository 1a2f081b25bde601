// release: two steps of a release (docs/releases.md). `notes TAG` prints what the changelog says about a version, after it checked that the tag, the
// manifest and the changelog name the same one. `sign FILE…` signs the manifests of updates. Node runs this file from source, so it imports no other
// file of Stemma.
import { createPrivateKey, createPublicKey, sign } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '..', '..', '..');

/** What the changelog says about the version of a tag. @throws Error if the tag, the manifest and the changelog differ. */
export function notesOf(tag: string, version: string, changelog: string): string {
  if (tag !== `v${version}`) throw new Error(`The tag is ${tag}, but package.json has version ${version}: the tag must be v${version}.`);
  const [, notes] = changelog.split(new RegExp(`^## \\[${version.replaceAll('.', '\\.')}\\] - \\d{4}-\\d{2}-\\d{2}$`, 'm'));
  const text = notes?.split(/^(?:## |\[[^\]]+\]: )/m)[0]?.trim();
  if (!text) throw new Error(`CHANGELOG.md has no notes under "## [${version}] - YYYY-MM-DD".`);
  return `${text}\n`;
}

/** The signature of a manifest, as Base64, and the public key that proves it. */
export function signatureOf(manifest: string, pem: string): { readonly signature: string; readonly key: string } {
  const privateKey = createPrivateKey(pem);
  if (privateKey.asymmetricKeyType !== 'ed25519') throw new Error('The key that signs updates must be an Ed25519 key.');
  return {
    signature: sign(null, Buffer.from(manifest), privateKey).toString('base64'),
    key: createPublicKey(privateKey).export({ format: 'der', type: 'spki' }).toString('base64'),
  };
}

function signAll(paths: readonly string[], pem: string | undefined): void {
  if (!pem) {
    console.error('Signing of updates is skipped: STEMMA_UPDATE_SIGNING_KEY is not set. The app refuses unsigned updates.');
    return;
  }
  for (const path of paths) {
    const { signature, key } = signatureOf(readFileSync(path, 'utf8'), pem);
    writeFileSync(`${path}.sig`, `${signature}\n`);
    console.error(`Signed ${path}. Packages prove it with STEMMA_UPDATE_KEY=${key}`);
  }
}

function run([step, ...words]: readonly string[]): void {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { readonly version: string };
  if (step === 'notes') console.log(notesOf(words[0] ?? '', version, readFileSync(join(root, 'CHANGELOG.md'), 'utf8')));
  else if (step === 'sign' && words.length > 0) signAll(words, process.env.STEMMA_UPDATE_SIGNING_KEY);
  else throw new Error('Usage: release.ts notes TAG, or release.ts sign FILE…');
}

if (import.meta.main) {
  try {
    run(process.argv.slice(2));
  } catch (error) {
    console.error((error as Error).message);
    process.exitCode = 1;
  }
}
