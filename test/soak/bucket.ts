import { createServer, request } from 'node:http';
import { peer } from '../support/peers.js';

const S3rver = peer('s3rver') as typeof import('s3rver').default;

/** A bucket with faults: while a fault lasts, it hangs, answers 200 with a page, or answers 503. */
export interface FaultyBucket {
  readonly port: number;
  fault: 'none' | 'hangs' | 'lies' | 'fails';
  /** When the last false answer was given, in milliseconds. */
  liedAt: number;
  close(): Promise<void>;
}

/** Starts an S3 server with its files in `directory`, behind a line with faults. */
export async function startFaultyBucket(directory: string): Promise<FaultyBucket> {
  const server = new S3rver({ address: '127.0.0.1', port: 0, silent: true, directory, configureBuckets: [{ name: 'hub', configs: [] }] });
  const { port: far } = await server.run();
  const line = createServer((incoming, outgoing) => {
    incoming.on('error', () => {});
    outgoing.on('error', () => {});
    if (bucket.fault === 'hangs') return void incoming.resume();
    if (bucket.fault === 'lies')
      return void incoming.resume().on('end', () => {
        bucket.liedAt = performance.now();
        outgoing.writeHead(200, { 'content-type': 'text/html' }).end('<html>Sign in to this network</html>');
      });
    if (bucket.fault === 'fails') return void incoming.resume().on('end', () => outgoing.writeHead(503).end());
    const passed = request({ port: far, host: '127.0.0.1', path: incoming.url, method: incoming.method, headers: incoming.headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    passed.on('error', () => outgoing.destroy());
    incoming.pipe(passed);
  });
  await new Promise<void>((resolve) => line.listen(0, '127.0.0.1', resolve));
  const bucket: FaultyBucket = {
    port: (line.address() as { port: number }).port,
    fault: 'none',
    liedAt: 0,
    close: async () => {
      line.closeAllConnections();
      line.close();
      await server.close();
    },
  };
  return bucket;
}
