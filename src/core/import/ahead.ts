// Reading a file before its turn, on a thread that has no project: what the writer of the import then stores without parsing it.
import { extname } from 'node:path';
import { type PressedBlock, pressBlocks } from '../artifacts/index.js';
import { packed } from '../chain/index.js';
import type { Granularity, ImportableFormat, ImportPlan, PlanContext, PlannedCommit, StoredOutline } from '../formats/index.js';
import { outlined } from '../formats/index.js';
import { metaBeside } from './beside.js';
import { type FoundFile, type OpenFile, openFile, openMember } from './files.js';
import { holdsConversations, mainDocumentOf } from './members.js';
import { readDelta } from './pieces.js';
import { formatNamed, formatOfFile } from './recognize.js';

/** A file to read ahead. */
export interface AheadOrder extends Pick<FoundFile, 'root' | 'path' | 'bytes'> {
  /** The format that the caller names, if any. */
  readonly format?: string | undefined;
  readonly granularity: Granularity;
}

/** The outline of a commit, as it is stored. */
export type PackedOutline = Omit<StoredOutline, 'data'> & { readonly data: string | Uint8Array };

/** A planned commit without the content that is read on demand. */
type PlannedFacts = Omit<PlannedCommit, 'entries' | 'elisions' | 'outline'> & { readonly outline: PackedOutline };

/** The contents of neighboring commits of a plan, compressed together, with the number of the first of them. */
export type CommitBlock = PressedBlock & { readonly first: number };

/** What a new file becomes in a project that knows none of the records in `asked`. It can be sent between threads. */
export interface ReadAhead {
  readonly size: number;
  /** When the file was last written, in milliseconds since 1970, with fractions. */
  readonly modifiedAt: number;
  /** BLAKE3 of the file. */
  readonly hash: Uint8Array;
  /** All bytes, if they are few. */
  readonly bytes: Uint8Array | undefined;
  /** The contents of the commits, if the bytes are many: the writer reads them no more. It compresses small files later, with their neighbors. */
  readonly blocks: readonly CommitBlock[] | undefined;
  readonly format: string;
  readonly plan: Omit<ImportPlan, 'commits'> & { readonly commits: readonly PlannedFacts[] };
  /** The records that planning asked for. The plan holds only if the project knows none of them. */
  readonly asked: readonly string[];
}

/** Files that other threads read before their turn, as many as fit into a part of memory beside those that were not taken yet. */
export interface FilesAhead {
  /** Waits until these files are read, as far as they are in memory at once. */
  wait(files: readonly FoundFile[]): void;
  /** Reads the next file that no thread has begun. Returns whether there was one. */
  readNext(): boolean;
  /** What was read of a file, once; undefined if it must be read in the usual way. */
  take(file: FoundFile): ReadAhead | undefined;
  close(): void;
}

/** Whether a file is a transcript of lines, which most large and most numerous files are. Others are read in their turn. */
export const isReadAhead = ({ path, members }: FoundFile): boolean => members === undefined && extname(path) === '.jsonl';

/** Files up to this size are sent to the writer with their bytes. It reads larger ones itself, a part at a time. */
export const sentBytes = 2 * 1024 * 1024;

