import { unwatchFile, watchFile } from 'node:fs';
import type { RequestListener } from 'node:http';
import { createServer, type Server } from 'node:https';
import { badRequest } from '../../core/base/index.js';
import { openNamed, readOpened } from '../../core/files/index.js';
import { type SlowLimits, serverOptions } from '../connections/index.js';
import { onReload } from '../system/index.js';

/** The files with a certificate chain and its private key, as PEM. */
export type TlsFiles = Readonly<Record<'cert' | 'key', string>>;

/** Milliseconds between two checks of the files. Unlike a watch, polling also notices when a link points to a new folder. */
const lookMs = 10_000;
const maxFileBytes = 1024 * 1024;

/**
 * Makes a server with TLS. Changed files are read after SIGHUP or the next check, and used from the next connection on. If they are invalid, the old
 * certificate stays in use and `tell` gets the problem, without content. @throws BAD_REQUEST if the first files cannot be used.
 */
export function createTlsServer(files: TlsFiles, listener: RequestListener, tell: (problem: string | undefined) => void, limits?: SlowLimits) {
  const pem = (file: string): Buffer => readOpened(openNamed(file, { limit: maxFileBytes }));
  const read = () => ({ cert: pem(files.cert), key: pem(files.key), minVersion: 'TLSv1.2' as const });
  const asProblem = (error: unknown): string => `Cannot use the certificate ${files.cert} with the key ${files.key}: ${(error as Error).message}`;
  let server: Server;
  try {
    server = createServer({ ...serverOptions(limits), handshakeTimeout: serverOptions(limits).headersTimeout, ...read() }, listener);
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
  const endWatch = onReload(reload);
  server.once('close', () => {
    for (const file of [files.cert, files.key]) unwatchFile(file, reload);
    endWatch();
  });
  return server;
}
