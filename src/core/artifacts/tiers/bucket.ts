import type { S3Client } from '@aws-sdk/client-s3';
import { StemmaError } from '../../base/index.js';
import { type BucketPlace, type Credentials, keyOf, type Tier } from './tier.js';

/** How long a bucket may take to take a connection, and to say something, before it counts as out of reach. */
const connectMs = 5_000;
const answerMs = 60_000;

/** Any bucket that speaks S3. Without credentials of its own it uses those that the machine has for it. */
export function bucketTier(name: string, place: BucketPlace, credentials: Credentials | undefined): Tier {
  const { bucket, endpoint, region = 'us-east-1', prefix = '' } = place;
  let client: Promise<S3Client> | undefined;
  // The package is large: it is loaded by who has a bucket.
  const sdk = () => import('@aws-sdk/client-s3');
  const connected = (): Promise<S3Client> => {
    client ??= sdk().then(
      ({ S3Client }) =>
        new S3Client({
          region,
          ...(endpoint !== undefined && { endpoint, forcePathStyle: true }),
          ...(credentials && { credentials: { ...credentials } }),
          maxAttempts: 3,
          requestHandler: { connectionTimeout: connectMs, requestTimeout: answerMs },
          // Not every server knows the newer checksums; the object's name proves it better.
          requestChecksumCalculation: 'WHEN_REQUIRED',
          responseChecksumValidation: 'WHEN_REQUIRED',
        }),
    );
    return client;
  };
  const answered = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      const reason = (error as Error).name === 'Error' ? ((error as NodeJS.ErrnoException).code ?? 'Error') : (error as Error).name;
      throw new StemmaError('UNAVAILABLE', `the backing store ${name} (bucket ${bucket}) does not answer: ${reason}: ${(error as Error).message}`, {
        tier: name,
        reason,
      });
    }
  };
  return {
    name,
    put: (hash, bytes) =>
      answered(async () => {
        const { PutObjectCommand } = await sdk();
        await (await connected()).send(new PutObjectCommand({ Bucket: bucket, Key: prefix + keyOf(hash), Body: bytes, ContentLength: bytes.length }));
      }),
    get: (hash) =>
      answered(async () => {
        const { GetObjectCommand, NoSuchKey } = await sdk();
        try {
          const { Body } = await (await connected()).send(new GetObjectCommand({ Bucket: bucket, Key: prefix + keyOf(hash) }));
          return await Body?.transformToByteArray();
        } catch (error) {
          if (error instanceof NoSuchKey) return undefined;
          throw error;
        }
      }),
    close: () => void client?.then((one) => one.destroy()),
  };
}