/** Reads a file for an import. Undefined for a file that needs the project, that several conversations share or that cannot be read. */
export function readAhead({ root, path, format: named, granularity }: AheadOrder): ReadAhead | undefined {
  const asked = formatNamed(named);
  const located = { root, path };
  let file: OpenFile | undefined;
  try {
    file = openFile(located);
    if (mainDocumentOf(located) !== undefined || holdsConversations(located, file.bytes, asked)) return undefined;
    const format = asked ?? formatOfFile(file.bytes, path);
    if (!format) return undefined;
    const unknown: string[] = [];
    /** This thread knows no record. The writer asks the project for them. */
    const has = (record: string): boolean => {
      unknown.push(record);
      return false;
    };
    const plan = planNew(file, format, { path, granularity, known: { has } });
    const commits = plan.commits.map(factsOf);
    const hash = file.hash();
    const isSent = file.bytes.length <= sentBytes;
    const { bytes: source } = file;
    const contents = plan.commits.values().map((commit) => readDelta(source, commit));
    const blocks = isSent ? undefined : [...pressBlocks(contents)].map(ownBlock);
    if (file.hasChanged(hash)) return undefined;
    const bytes = isSent ? ownBytes(file.whole()) : undefined;
    return {
      size: file.bytes.length,
      modifiedAt: file.modifiedAt,
      hash: Uint8Array.from(hash),
      bytes,
      blocks,
      format: format.id,
      plan: { ...plan, commits },
      asked: unknown,
    };
  } catch {
    // The import reads the file in its turn, and reports why it cannot be read.
    return undefined;
  } finally {
    file?.close();
  }
}

type NewFile = Pick<OpenFile, 'bytes' | 'whole'>;

/** Plans a file that the project does not have. */
function planNew(file: NewFile, format: ImportableFormat, given: Pick<PlanContext, 'path' | 'granularity' | 'known'>): ImportPlan {
  const context = { ...given, resumeAt: 0, meta: metaBeside(given.path) };
  return format.planParts?.(file.bytes, context) ?? format.plan(file.whole(), context);
}

/** The facts of a commit, without reading its content, and its outline. */
function factsOf(planned: PlannedCommit): PlannedFacts {
  const { entries: _, elisions: __, outline: ___, ...facts } = Object.getOwnPropertyDescriptors(planned);
  const outline = planned.outline ?? outlined(planned);
  const data = packed(outline.data);
  return {
    ...(Object.defineProperties({}, facts) as Omit<PlannedFacts, 'outline'>),
    outline: { ...outline, data: typeof data === 'string' ? data : ownBytes(data) },
  };
}

/** The bytes in a buffer of their own. A message to another thread contains the whole buffer of bytes. */
const ownBytes = (bytes: Uint8Array): Uint8Array => (bytes.byteLength === bytes.buffer.byteLength ? bytes : Uint8Array.from(bytes));

const ownBlock = ({ first, stored, objects }: CommitBlock): CommitBlock => ({
  first,
  stored: ownBytes(stored),
  objects: objects.map(({ hash, size }) => ({ hash: Uint8Array.from(hash), size })),
});

/** The file that was read ahead, opened again if it is large; undefined if it changed since. The caller closes it. */
export function openAhead(located: FoundFile, { bytes, size, modifiedAt, hash }: ReadAhead): OpenFile | undefined {
  if (bytes) return { ...openMember(bytes), modifiedAt };
  const file = openFile(located, { hash: Buffer.from(hash) });
  if (file.bytes.length === size && file.modifiedAt === modifiedAt) return file;
  file.close();
  return undefined;
}

/** The plan of a file that was read ahead. Content that a commit is asked for is read by planning the file again. */
export function planAhead(file: NewFile, path: string, format: ImportableFormat, { plan }: ReadAhead, granularity: Granularity): StorablePlan {
  let whole: ImportPlan | undefined;
  const again = (number: number): PlannedCommit => {
    whole ??= planNew(file, format, { path, granularity, known: { has: () => false } });
    return whole.commits[number] as PlannedCommit;
  };
  const commits = plan.commits.map(
    (facts, number): StorableCommit => ({
      ...facts,
      get entries() {
        return again(number).entries;
      },
      get elisions() {
        return again(number).elisions;
      },
    }),
  );
  return { ...plan, commits };
}

/** A planned commit whose outline may be packed already. */
export type StorableCommit = Omit<PlannedCommit, 'outline'> & { readonly outline?: StoredOutline | PackedOutline };
/** A plan of such commits. */
export type StorablePlan = Omit<ImportPlan, 'commits'> & { readonly commits: readonly StorableCommit[] };
