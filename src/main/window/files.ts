import { readFile } from 'node:fs/promises';
import { extname, join, normalize, sep } from 'node:path';
import { attempt } from '../../core/base/index.js';
import { securityHeaders } from './policy.js';

export interface FileAnswer {
  status: number;
  headers: Record<string, string>;
  body: Uint8Array<ArrayBuffer>;
}

const contentTypes: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/x-icon',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.wasm': 'application/wasm',
  '.webmanifest': 'application/manifest+json',
  '.woff2': 'font/woff2',
};

/** The file below `root` that an address names. Undefined if it leaves the root, is hidden, has an unknown type or cannot be decoded. */
export function fileAt(root: string, pathname: string): string | undefined {
  const decoded = attempt(() => decodeURIComponent(pathname));
  if (decoded === undefined || /[\0\\]/.test(decoded)) return undefined;
  const names = decoded.split('/').filter((name) => name !== '');
  if (names.some((name) => name.startsWith('.') || name.includes(':'))) return undefined;
  const path = normalize(join(root, ...(names.length ? names : ['index.html'])));
  if (!path.startsWith(root + sep) || !contentTypes[extname(path)]) return undefined;
  return path;
}

/** Answers a request for a file of the window with the built file below `root`, or with 404. */
export async function answerFor(root: string, pathname: string): Promise<FileAnswer> {
  const path = fileAt(root, pathname);
  const body = path && (await readFile(path).catch(() => undefined));
  if (!path || !body) return plain(404, 'This file does not exist.');
  // The names of built assets contain a hash of their content, so browsers may cache them. The page itself is never cached.
  const cache = pathname.startsWith('/assets/') ? 'private, max-age=31536000, immutable' : 'no-store';
  return { status: 200, headers: { ...securityHeaders, 'content-type': contentTypes[extname(path)] as string, 'cache-control': cache }, body };
}

/** An HTTP answer with a text, which nobody may store. `headers` replace or add to the usual ones. */
export const answerWith = (status: number, type: string, text: string, headers: Readonly<Record<string, string>> = {}): FileAnswer => ({
  status,
  headers: { ...securityHeaders, ...headers, 'content-type': `${type}; charset=utf-8`, 'cache-control': 'no-store' },
  body: new TextEncoder().encode(text),
});

/** An HTTP answer with a short text. */
export const plain = (status: number, text: string): FileAnswer => answerWith(status, 'text/plain', `${text}\n`);
