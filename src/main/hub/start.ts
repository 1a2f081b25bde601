import { join } from 'node:path';
import { badRequest, unavailable } from '../../core/base/index.js';
import { makeFolders } from '../../core/files/index.js';
import { openStore, type ReplicaPlace } from '../../core/replicas/index.js';
import { onEndSignal } from '../system/index.js';
import { openHubDatabase } from './database.js';
import { startEmbedded } from './embedded.js';
import { openHubObjects } from './objects.js';
import { type OidcOptions, openOidc } from './oidc.js';
import { nameOfError } from './procedure.js';
import { removeExpired } from './retention.js';
import { firstToken, type HubOptions, serveHub } from './server.js';

interface StartOptions extends Omit<HubOptions, 'database' | 'objects' | 'oidc' | 'spans'> {
  /** The folder for the built-in database and the objects, if no other place is given. */
  readonly data: string;
  readonly database?: string | undefined;
  readonly objects?: string | undefined;
  readonly oidc?: OidcOptions | undefined;
}

/**
 * Starts a hub. Returns its address and, at the first start only, its first admin token.
 * @throws UNAVAILABLE if the database or the objects do not answer; BAD_REQUEST for an invalid address.
 */
export async function startHub({ data, database: given, objects, oidc: issuer, ...serving }: StartOptions) {
  const { host, tls, onProblem } = serving;
  const oidc = issuer && openOidc(issuer);
  let end: (problem?: string) => void = () => {};
  const postgres = given === undefined ? await startEmbedded(data, (problem) => end(problem)) : undefined;
  const database = await openHubDatabase(given ?? postgres?.url ?? '');
  const place = objects === undefined ? folderAt(join(data, 'objects')) : parsePlace(objects);
  const store = openStore('hub', place, { from: 'environment' });
  const token = await firstToken(database);
  const running = await serveHub({ ...serving, database, objects: openHubObjects(store), oidc, spans: join(data, 'spans') });
  const sweep = setInterval(
    () => void removeExpired(database, store).catch((error) => onProblem?.(`Expired contents were not removed: ${nameOfError(error)}`)),
    sweepMs,
  );
  const { promise: ended, resolve, reject } = Promise.withResolvers<void>();
  let isEnding = false;
  end = async (problem) => {
    if (isEnding) return;
    isEnding = true;
    clearInterval(sweep);
    await running.close();
    await database.close();
    await postgres?.stop();
    store.close();
    signals.close();
    if (problem === undefined) resolve();
    else reject(unavailable(`The hub has ended: ${problem}`, { reason: problem }));
  };
  // With certificate files, SIGHUP reads them again.
  const signals = onEndSignal(() => end(), { reloads: tls !== undefined });
  // Whoever started the hub waits for it later.
  ended.catch(() => {});
  return { address: `${tls ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${running.port}`, token, ended };
}

/** Milliseconds between two removals of expired contents. */
const sweepMs = 3_600_000;

function folderAt(dir: string): ReplicaPlace {
  makeFolders(dir);
  return { kind: 'folder', dir };
}

/** Parses an `s3:` address or a folder. @throws BAD_REQUEST for any other address. */
export function parsePlace(text: string): ReplicaPlace {
  if (!/^[a-z0-9]+:\/\//.test(text)) return folderAt(text);
  const url = new URL(text);
  if (url.protocol !== 's3:' || url.hostname === '') throw badRequest('objects', `${text} is neither a folder nor s3://bucket/prefix.`);
  const prefix = url.pathname.replace(/^\//, '');
  const [endpoint, region] = ['endpoint', 'region'].map((name) => url.searchParams.get(name) ?? undefined);
  return { kind: 's3', bucket: url.hostname, endpoint, region, prefix: prefix === '' ? undefined : `${prefix.replace(/\/$/, '')}/` };
}
