import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** One change of a file system, as strace saw it. Times are seconds. */
export type DiskEvent = { readonly start: number; readonly end: number } & Change;

type Change =
  | { readonly kind: 'open'; readonly path: string; readonly fd: number; readonly create: boolean; readonly truncate: boolean }
  /** Without `at` the bytes go where the last write through this descriptor ended. */
  | { readonly kind: 'write'; readonly path: string; readonly fd: number; readonly bytes: Buffer; readonly at?: number }
  | { readonly kind: 'truncate'; readonly path: string; readonly size: number }
  | { readonly kind: 'rename'; readonly path: string; readonly to: string }
  | { readonly kind: 'sync' | 'unlink' | 'mkdir'; readonly path: string }
  | { readonly kind: 'said'; readonly path: string; readonly text: string };

/** Calls that the replay knows. */
const known = [
  ...['openat', 'open', 'creat', 'write', 'pwrite64', 'writev', 'pwritev', 'ftruncate', 'fsync', 'fdatasync'],
  ...['rename', 'renameat', 'renameat2', 'unlink', 'unlinkat', 'mkdir', 'mkdirat', 'rmdir'],
];
/** Calls that change files as well. A recording that contains one below its root is refused. */
const unknown = [
  ...['pwritev2', 'truncate', 'dup', 'dup2', 'dup3', 'link', 'linkat', 'symlink', 'symlinkat', 'fallocate', 'copy_file_range', 'sendfile'],
  ...['sync_file_range', 'splice'],
];

/** The command that records what another one does to files: one log for each thread, in `folder`. */
export const recorder = (folder: string): string[] => [
  ...['strace', '-ff', '-q', '-y', '-xx', '-T', '-s', '8000000', '--absolute-timestamps=format:unix,precision:ns'],
  ...['-o', join(folder, 'log'), '-e', `trace=${[...known, ...unknown].join(',')}`, '-e', 'signal=none'],
];

/** Reads the changes below `root`, and what the process printed, in the order in which they ended. */
export function readRecording(folder: string, root: string): DiskEvent[] {
  const lines = readdirSync(folder).flatMap((name) => readFileSync(join(folder, name), 'latin1').split('\n'));
  return lines.flatMap((line) => eventOf(line, root)).sort((a, b) => a.end - b.end);
}

const unhex = (text: string): Buffer => Buffer.from(text.replaceAll('\\x', ''), 'hex');
const quoted = /"((?:\\x[0-9a-f]{2})*)"/g;

function eventOf(line: string, root: string): DiskEvent[] {
  const found = /^([\d.]+) (\w+)\((.*)\) += (-?\d+)(?:<.*>)?(?: .*)? <([\d.]+)>$/.exec(line);
  if (!found || Number(found[4]) < 0) return [];
  const [, started = '', call = '', words = '', result = '', took = ''] = found;
  const change = changeOf(call, words, Number(result));
  if (!change) return [];
  if (change.kind !== 'said' && !`${change.path}/`.startsWith(`${root}/`)) return [];
  if (change.kind !== 'said' && unknown.includes(call)) throw new Error(`the replay does not know ${call}`);
  return [{ start: Number(started), end: Number(started) + Number(took), ...change }];
}

/** `-y` writes the path behind each descriptor, and whether the file is deleted: nobody finds such a file again. */
function changeOf(call: string, words: string, result: number): Change | undefined {
  const descriptor = /^(\d+)<((?:\\x[0-9a-f]{2})*)>(\(deleted\))?/.exec(words);
  if (descriptor?.[3]) return undefined;
  const texts = [...words.matchAll(quoted)].map(([, hex = '']) => unhex(hex));
  const fd = Number(descriptor?.[1] ?? -1);
  const path = descriptor ? unhex(descriptor[2] ?? '').toString('utf8') : String(texts[0] ?? '');
  const last = Number(/, (\d+)$/.exec(words)?.[1]);
  const bytes = (): Buffer => Buffer.concat(texts).subarray(0, result);
  switch (call) {
    case 'open':
    case 'openat':
    case 'creat':
      return { kind: 'open', path, fd: result, create: /O_CREAT/.test(words) || call === 'creat', truncate: /O_TRUNC/.test(words) };
    case 'write':
    case 'writev':
      return fd === 1 ? { kind: 'said', path, text: bytes().toString('utf8') } : { kind: 'write', path, fd, bytes: bytes() };
    case 'pwrite64':
    case 'pwritev':
      return { kind: 'write', path, fd, bytes: bytes(), at: last };
    case 'ftruncate':
      return { kind: 'truncate', path, size: last };
    case 'fsync':
    case 'fdatasync':
      return { kind: 'sync', path };
    case 'rename':
    case 'renameat':
    case 'renameat2':
      return { kind: 'rename', path, to: String(texts[1]) };
    case 'mkdir':
    case 'mkdirat':
      return { kind: 'mkdir', path };
    default:
      return { kind: 'unlink', path };
  }
}
