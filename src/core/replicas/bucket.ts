import { createHash } from 'node:crypto';
import type { S3Client, S3ClientConfig } from '@aws-sdk/client-s3';
import { StemmaError, unavailable } from '../base/index.js';
import { type StoredCredentials, unsealKeys, type Vault } from './credentials.js';
import { type BackingStore, type BucketPlace, objectKey } from './store.js';

/** Milliseconds to wait for a connection, and for a response, before a server counts as unreachable. */
const connectMs = 5_000;
const answerMs = 60_000;
/** The largest file that is read: a server could answer without end. */
const maxReadBytes = 1024 ** 3;

type Identity = NonNullable<S3ClientConfig['credentials']>;

/** Opens a bucket as a backing store. It connects at the first `put` or `get`. */
export function openBucket(name: string, place: BucketPlace, credentials: StoredCredentials | undefined, vault: Vault | undefined): BackingStore {
  const { bucket, prefix = '' } = place;
  let client: Promise<S3Client> | undefined;
  const connected = (): Promise<S3Client> => {
    client ??= connect(name, place, credentials, vault);
    // After a failure, the next call tries again.
    client.catch(() => {
      client = undefined;
    });
    return client;
  };
  const answered = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      if (error instanceof StemmaError) throw error;
      const reason = (error as Error).name === 'Error' ? ((error as NodeJS.ErrnoException).code ?? 'Error') : (error as Error).name;
      const { message } = error as Error;
      throw unavailable(`The replica ${name} (bucket ${bucket}) does not answer: ${reason}: ${message}`, { replica: name, reason });
    }
  };
  /** A file of at most `most` bytes; of a longer one, a byte more. The rest is not read. */
  const read = async (key: string, most: number): Promise<Uint8Array | undefined> => {
    const { GetObjectCommand, NoSuchKey } = await sdk();
    try {
      const { Body } = await (await connected()).send(new GetObjectCommand({ Bucket: bucket, Key: prefix + key }));
      return Body && (await readBeginning(Body as AsyncIterable<Uint8Array>, most + 1));
    } catch (error) {
      if (error instanceof NoSuchKey) return undefined;
      throw error;
    }
  };
  const putFile: BackingStore['putFile'] = (key, bytes) =>
    answered(async () => {
      const { PutObjectCommand } = await sdk();
      const command = new PutObjectCommand({ Bucket: bucket, Key: prefix + key, Body: bytes, ContentLength: bytes.length });
      const { ETag } = await (await connected()).send(command);
      // A server, or a proxy before it, can answer 200 to anything. Its ETag proves what it stored; without a usable one, the copy is read back.
      if (ETag?.replaceAll('"', '') === createHash('md5').update(bytes).digest('hex')) return;
      const stored = await read(key, bytes.length);
      if (!stored || !Buffer.from(stored).equals(bytes))
        throw unavailable(
          `The replica ${name} (bucket ${bucket}) says that it stored a file, but ${stored ? 'returns other bytes' : 'does not hold it'}. Check whether its address is that of an S3 server.`,
          { replica: name, reason: 'not stored' },
        );
    });
  return {
    putFile,
    put: (hash, bytes) => putFile(objectKey(hash), bytes),
    get: (hash) =>
      answered(async () => {
        const bytes = await read(objectKey(hash), maxReadBytes);
        if (bytes && bytes.length > maxReadBytes) throw new RangeError(`it answers with more than ${maxReadBytes} bytes`);
        return bytes;
      }),
    remove: (hash) =>
      answered(async () => {
        const { DeleteObjectCommand } = await sdk();
        await (await connected()).send(new DeleteObjectCommand({ Bucket: bucket, Key: prefix + objectKey(hash) }));
      }),
    close: () => void client?.then((one) => one.destroy()).catch(() => {}),
  };
}

/** The first bytes of an answer. The connection ends when there are more. */
async function readBeginning(body: AsyncIterable<Uint8Array>, most: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of body) {
    parts.push(part);
    length += part.length;
    if (length >= most) break;
  }
  return Buffer.concat(parts).subarray(0, most);
}

/** The package is large, so only projects with a bucket load it. */
const sdk = () => import('@aws-sdk/client-s3');

async function connect(name: string, place: BucketPlace, credentials: StoredCredentials | undefined, vault: Vault | undefined): Promise<S3Client> {
  const { endpoint, region = 'us-east-1' } = place;
  const identity = await requireIdentity(name, credentials, vault);
  const { S3Client } = await sdk();
  return new S3Client({
    region,
    credentials: identity,
    ...(endpoint !== undefined && { endpoint, forcePathStyle: true }),
    // An address in the environment must not redirect a replica that a person configured here.
    ignoreConfiguredEndpointUrls: true,
    maxAttempts: 3,
    // Without the last option, a server that never answers is only a warning in the log.
    requestHandler: { connectionTimeout: connectMs, requestTimeout: answerMs, socketTimeout: answerMs, throwOnRequestTimeout: true },
    // Not every server supports the newer checksums, and the object's name proves its content anyway.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  });
}

/** Without this, the client would search the whole machine for credentials. @throws UNAVAILABLE if none were chosen. */
async function requireIdentity(name: string, credentials: StoredCredentials | undefined, vault: Vault | undefined): Promise<Identity> {
  switch (credentials?.from) {
    case undefined:
      throw unavailable(
        `The replica ${name} has no credentials. Set it again with keys, or with {"from": "environment"}, {"from": "profile"} or {"from": "instance"}.`,
        { replica: name, reason: 'no credentials' },
      );
    case 'keys':
      return { ...credentials.keys };
    case 'sealed':
      return { ...(await unsealKeys(credentials.sealed, name, vault)) };
    case 'environment':
      return (await import('@aws-sdk/credential-provider-env')).fromEnv();
    case 'profile':
      return (await import('@aws-sdk/credential-provider-ini')).fromIni(credentials.profile === undefined ? {} : { profile: credentials.profile });
    case 'instance': {
      const { fromContainerMetadata, fromInstanceMetadata } = await import('@smithy/credential-provider-imds');
      const [container, instance] = [fromContainerMetadata(), fromInstanceMetadata()];
      return () => container().catch(instance);
    }
  }
}
