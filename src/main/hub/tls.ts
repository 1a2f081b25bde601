import { unwatchFile, watchFile } from 'node:fs';
import type { RequestListener } from 'node:http';
import { createServer, type Server } from 'node:https';
import { badRequest } from '../../core/base/index.js';
import { openNamed, readOpened } from '../../core/files/index.js';

/** The files with a certificate chain and its private key, as PEM. */
export interface TlsFiles {
  readonly cert: string;
  readonly key: string;
}

/** Milliseconds between two looks at the files. Polling also notices files that are links to a new folder. */
const lookMs = 10_000;
/** Bytes of a file with certificates. */
const maxFileBytes = 1024 * 1024;

/**
 * Makes a server with TLS. New files are used from the next connection on, after SIGHUP or by themselves. Files that do not fit leave the
 * old certificate in place and are reported to `tell`, which never gets content. @throws BAD_REQUEST if the first files cannot be used.
 */
export function createTlsServer(files: TlsFiles, listener: RequestListener, tell: (problem: string | undefined) => void): Server {
  const pem = (file: string): Buffer => readOpened(openNamed(file, { limit: maxFileBytes }));
  const read = () => ({ cert: pem(files.cert), key: pem(files.key), minVersion: 'TLSv1.2' as const });
  const asProblem = (error: unknown): string => `Cannot use the certificate ${files.cert} with the key ${files.key}: ${(error as Error).message}`;
  let server: Server;
  try {
    server = createServer(read(), listener);
  } catch (error) {
    throw badRequest('tls-cert', asProblem(error));
  }
  const reload = (): void => {
    try {
      server.setSecureContext(read());
      tell(undefined);
    } catch (error) {
      tell(asProblem(error));
    }
  };
  for (const file of [files.cert, files.key]) watchFile(file, { interval: lookMs, persistent: false }, reload);
  process.on('SIGHUP', reload);
  server.once('close', () => {
    for (const file of [files.cert, files.key]) unwatchFile(file, reload);
    process.off('SIGHUP', reload);
  });
  return server;
}
