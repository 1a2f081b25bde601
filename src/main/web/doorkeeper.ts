import { timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** What the web host checks before it reads anything of a request. Pure: headers in, verdict out. */
export interface Door {
  port: number;
  /** Proves that the caller is who started the host: as a bearer header, or once in an address to get the cookie. */
  token: string;
  /** The value of the cookie; never shown, never in an address. */
  session: string;
}

/** Host names under which a loopback host may be spoken to. A name that only resolves to loopback is a foreign one. */
const loopbackHosts = ['127.0.0.1', 'localhost', '[::1]'];

export const cookieName = (door: Door): string => `stemma-${door.port}`;

/** Why a request is turned away before it is read, or undefined where it may go on to the token. */
export function foreign(headers: IncomingHttpHeaders, door: Door): string | undefined {
  const hosts = loopbackHosts.map((host) => `${host}:${door.port}`);
  if (!hosts.includes(headers.host ?? '')) return 'This host is spoken to by its loopback address only.';
  const { origin } = headers;
  if (origin !== undefined && !hosts.some((host) => origin === `http://${host}`)) return 'This page may not speak to Stemma.';
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return 'Another page may not speak to Stemma.';
  return undefined;
}

/** Whether the request carries the token as a bearer, or the cookie that the token was exchanged for. */
export function isKnown(headers: IncomingHttpHeaders, door: Door): boolean {
  const bearer = /^Bearer ([!-~]+)$/i.exec(headers.authorization ?? '')?.[1];
  if (bearer !== undefined) return same(bearer, door.token);
  const cookie = cookieOf(headers, cookieName(door));
  return cookie !== undefined && same(cookie, door.session);
}

/** Compares secrets without telling by its time how much of them was right. */
export function same(given: string, secret: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(secret)];
  return a.length === b.length && timingSafeEqual(a, b);
}

const cookieOf = (headers: IncomingHttpHeaders, name: string): string | undefined =>
  (headers.cookie ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .find((pair) => pair.startsWith(`${name}=`))
    ?.slice(name.length + 1);
