import { createPublicKey, verify } from 'node:crypto';

/** A manifest of an update that nobody with the key has signed. Its message says what was wrong. */
export class NotSigned extends Error {}

/**
 * The text of a manifest, if the signature beside it is valid: Ed25519 in Base64, made with the private key of the release.
 * @param key the public key, as Base64 of its SPKI form. @throws NotSigned
 */
export function verifiedText(text: string, signature: string, key: string): string {
  const publicKey = createPublicKey({ key: Buffer.from(key, 'base64'), format: 'der', type: 'spki' });
  const bytes = Buffer.from(signature.trim(), 'base64');
  if (publicKey.asymmetricKeyType !== 'ed25519') throw new NotSigned('the key in this package is not an Ed25519 key.');
  if (bytes.length !== 64) throw new NotSigned('the manifest of the feed is not signed.');
  if (!verify(null, Buffer.from(text), publicKey, bytes)) throw new NotSigned('the signature of the manifest does not fit the key in this package.');
  return text;
}
