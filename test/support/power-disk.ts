import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import type { DiskEvent } from './power-log.js';

/**
 * What a power cut leaves. `written`: all that was written. `synced`: only what was synced, as a disk that delays everything else.
 * A number: what was synced, and a random half of the rest, as a disk that reorders. The number selects the half.
 */
export type Left = 'written' | 'synced' | number;

interface Change {
  readonly end: number;
}
interface FileNode {
  readonly kind: 'file';
  readonly changes: (Change & { readonly at: number; readonly bytes: Buffer | undefined })[];
  /** How many of the changes are on the disk. */
  synced: number;
  size: number;
}
interface FolderNode {
  readonly kind: 'folder';
  readonly changes: (Change & { readonly removes?: string; readonly adds?: readonly [name: string, node: Node] })[];
  synced: number;
  readonly now: Map<string, Node>;
}
type Node = FileNode | FolderNode;

const newFolder = (): FolderNode => ({ kind: 'folder', changes: [], synced: 0, now: new Map() });

export interface PowerCut {
  /** What the process had printed. */
  readonly said: readonly string[];
  /** Makes the folder as it is when the power comes back. */
  leave(left: Left, to: string): void;
}

/**
 * Repeats a recording below `root` and stops after every sync, as if the power was cut there. A cut counts until the next one.
 * @param isSync which paths are really synced; others only say so, as a disk that lies.
 */
export function* replay(events: readonly DiskEvent[], root: string, isSync = (_path: string): boolean => true): Generator<PowerCut, void> {
  const top = newFolder();
  const positions = new Map<number, number>();
  let said = '';
  const folderOf = (path: string): FolderNode => {
    const node = nodeAt(top, root, dirname(path));
    if (node?.kind !== 'folder') throw new Error(`${dirname(path)} is no folder of the recording`);
    return node;
  };
  const change = (folder: FolderNode, end: number, removes: string | undefined, adds?: readonly [string, Node]): void => {
    folder.changes.push({ end, ...(removes !== undefined && { removes }), ...(adds && { adds }) });
    if (removes !== undefined) folder.now.delete(removes);
    if (adds) folder.now.set(...adds);
  };
  const nameOf = (path: string): string => path.slice(dirname(path).length + 1);
  const fileAt = (path: string): FileNode | undefined => {
    const node = nodeAt(top, root, path);
    return node?.kind === 'file' ? node : undefined;
  };
  for (const event of events) {
    const { path, end } = event;
    switch (event.kind) {
      case 'said':
        said += event.text;
        break;
      case 'open': {
        positions.set(event.fd, 0);
        if (event.create && !nodeAt(top, root, path))
          change(folderOf(path), end, undefined, [nameOf(path), { kind: 'file', changes: [], synced: 0, size: 0 }]);
        const file = event.truncate ? fileAt(path) : undefined;
        if (file && file.size > 0) write(file, { end, at: 0, bytes: undefined });
        break;
      }
      case 'write': {
        const file = fileAt(path);
        const at = event.at ?? positions.get(event.fd) ?? 0;
        if (event.at === undefined) positions.set(event.fd, at + event.bytes.length);
        if (file) write(file, { end, at, bytes: event.bytes });
        break;
      }
      case 'truncate': {
        const file = fileAt(path);
        if (file) write(file, { end, at: event.size, bytes: undefined });
        break;
      }
      case 'mkdir':
        if (path !== root) change(folderOf(path), end, undefined, [nameOf(path), newFolder()]);
        break;
      case 'unlink':
        change(folderOf(path), end, nameOf(path));
        break;
      case 'rename': {
        const node = nodeAt(top, root, path);
        if (!node) throw new Error(`${path} is not in the recording`);
        if (dirname(path) === dirname(event.to)) change(folderOf(path), end, nameOf(path), [nameOf(event.to), node]);
        else {
          change(folderOf(path), end, nameOf(path));
          change(folderOf(event.to), end, undefined, [nameOf(event.to), node]);
        }
        break;
      }
      case 'sync': {
        const node = nodeAt(top, root, path);
        if (!node || !isSync(path)) break;
        // A write that another thread made meanwhile may not be in it.
        node.synced = Math.max(node.synced, node.changes.filter((one) => one.end <= event.start).length);
        yield { said: said.split('\n').slice(0, -1), leave: (left, to) => put(top, to, left, seeded(left)) };
      }
    }
  }
}

function write(file: FileNode, change: FileNode['changes'][number]): void {
  file.changes.push(change);
  file.size = change.bytes ? Math.max(file.size, change.at + change.bytes.length) : change.at;
}

function nodeAt(top: FolderNode, root: string, path: string): Node | undefined {
  let node: Node | undefined = top;
  for (const name of relative(root, path).split(sep).filter(Boolean)) node = node?.kind === 'folder' ? node.now.get(name) : undefined;
  return node;
}

/** A number from 0 to 1 at each call. */
function seeded(left: Left): () => number {
  let state = typeof left === 'number' ? left + 1 : 1;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

/** SQLite shares this file between processes as memory: it is made again. */
const isMemory = (name: string): boolean => name.endsWith('-shm');

function put(node: Node, path: string, left: Left, random: () => number): void {
  const kept = <T>(changes: readonly T[]): T[] =>
    changes.filter((_, index) => left === 'written' || index < node.synced || (left !== 'synced' && random() < 0.5));
  if (node.kind === 'file') {
    writeFileSync(path, contentOf(kept(node.changes)), { mode: 0o600 });
    return;
  }
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const entries = new Map<string, Node>();
  for (const { removes, adds } of kept(node.changes)) {
    if (removes !== undefined) entries.delete(removes);
    if (adds) entries.set(...adds);
  }
  for (const [name, child] of entries) if (!isMemory(name)) put(child, join(path, name), left, random);
}

function contentOf(changes: FileNode['changes']): Buffer {
  let bytes = Buffer.alloc(0);
  for (const change of changes) {
    const end = change.bytes ? change.at + change.bytes.length : change.at;
    if (!change.bytes || end > bytes.length) bytes = Buffer.concat([bytes.subarray(0, end), Buffer.alloc(Math.max(0, end - bytes.length))]);
    change.bytes?.copy(bytes, change.at);
  }
  return bytes;
}
