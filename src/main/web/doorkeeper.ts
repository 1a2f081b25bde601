import type { IncomingHttpHeaders } from 'node:http';
import { bearerIn, isSame } from '../connections/index.js';
import type { ClientKind } from '../launch/index.js';

/** The secrets and the port that the web host checks before it reads the rest of a request. */
export interface DoorSecrets {
  readonly port: number;
  /** The valid cookie values, one for each used link. */
  readonly sessions: ReadonlySet<string>;
  /** The bearer token of scripts, if the host was started with a file for it. */
  readonly bearer?: string | undefined;
}

/** Host names of this machine's loopback. Other names are refused even if they resolve to it (DNS rebinding). */
const loopbackHosts = ['127.0.0.1', 'localhost', '[::1]'];

/** Cookies are shared by all ports of a machine, so the name contains the port of the host. */
export const cookieName = (port: number): string => `stemma-${port}`;

/**
 * The reason to refuse a request regardless of its secrets, or undefined. The `Host` must be a loopback name with our port, and an `Origin` or
 * `Sec-Fetch-Site`, which pages cannot forge, must name our own page.
 */
export function refuseForeign(headers: IncomingHttpHeaders, port: number): string | undefined {
  const { host, origin } = headers;
  if (host === undefined || !loopbackHosts.some((name) => host === `${name}:${port}`)) return 'Open Stemma by its loopback address.';
  if (origin !== undefined && origin !== `http://${host}`) return `Pages of ${printable(origin)} may not use Stemma.`;
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return 'Other pages may not use Stemma.';
  return undefined;
}

/** Who sent the request: a script with the bearer token, a window with a session cookie, or undefined for neither. */
export function findCaller(headers: IncomingHttpHeaders, door: DoorSecrets): ClientKind | undefined {
  if (headers.authorization !== undefined) {
    const given = bearerIn(headers);
    return given !== undefined && door.bearer !== undefined && isSame(given, door.bearer) ? 'script' : undefined;
  }
  // A page on another loopback port can set a cookie of the same name. It must not lock the window out, so every value is tried.
  const given = cookieValues(headers, cookieName(door.port));
  return given.some((value) => [...door.sessions].some((session) => isSame(value, session))) ? 'window' : undefined;
}

/**
 * Whether a request with a session cookie may do more than read. Browsers send the cookie to and from every port of this machine, so the request must
 * name our own page as its `Origin` (`refuseForeign` has refused every other origin).
 */
export const mayAct = (caller: ClientKind, headers: IncomingHttpHeaders): boolean => caller === 'script' || headers.origin !== undefined;

const cookieValues = (headers: IncomingHttpHeaders, name: string): string[] =>
  (headers.cookie ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1));

const printable = (text: string): string => JSON.stringify(text.slice(0, 100)).replace(/[^\x20-\x7e]/g, '?');
